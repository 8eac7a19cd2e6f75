//! Steps that ask for compute units instead of a count: how many devices that is depends on the kind.
//!
//! Each kind is asked for as few devices as do the work; over several nodes each node gives as many, as few as do it
//! together. The fewest nodes win, of these the best candidate over all kinds, of equal ones that with fewer devices.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::explain::considered_one;
use crate::filter::kind_misfit;
use crate::fleet::Fleet;
use crate::gang::{self, Gang};
use crate::kind::Kind;
use crate::place::{Best, Question, best_of_fleet};
use crate::reason::Refusal;
use crate::request::{Choice, Request};
use crate::units::NodeIdx;

/// Devices of a kind that each node gives so that they do so much work per hour together with those of its peers; `None`
/// where nothing is known of its rate.
pub(crate) fn devices(kind: &Kind, units_milli: u64, peers: u32) -> Option<u32> {
    let all = kind.profile.as_ref()?.devices_for(units_milli, kind.partition.as_deref())?;
    Some(all.div_ceil(peers + 1))
}

/// The part of one node with each count that some kind is asked for: fewest nodes first, then fewest devices.
pub(crate) fn parts<'a>(fleet: &'a Fleet, choice: &'a Choice) -> impl Iterator<Item = Choice> + 'a {
    numbers_of_nodes(fleet, choice).flat_map(|of_nodes| counts(fleet, &of_nodes))
}

/// The choice on each number of nodes; on more nodes than a kind needs devices it would only take more of them.
fn numbers_of_nodes<'a>(fleet: &Fleet, choice: &'a Choice) -> impl Iterator<Item = Choice> + use<'a> {
    let (least, most) = choice.nodes.unwrap_or((1, 1));
    let needed = present(fleet).filter_map(|kind| devices(kind, choice.units_milli?, 0)).max().unwrap_or(1);
    (least..=most.min(needed.max(least))).map(|nodes| Choice { nodes: None, peers: nodes - 1, ..choice.clone() })
}

/// The kinds that there are devices of.
fn present(fleet: &Fleet) -> impl Iterator<Item = &Kind> {
    let inventory = fleet.inventory();
    let present: BTreeSet<usize> = inventory.devices.iter().map(|device| device.kind.at()).collect();
    present.into_iter().map(|at| &inventory.kinds[at])
}

/// The choice on so many nodes with each count that some kind is asked for, fewest devices first.
fn counts(fleet: &Fleet, choice: &Choice) -> Vec<Choice> {
    let with = |kind: &Kind| Some(choice.with_count(devices(kind, choice.units_milli?, choice.peers)?));
    let asked = present(fleet).filter_map(|kind| with(kind).filter(|choice| kind_misfit(kind, choice).is_none()));
    let by_count: BTreeMap<u32, Choice> = asked.map(|choice| (choice.count, choice)).collect();
    if by_count.is_empty() {
        return vec![choice.clone()]; // no kind serves it, whatever the count
    }
    by_count.into_values().collect()
}

/// One node's part on the fewest nodes on which some count scores as asked: the count whose best candidate is the best.
///
/// Where none does, the fewest devices on the fewest nodes that could ever serve them, else on the most nodes.
pub(crate) fn settle(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
    could_be: impl Fn(&Choice) -> bool,
) -> Choice {
    let each: Vec<Vec<Choice>> = numbers_of_nodes(fleet, choice).map(|of_nodes| counts(fleet, &of_nodes)).collect();
    for counts in &each {
        let found = counts.iter().filter_map(|part| Some((Found::of(fleet, request, index, part, question)?, part)));
        let best = found.reduce(|best, other| if other.0.order(&best.0).is_lt() { other } else { best });
        if let Some((_, part)) = best {
            return part.clone();
        }
    }
    let ever = each.iter().find(|counts| counts.iter().any(&could_be));
    ever.or(each.last()).and_then(|counts| counts.first()).unwrap_or(choice).clone()
}

/// The best way to serve a part.
enum Found {
    OnOne(Best),
    OverNodes(Gang),
}

impl Found {
    /// `None` where none scores as asked.
    fn of(fleet: &Fleet, request: &Request, index: usize, part: &Choice, question: &Question) -> Option<Self> {
        if part.peers > 0 {
            let gang = gang::best(fleet, request, index, part, question).gang?;
            return gang.is_good(part).then_some(Self::OverNodes(gang));
        }
        let best = best_of_fleet(fleet, request, index, part, question)?;
        best.is_good(part).then_some(Self::OnOne(best))
    }

    /// The order of ways on as many nodes, but for where they are.
    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::OnOne(this), Self::OnOne(other)) => this.order(other),
            (Self::OverNodes(this), Self::OverNodes(other)) => other.merit.cmp(&this.merit),
            _ => Ordering::Equal,
        }
    }
}

/// Who can serve it now on so many nodes with any count, best first, and why the others cannot: of each node what is nearest to a fit.
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
        let (good, refusals) = match choice.peers {
            0 => considered_one(fleet, request, index, &choice, question),
            _ => gang::considered(fleet, request, index, &choice, question),
        };
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
