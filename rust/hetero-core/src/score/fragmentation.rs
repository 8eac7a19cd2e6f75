//! What a step costs the others: how much less the rest of the node is worth to the mix afterwards.

use crate::fleet::Fleet;
use crate::request::Choice;
use crate::score::Candidate;
use crate::worth::{Free, WORTH_OF_MILLI};

/// Loss, in thousandths of a device, that takes the value half way to its end: one node of eight devices.
const REFERENCE_MILLI: f64 = 8000.0;

/// What a candidate costs the mix, in thousandths of a device that all of the mix could use. `worth` is that of its node.
pub fn lost_milli(fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>, worth: u64) -> f64 {
    let before = fleet.free(candidate.node);
    let inventory = fleet.inventory();
    let mut milli = before.milli.to_vec();
    for &at in candidate.devices {
        milli[at - before.node.devices.start] -= inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
    }
    let cpu_milli = before.cpu_milli.map(|free| free.saturating_sub(choice.cpu_milli));
    let after = Free { milli: &milli, cpu_milli, ..before };
    // Less free is never worth more, but where floats round.
    worth.saturating_sub(fleet.worth_of(after)) as f64 / WORTH_OF_MILLI
}

/// 1 where nothing is lost, one half where a node of eight devices is.
pub fn value(lost_milli: f64) -> f64 {
    REFERENCE_MILLI / (REFERENCE_MILLI + lost_milli)
}

/// What the value comes from.
pub(crate) fn why(fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>) -> String {
    let lost = lost_milli(fleet, choice, candidate, fleet.worth(candidate.node)) / 1000.0;
    format!("costs the {} mix {lost:.2} devices", fleet.mix().document.source)
}
