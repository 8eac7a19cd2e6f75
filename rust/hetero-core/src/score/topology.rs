//! Nearness of the chosen devices: the mean over their pairs.

use crate::fleet::Fleet;
use crate::score::{Candidate, saturating};
use crate::topology::Pairs;

/// Value of a pair on one NUMA node over PCIe.
const NUMA: f64 = 0.60;
/// Loss of a host-staged transfer that crosses NUMA nodes.
const NUMA_PENALTY: f64 = 0.15;
/// Pair bandwidth of the reference device, H100-SXM5-80GB behind NVSwitch, MB/s.
const REFERENCE_PAIR_MBPS: f64 = 900_000.0;

/// The value, or `None` for fewer than two devices.
///
/// A pair in one island is worth more than any pair outside, the more the faster its link; where that is unknown it
/// gets no bonus over a pair on one NUMA node.
pub fn value(fleet: &Fleet, candidate: Candidate<'_>) -> Option<f64> {
    if candidate.devices.len() < 2 {
        return None;
    }
    let inventory = fleet.inventory();
    let pairs = Pairs::count(&inventory.devices, candidate.devices);
    let kind = &inventory.kinds[inventory.devices[candidate.devices[0]].kind.at()];
    let pair_mbps = kind.profile.as_ref().and_then(|profile| profile.pair_mbps);
    let bonus = pair_mbps.map_or(0.0, |mbps| saturating(mbps as f64, REFERENCE_PAIR_MBPS));
    let island = NUMA + (1.0 - NUMA) * bonus;
    let node = NUMA * (1.0 - NUMA_PENALTY);
    let sum = f64::from(pairs.island) * island + f64::from(pairs.numa) * NUMA + f64::from(pairs.node) * node;
    Some(sum / f64::from(pairs.island + pairs.numa + pairs.node))
}

/// What the value comes from.
pub(crate) fn why(fleet: &Fleet, candidate: Candidate<'_>) -> String {
    let pairs = Pairs::count(&fleet.inventory().devices, candidate.devices);
    let all = pairs.island + pairs.numa + pairs.node;
    format!("of {all} pairs {} in one island, {} on one NUMA node", pairs.island, pairs.numa)
}
