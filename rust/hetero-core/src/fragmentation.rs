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

use serde::Serialize;

use crate::fleet::Fleet;
use crate::inventory::Node;
use crate::mix::Mix;
use crate::units::NodeIdx;

/// A node's free capacity that the mix cannot use, thousandths of a device times the total weight of the mix. Exact.
///
/// `free_milli` is of this node's devices alone. CPU that is unknown counts as enough.
pub fn weighted_unusable(node: &Node, free_milli: &[u16], free_cpu_milli: Option<u64>, mix: &Mix) -> u64 {
    let all: u64 = free_milli.iter().map(|&free| u64::from(free)).sum();
    if all == 0 {
        return 0;
    }
    let mut sum = 0;
    for (class, fits) in mix.document.classes.iter().zip(&mix.fits) {
        let choice = &class.choice;
        let has_cpu = free_cpu_milli.is_none_or(|free| free >= choice.cpu_milli);
        let runs = if choice.count > 1 && choice.link.is_some() { &node.islands } else { &node.kinds };
        let mut usable: u64 = 0;
        if has_cpu && choice.count > 0 {
            for run in runs.iter().filter(|run| fits[run.kind.at()]) {
                let range = run.devices.start - node.devices.start..run.devices.end - node.devices.start;
                let (mut count, mut free_here) = (0, 0);
                for &free in free_milli[range].iter().filter(|&&free| free >= choice.share_milli) {
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

/// Fragmentation of one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeReport {
    /// Cluster.
    pub cluster: String,
    /// Node.
    pub node: String,
    /// Kinds of its devices.
    pub kinds: Vec<String>,
    /// Free capacity, thousandths of a device.
    pub free_milli: u64,
    /// Free capacity that the mix cannot use, thousandths of a device.
    pub fragmentation_milli: f64,
}

/// Fragmentation of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// What the number means.
    pub definition: &'static str,
    /// Source of the mix.
    pub mix: String,
    /// Number of classes in the mix.
    pub classes: usize,
    /// All capacity, thousandths of a device.
    pub capacity_milli: u64,
    /// Free capacity, thousandths of a device.
    pub free_milli: u64,
    /// Free capacity that the mix cannot use, thousandths of a device.
    pub fragmentation_milli: f64,
    /// The same as a share of the free capacity; `None` when nothing is free.
    pub fragmentation_ratio: Option<f64>,
    /// Nodes with free capacity, worst first.
    pub nodes: Vec<NodeReport>,
}

/// Fragmentation of a fleet under its mix. Nodes that take no work and devices that are unhealthy count as not free.
pub fn report(fleet: &Fleet) -> Report {
    let total_weight = fleet.mix().total_weight.max(1);
    let milli = |weighted: u128| round(weighted as f64 / total_weight as f64);
    let mut nodes = Vec::new();
    let (mut free_all, mut weighted_all) = (0, 0u128);
    for at in (0..fleet.inventory().nodes.len()).map(NodeIdx::new) {
        let node = fleet.node(at);
        let free_milli: u64 = fleet.free_milli(at).iter().map(|&free| u64::from(free)).sum();
        if free_milli == 0 || node.state != crate::document::NodeState::Active {
            continue;
        }
        let weighted = u128::from(fleet.weighted_unusable(at));
        free_all += free_milli;
        weighted_all += weighted;
        nodes.push(NodeReport {
            cluster: node.cluster.clone(),
            node: node.name.clone(),
            kinds: node.kinds.iter().map(|run| fleet.inventory().kinds[run.kind.at()].label()).collect(),
            free_milli,
            fragmentation_milli: milli(weighted),
        });
    }
    nodes.sort_by(|a, b| b.fragmentation_milli.total_cmp(&a.fragmentation_milli)); // stable: ties keep the names' order
    Report {
        definition: "free thousandths of a device that steps of the mix cannot use, weighted by popularity",
        mix: fleet.mix().document.source.clone(),
        classes: fleet.mix().document.classes.len(),
        capacity_milli: fleet.inventory().devices.len() as u64 * u64::from(crate::units::WHOLE_MILLI),
        free_milli: free_all,
        fragmentation_milli: milli(weighted_all),
        fragmentation_ratio: (free_all > 0).then(|| milli(weighted_all) / free_all as f64),
        nodes,
    }
}

/// Thousandths of a device to two decimals: more would only show the noise of the division.
fn round(milli: f64) -> f64 {
    (milli * 100.0).round() / 100.0
}
