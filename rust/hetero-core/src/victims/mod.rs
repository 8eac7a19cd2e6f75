//! What would have to end so that a step of higher priority gets room: the least device-seconds that are lost, with what
//! starting again takes; whoever can save its work within the notice loses no more than the time for that.
//!
//! Nothing is preempted here: a step that has no place is told what its place would cost others. Quotas, and where the
//! steps of its team run, count as they are; of a range of counts the least is asked, on every number of nodes over which
//! it splits; of choices with a least score nothing is said.

mod age;
mod bound;
mod freed;
mod least;
mod of_groups;
mod on_node;
mod over_nodes;
mod party;
mod region;

use crate::decision::{Victim, Victims};
use crate::digest::Hasher;
use crate::fleet::Fleet;
use crate::gang;
use crate::place::Question;
use crate::request::Request;
use crate::units::NodeIdx;

use least::{Least, Limit};
pub use party::Parties;
pub(crate) use party::PartySite;
use party::{Cost, Party};

/// Who asks, for which of its choices.
#[derive(Clone, Copy)]
struct Ask<'a> {
    fleet: &'a Fleet,
    request: &'a Request,
    index: usize,
    question: &'a Question,
    priority: i64,
}

/// The order of what costs the same: earlier choices, then fewer nodes, then places in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    index: usize,
    peers: u32,
    number: usize,
}

/// Who would end, and where the step would then fit.
struct Found<'a> {
    cost: Cost,
    rank: Rank,
    nodes: Vec<NodeIdx>,
    parties: Vec<&'a Party>,
}

/// What the search has come to.
struct Best<'a> {
    found: Option<Found<'a>>,
    /// No set costs less of those that were not tried.
    unsure: Cost,
}

impl<'a> Best<'a> {
    /// What a set at a place may cost to be the better one.
    fn limit(&self, rank: Rank) -> Limit {
        let beyond = Limit { cost: Cost::BEYOND, is_included: false };
        self.found.as_ref().map_or(beyond, |found| Limit { cost: found.cost, is_included: rank < found.rank })
    }

    /// Takes what was found within the limit of a place where no set costs less than `bound`.
    fn take(
        &mut self,
        rank: Rank,
        bound: Cost,
        parties: &[&'a Party],
        least: Option<(Least, Vec<NodeIdx>)>,
        is_least: bool,
    ) {
        if !is_least {
            self.unsure = self.unsure.min(bound);
        }
        if let Some((Least { cost, chosen }, nodes)) = least {
            let parties = chosen.iter().map(|&at| parties[at]).collect();
            self.found = Some(Found { cost, rank, nodes, parties });
        }
    }
}

/// The parties whose end costs least and makes room for a choice; of equal cost those of the earlier choice, then on
/// fewer nodes, then on the first. `None` where none would, or none may end.
pub(crate) fn victims(fleet: &Fleet, request: &Request, question: &Question) -> Option<Victims> {
    let priority = request.priority?;
    if !fleet.inventory().parties().is_any_below(priority) {
        return None;
    }
    let mut trial = fleet.trial();
    let mut best = Best { found: None, unsure: Cost::BEYOND };
    for index in 0..request.choices.len() {
        let ask = Ask { fleet, request, index, question, priority };
        let choice = &*question.policy.judged(&request.choices[index]);
        if choice.min_score.is_some() {
            continue;
        }
        if choice.has_groups() {
            of_groups::search(ask, choice, &mut trial, &mut best);
            continue;
        }
        let choice = gang::apart(fleet, request, choice);
        for part in &gang::least(fleet, &choice) {
            if part.peers == 0 {
                on_node::search(ask, part, &mut trial, &mut best);
            } else {
                over_nodes::search(ask, part, &mut trial, &mut best);
            }
        }
    }
    let Best { found, unsure } = best;
    found.map(|found| told(fleet, request, &found, found.cost <= unsure))
}

/// Adds to a digest what the answer to a step with a priority depends on besides.
pub(crate) fn digested(fleet: &Fleet, request: &Request, hasher: Hasher) -> Hasher {
    match (request.priority, fleet.inventory().parties().digest()) {
        (Some(priority), Some(parties)) => hasher.text("victims").number(priority.cast_unsigned()).bytes(&parties),
        _ => hasher,
    }
}

fn told(fleet: &Fleet, request: &Request, found: &Found<'_>, is_least: bool) -> Victims {
    let entries = found.parties.iter().flat_map(|party| &party.entries);
    let victims: Vec<Victim> = entries
        .map(|entry| Victim {
            owner: entry.owner.clone(),
            gang: entry.gang.clone(),
            cluster: fleet.node(entry.hold.node).cluster.clone(),
            node: fleet.node(entry.hold.node).name.clone(),
            devices: entry.ids.clone(),
            share_milli: entry.hold.share_milli,
            priority: entry.priority,
            counted_from: entry.counted_from,
            can_save: entry.can_save,
            lost_device_ms: entry.lost_device_ms,
        })
        .collect();
    let lost: Option<Vec<u64>> = victims.iter().map(|victim| victim.lost_device_ms).collect();
    Victims {
        choice: request.choices[found.rank.index].label.clone(),
        choice_index: found.rank.index,
        cluster: fleet.node(found.nodes[0]).cluster.clone(),
        nodes: found.nodes.iter().map(|&node| fleet.node(node).name.clone()).collect(),
        lost_device_ms: lost.map(|lost| lost.into_iter().fold(0, u64::saturating_add)),
        is_least,
        victims,
    }
}
