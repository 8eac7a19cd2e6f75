//! What steps hold at most at one time, as holds of the core.

use std::collections::BTreeMap;

use hetero_core::hold::Hold;
use hetero_core::inventory::Inventory;
use hetero_core::units::{NodeIdx, WHOLE_MILLI};

use crate::dag::antichain::heaviest;
use crate::dag::order::Order;

/// A step and what it holds on one node.
pub(crate) type Use<'a> = (usize, &'a Hold);

/// What is taken of a device: share, memory where a share asked for memory, for whom, and the pool that is charged.
type Taken<'a> = (u64, Option<u64>, Option<&'a str>, Option<u16>);

/// Holds that stand for those of all these steps on a node together. Steps of which one is before the other may hold the
/// same; of it as much is taken as those that may run together hold at most.
pub(crate) fn merged(inventory: &Inventory, order: &Order, node: NodeIdx, uses: &[Use<'_>]) -> Vec<Hold> {
    let mut by_device: BTreeMap<usize, Vec<Use<'_>>> = BTreeMap::new();
    for used in uses {
        for &device in &used.1.devices {
            by_device.entry(device).or_default().push(*used);
        }
    }
    let mut by_steps: BTreeMap<(Vec<usize>, Option<u64>), Taken<'_>> = BTreeMap::new();
    let mut alike: BTreeMap<Taken<'_>, Vec<usize>> = BTreeMap::new();
    for (device, uses) in by_device {
        let usable_mib = inventory.kinds[inventory.devices[device].kind.at()].usable_mib;
        let taken = by_steps.entry((uses.iter().map(|used| used.0).collect(), usable_mib)).or_insert_with(|| {
            let milli = most(order, &uses, |hold| u64::from(hold.share_milli));
            (milli, memory_mib(order, &uses, usable_mib), team(&uses), pool(&uses))
        });
        alike.entry(*taken).or_default().push(device);
    }
    let host = Hold {
        node,
        devices: Vec::new(),
        share_milli: 0,
        share_memory_mib: None,
        bound: None, // which decides between equally good devices only
        cpu_milli: most(order, uses, |hold| hold.cpu_milli),
        memory_mib: most(order, uses, |hold| hold.memory_mib),
        team: team(uses).map(str::to_owned),
        pool: None, // which counts devices
    };
    let of_devices = alike.into_iter().map(|((milli, share_memory_mib, team, pool), devices)| Hold {
        devices,
        share_milli: u16::try_from(milli).unwrap_or(u16::MAX),
        share_memory_mib,
        cpu_milli: 0,
        memory_mib: 0,
        team: team.map(str::to_owned),
        pool,
        ..host
    });
    of_devices.chain([host.clone()]).collect()
}

/// The most that steps which may run together hold of something.
fn most(order: &Order, uses: &[Use<'_>], of: impl Fn(&Hold) -> u64) -> u64 {
    let (steps, weights): (Vec<usize>, Vec<u64>) =
        uses.iter().map(|(step, hold)| (*step, of(hold))).filter(|&(_, weight)| weight > 0).unzip();
    heaviest(&weights, |one, other| order.is_before(steps[one], steps[other])).0
}

/// Memory of a device where a share of it asked for memory; other shares have as much of it as of the device.
fn memory_mib(order: &Order, uses: &[Use<'_>], usable_mib: Option<u64>) -> Option<u64> {
    let asks = |(_, hold): &Use<'_>| hold.share_memory_mib.is_some() && hold.share_milli < WHOLE_MILLI;
    let usable = usable_mib.filter(|_| uses.iter().any(asks))?;
    let whole = u64::from(WHOLE_MILLI);
    let of = |hold: &Hold| match hold.share_memory_mib {
        Some(mib) if hold.share_milli < WHOLE_MILLI => mib.min(usable) * whole,
        _ => u64::from(hold.share_milli) * usable,
    };
    Some((most(order, uses, of) / whole).min(usable))
}

/// The team that it counts for; a pipeline has one.
fn team<'a>(uses: &[Use<'a>]) -> Option<&'a str> {
    uses.iter().find_map(|(_, hold)| hold.team.as_deref())
}

/// The pool that is charged; where steps of several pools have a device one after the other, that of the first.
fn pool(uses: &[Use<'_>]) -> Option<u16> {
    uses.iter().find_map(|(_, hold)| hold.pool)
}
