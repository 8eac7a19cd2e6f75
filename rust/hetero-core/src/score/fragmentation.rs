//! What the rest of the node is still good for: how much more of the fleet the mix could no longer use.

use crate::fleet::Fleet;
use crate::fragmentation::weighted_unusable;
use crate::request::Choice;
use crate::score::Candidate;

/// Change, in thousandths of a device, that takes the value half way to its end: one node of eight devices.
const REFERENCE_MILLI: f64 = 8000.0;

/// How much fragmentation a candidate adds, thousandths of a device; negative when it uses up what was useless.
pub fn added_milli(fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>) -> f64 {
    let node = fleet.node(candidate.node);
    let mix = fleet.mix();
    if mix.total_weight == 0 {
        return 0.0;
    }
    let mut free = fleet.free_milli(candidate.node).to_vec();
    let inventory = fleet.inventory();
    for &at in candidate.devices {
        free[at - node.devices.start] -= inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
    }
    let cpu = fleet.capacity().free_cpu_milli[candidate.node.at()].map(|free| free.saturating_sub(choice.cpu_milli));
    let (before, after) = (fleet.weighted_unusable(candidate.node), weighted_unusable(node, &free, cpu, mix));
    let magnitude = before.abs_diff(after) as f64 / mix.total_weight as f64;
    if after >= before { magnitude } else { -magnitude }
}

/// One half where nothing changes, towards 1 the more useless capacity is used up, towards 0 the more is made useless.
pub fn value(added_milli: f64) -> f64 {
    0.5 - added_milli / (2.0 * (added_milli.abs() + REFERENCE_MILLI))
}

/// What the value comes from.
pub(crate) fn why(fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>) -> String {
    let added = added_milli(fleet, choice, candidate) / 1000.0;
    let source = &fleet.mix().document.source;
    match added {
        0.0 => format!("changes nothing for the {source} mix"),
        _ if added > 0.0 => format!("makes {added:.2} devices useless to the {source} mix"),
        _ => format!("takes {:.2} devices that the {source} mix cannot use", -added),
    }
}
