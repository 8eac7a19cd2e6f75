//! Steps that ask for compute units instead of a count: how many devices that is depends on the kind.
//!
//! Each kind is asked for as few devices as do the work; the best candidate over all kinds wins, of equal ones that with
//! fewer devices.

use std::collections::{BTreeMap, BTreeSet};

use crate::explain::considered_one;
use crate::filter::kind_misfit;
use crate::fleet::Fleet;
use crate::kind::Kind;
use crate::place::{Best, Question, best_of_fleet};
use crate::reason::Refusal;
use crate::request::{Choice, Request};
use crate::units::NodeIdx;

/// Devices of a kind that do so much work per hour; `None` where nothing is known of its rate.
pub(crate) fn devices(kind: &Kind, units_milli: u64) -> Option<u32> {
    kind.profile.as_ref()?.devices_for(units_milli, kind.partition.as_deref())
}

/// The choice with each count that some kind is asked for, fewest devices first.
pub(crate) fn counts(fleet: &Fleet, choice: &Choice) -> Vec<Choice> {
    let inventory = fleet.inventory();
    let present: BTreeSet<usize> = inventory.devices.iter().map(|device| device.kind.at()).collect();
    let kinds = present.into_iter().map(|at| &inventory.kinds[at]);
    let with = |kind: &Kind| Some(choice.with_count(devices(kind, choice.units_milli?)?));
    let asked = kinds.filter_map(|kind| with(kind).filter(|choice| kind_misfit(kind, choice).is_none()));
    let by_count: BTreeMap<u32, Choice> = asked.map(|choice| (choice.count, choice)).collect();
    if by_count.is_empty() {
        return vec![choice.clone()]; // no kind serves it, whatever the count
    }
    by_count.into_values().collect()
}

/// The count whose best candidate is the best, if it scores as asked; the fewest devices where none does.
pub(crate) fn settle(fleet: &Fleet, request: &Request, index: usize, choice: &Choice, question: &Question) -> Choice {
    let mut counts = counts(fleet, choice);
    let mut best: Option<(usize, Best)> = None;
    for (at, choice) in counts.iter().enumerate() {
        let here = best_of_fleet(fleet, request, index, choice, question).filter(|here| here.is_good(choice));
        if let Some(here) = here
            && best.as_ref().is_none_or(|(_, best)| here.order(best).is_lt())
        {
            best = Some((at, here));
        }
    }
    counts.swap_remove(best.map_or(0, |(at, _)| at))
}

/// Who can serve it now with any count, best first, and why the others cannot: of each node what is nearest to a fit.
pub(crate) fn considered(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
) -> (Vec<Best>, Vec<Refusal>) {
    let mut all: Vec<Best> = Vec::new();
    let mut refused: BTreeMap<NodeIdx, Refusal> = BTreeMap::new();
    for choice in counts(fleet, choice) {
        let (good, refusals) = considered_one(fleet, request, index, &choice, question);
        all.extend(good);
        for refusal in refusals {
            let nearness = |refusal: &Refusal| (!refusal.is_permanent, refusal.misfit);
            let known = refused.entry(refusal.node).or_insert(refusal);
            if nearness(&refusal) > nearness(known) {
                *known = refusal;
            }
        }
    }
    all.sort_by(Best::order); // stable: ties keep the order of counts and nodes
    let mut seen = BTreeSet::new();
    all.retain(|best| seen.insert(best.node));
    (all, refused.into_values().filter(|refusal| !seen.contains(&refusal.node)).collect())
}
