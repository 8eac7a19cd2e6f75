//! Fragmentation: free capacity that the expected workload cannot use.
//!
//! After Weng et al., "Beware of Fragmentation" (USENIX ATC 2023). For a node and a class of steps that asks CPU c and k
//! devices with a share s of each, the free capacity that the class cannot use is
//! - all of it, when the class cannot run on the node at all (it asks no device, its model is not there, too little CPU,
//!   fewer than k fitting devices with s free);
//! - else the free shares of the devices that do not fit or have less than s free.
//!
//! The mean over the classes, weighted by popularity, is the node's fragmentation; the sum over nodes the fleet's. Host
//! memory is no part of it. Beyond the paper: the k devices are of one kind, and in one island where the class asks so.

use crate::inventory::Node;
use crate::mix::Mix;

/// A node's free capacity that the mix cannot use, thousandths of a device times the total weight of the mix. Exact.
///
/// `free_milli` is of this node's devices alone. CPU that is unknown counts as enough.
pub fn weighted_unusable(node: &Node, free_milli: &[u16], free_cpu_milli: Option<u64>, mix: &Mix) -> u64 {
    let all: u64 = free_milli.iter().map(|&free| u64::from(free)).sum();
    if all == 0 {
        return 0;
    }
    let mut sum = 0;
    for (class, shares) in mix.document.classes.iter().zip(&mix.shares) {
        let choice = &class.choice;
        let has_cpu = free_cpu_milli.is_none_or(|free| free >= choice.cpu_milli);
        let runs = if choice.count > 1 && choice.link.is_some() { &node.islands } else { &node.kinds };
        let mut usable: u64 = 0;
        if has_cpu && choice.count > 0 {
            for (run, share) in runs.iter().filter_map(|run| Some((run, shares[run.kind.at()]?))) {
                let range = run.devices.start - node.devices.start..run.devices.end - node.devices.start;
                let (mut count, mut free_here) = (0, 0);
                for &free in free_milli[range].iter().filter(|&&free| free >= share) {
                    count += 1;
                    free_here += u64::from(free);
                }
                if count >= choice.count {
                    usable += free_here;
                }
            }
        }
        sum += class.weight * (all - usable);
    }
    sum
}
