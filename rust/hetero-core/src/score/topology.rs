//! Nearness of the chosen devices: the mean over their pairs.

use crate::fleet::Fleet;
use crate::kind::Kind;
use crate::score::{Candidate, saturating};
use crate::topology::{Distance, Pairs};

/// Values of a pair, each below every one that is nearer. Two partitions of one device.
const DEVICE: f64 = 1.0;
/// One island over a link of unknown bandwidth; a known one is worth more, but never 1.
const ISLAND: f64 = 0.60;
const SWITCH: f64 = 0.59;
const NUMA: f64 = 0.58;
/// Across nodes; one node across NUMA nodes is worth 0.29 at least, see [`NUMA_PENALTY_MILLI`].
const RACK: f64 = 0.25;
const ZONE: f64 = 0.15;
const CLUSTER: f64 = 0.05;
/// Loss of a host-staged transfer that crosses NUMA nodes, thousandths, where the weights state none.
pub const NUMA_PENALTY_MILLI: u32 = 150;
/// The most that weights may state.
pub const MOST_NUMA_PENALTY_MILLI: u32 = 500;
/// Pair bandwidth of the reference device, H100-SXM5-80GB behind NVSwitch, MB/s.
const REFERENCE_PAIR_MBPS: f64 = 900_000.0;

/// The value, or `None` for fewer than two devices.
pub fn value(fleet: &Fleet, candidate: Candidate<'_>, numa_penalty_milli: u32) -> Option<f64> {
    if candidate.devices.len() < 2 {
        return None;
    }
    let pairs = Pairs::count(&fleet.inventory().devices, candidate.devices);
    Some(sum(&pairs, kind_of(fleet, candidate), numa_penalty_milli) / pairs.all() as f64)
}

/// The values of pairs of one kind of device, added up.
pub(crate) fn sum(pairs: &Pairs, kind: &Kind, numa_penalty_milli: u32) -> f64 {
    let values = [
        (Distance::Device, DEVICE),
        (Distance::Island, island(kind)),
        (Distance::Switch, SWITCH),
        (Distance::Numa, NUMA),
        (Distance::Node, NUMA * (1.0 - f64::from(numa_penalty_milli) / 1000.0)),
        (Distance::Rack, RACK),
        (Distance::Zone, ZONE),
        (Distance::Cluster, CLUSTER),
    ];
    values.iter().map(|&(distance, value)| pairs.at(distance) as f64 * value).sum()
}

/// A pair in one island is worth more the faster its link; where that is unknown it gets no bonus.
fn island(kind: &Kind) -> f64 {
    let pair_mbps = kind.profile.as_ref().and_then(|profile| profile.pair_mbps);
    ISLAND + (1.0 - ISLAND) * pair_mbps.map_or(0.0, |mbps| saturating(mbps as f64, REFERENCE_PAIR_MBPS))
}

/// The kind of a candidate's devices.
pub(crate) fn kind_of<'a>(fleet: &'a Fleet, candidate: Candidate<'_>) -> &'a Kind {
    let inventory = fleet.inventory();
    &inventory.kinds[inventory.devices[candidate.devices[0]].kind.at()]
}

/// What the value comes from.
pub(crate) fn why(fleet: &Fleet, candidate: Candidate<'_>) -> String {
    words(&Pairs::count(&fleet.inventory().devices, candidate.devices))
}

/// Pairs in words.
pub(crate) fn words(pairs: &Pairs) -> String {
    let named = [
        (Distance::Device, "of one device"),
        (Distance::Switch, "on one switch"),
        (Distance::Rack, "in one rack"),
        (Distance::Zone, "in one zone"),
        (Distance::Cluster, "further apart"),
    ];
    let (island, numa) = (pairs.at(Distance::Island), pairs.at(Distance::Numa));
    let first = format!("of {} pairs {island} in one island, {numa} on one NUMA node", pairs.all());
    let others = named.into_iter().map(|(distance, place)| (pairs.at(distance), place));
    let others = others.filter(|&(count, _)| count > 0).map(|(count, place)| format!("{count} {place}"));
    std::iter::once(first).chain(others).collect::<Vec<String>>().join(", ")
}
