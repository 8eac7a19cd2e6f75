//! What a step costs the others: how much less the rest of the node is worth to the mix afterwards.

use std::borrow::Cow;

use crate::fleet::Fleet;
use crate::request::Choice;
use crate::score::Candidate;
use crate::units::NodeIdx;
use crate::worth::{Offer, WORTH_OF_MILLI, Worth};

/// Loss, in thousandths of a device, that takes the value half way to its end: one node of eight devices.
const REFERENCE_MILLI: f64 = 8000.0;

/// What a node offers before the step.
pub(crate) struct Before<'a> {
    offer: Cow<'a, Offer>,
    /// Space for what it offers after the step: candidates of a node come one after the other.
    after: Offer,
}

impl<'a> Before<'a> {
    /// Of a node as it is.
    pub(crate) fn of(fleet: &'a Fleet, node: NodeIdx) -> Self {
        Self { offer: fleet.offer(node), after: Offer::default() }
    }

    /// All free shares.
    #[allow(clippy::cast_possible_truncation)] // of at most 1024 devices
    pub(crate) fn total_milli(&self) -> u32 {
        self.offer.free.total_milli as u32
    }
}

/// What a candidate costs the mix.
pub(crate) fn lost(fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>, before: &mut Before<'_>) -> Worth {
    let (inventory, node) = (fleet.inventory(), fleet.node(candidate.node));
    let Before { offer, after } = before;
    after.free.clone_from(&offer.free);
    for &at in candidate.devices {
        let share = inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
        after.free.take(node, at, fleet.capacity().free_milli[at], share);
    }
    after.free.cpu_milli = after.free.cpu_milli.map(|free| free.saturating_sub(choice.cpu_milli));
    fleet.lost(offer, after)
}

/// 1 where nothing is lost, one half where a node of eight devices is.
///
/// `lost` is in the units of [`Worth`].
pub(crate) fn value(lost: f64) -> f64 {
    REFERENCE_MILLI / (REFERENCE_MILLI + lost / WORTH_OF_MILLI)
}

/// What the value comes from.
pub(crate) fn why(fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>) -> String {
    words(fleet, &lost(fleet, choice, candidate, &mut Before::of(fleet, candidate.node)))
}

/// What is lost, in words.
pub(crate) fn words(fleet: &Fleet, lost: &Worth) -> String {
    format!("costs the {} mix {:.2} devices", fleet.mix().document.source, lost.devices())
}
