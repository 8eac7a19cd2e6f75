//! How many devices on how many nodes: what is tried of the ranges that a choice allows.

use std::cell::OnceCell;

use crate::digest::Hasher;
use crate::fleet::Fleet;
use crate::gang::best;
use crate::nearest::fits_on_one_node;
use crate::place::{Question, best_of_fleet};
use crate::request::{Choice, Place, Request};
use crate::score::topology::NUMA_PENALTY_MILLI;
use crate::work;

/// The choice that is placed: one node's part of the most devices that fit now, on the fewest nodes that they fit on.
///
/// When none fit, the fewest devices on the fewest nodes that could ever serve them, else on the most nodes. `None` for a
/// choice of a stated count on one node that is not to be kept apart from anything.
pub(crate) fn settle(fleet: &Fleet, request: &Request, index: usize, question: &Question) -> Option<Choice> {
    let written = &*question.policy.judged(&request.choices[index]);
    if !is_of_concern(written) {
        return None;
    }
    let choice = apart(fleet, request, written);
    let empty = OnceCell::new();
    let could_be = |part: &Choice| {
        let untaken = Place { taken: Vec::new(), ..part.place.clone() };
        let empty = empty.get_or_init(|| fleet.emptied());
        is_fit(empty, request, index, &Choice { place: untaken, ..part.clone() })
    };
    if choice.units_milli.is_some() {
        return Some(work::settle(fleet, request, index, &choice, question, could_be));
    }
    let found = shapes(fleet, &choice).find(|part| is_placed(fleet, request, index, part, question));
    found.or_else(|| {
        let fewest = fewest(&choice);
        fewest.iter().find(|part| could_be(part)).or(fewest.last()).cloned()
    })
}

/// Whether a choice fits anywhere now; `None` as for [`settle`].
pub(crate) fn fits(fleet: &Fleet, request: &Request, index: usize, choice: &Choice) -> Option<bool> {
    is_of_concern(choice).then(|| {
        let choice = apart(fleet, request, choice);
        shapes(fleet, &choice).any(|part| is_fit(fleet, request, index, &part))
    })
}

/// The same with the score that the choice asks.
pub(crate) fn is_good(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
) -> Option<bool> {
    is_of_concern(choice).then(|| {
        let choice = apart(fleet, request, choice);
        shapes(fleet, &choice).any(|part| is_placed(fleet, request, index, &part, question))
    })
}

/// Adds to a digest what an answer depends on that no node's state tells: where the team's steps run, where that is
/// asked, and weights that are not the usual ones.
pub(crate) fn digested(fleet: &Fleet, request: &Request, question: &Question, mut hasher: Hasher) -> Hasher {
    if question.weights.numa_penalty_milli != NUMA_PENALTY_MILLI {
        hasher = hasher.text("numa penalty").number(u64::from(question.weights.numa_penalty_milli));
    }
    if question.weights.draw > 0 {
        hasher = hasher.text("draw").number(u64::from(question.weights.draw));
    }
    for choice in request.choices.iter().filter(|choice| choice.place.spread.is_some()) {
        let taken = apart(fleet, request, choice).place.taken;
        hasher = taken.iter().fold(hasher.number(taken.len() as u64), |hasher, &at| hasher.number(u64::from(at)));
    }
    hasher
}

fn is_of_concern(choice: &Choice) -> bool {
    choice.may_be_gang() || choice.place.spread.is_some() || choice.units_milli.is_some()
}

/// The choice with where the team's steps run now.
pub(crate) fn apart(fleet: &Fleet, request: &Request, choice: &Choice) -> Choice {
    let mut choice = choice.clone();
    if let (Some(spread), Some(team)) = (choice.place.spread, &request.team) {
        choice.place.taken = fleet.nodes_of_team(team).filter_map(|node| fleet.node(node).domains.of(spread)).collect();
        choice.place.taken.sort_unstable();
        choice.place.taken.dedup();
    }
    choice
}

/// Parts to be tried: most devices first, then fewest nodes. What no node could have is left out.
fn shapes<'a>(fleet: &'a Fleet, choice: &'a Choice) -> Box<dyn Iterator<Item = Choice> + 'a> {
    if choice.units_milli.is_some() {
        return Box::new(work::parts(fleet, choice));
    }
    let inventory = fleet.inventory();
    let largest = inventory.nodes.iter().flat_map(|node| &node.kinds).map(|run| run.devices.len()).max().unwrap_or(0);
    let ceiling = choice.count_ceiling.unwrap_or(choice.count);
    let most =
        u32::try_from(inventory.devices.len()).unwrap_or(u32::MAX).clamp(choice.count, ceiling.max(choice.count));
    let parts = (choice.count..=most).rev().flat_map(|count| of_count(choice, count));
    Box::new(parts.filter(move |part| part.count as usize <= largest))
}

fn of_count(choice: &Choice, count: u32) -> impl Iterator<Item = Choice> + use<> {
    let (least, most) = choice.nodes.unwrap_or((1, 1));
    let choice = choice.with_count(count);
    (least..=most.min(choice.amount().max(1))).filter_map(move |nodes| choice.part(nodes))
}

/// What is asked at least: parts of the smallest count that splits, or of each that some kind does the work with; fewest
/// nodes first.
pub(crate) fn least(fleet: &Fleet, choice: &Choice) -> Vec<Choice> {
    if choice.units_milli.is_some() { work::parts(fleet, choice).collect() } else { fewest(choice) }
}

fn fewest(choice: &Choice) -> Vec<Choice> {
    let counts = choice.count..=choice.count_ceiling.unwrap_or(choice.count);
    let parts = counts.map(|count| of_count(choice, count).collect::<Vec<_>>());
    parts.into_iter().find(|parts| !parts.is_empty()).unwrap_or_default()
}

fn is_fit(fleet: &Fleet, request: &Request, index: usize, part: &Choice) -> bool {
    match part.peers {
        0 => fits_on_one_node(fleet, request, index, part),
        _ => best(fleet, request, index, part, &Question::default()).gang.is_some(),
    }
}

fn is_placed(fleet: &Fleet, request: &Request, index: usize, part: &Choice, question: &Question) -> bool {
    match (part.peers, part.min_score) {
        (0, None) => fits_on_one_node(fleet, request, index, part),
        (0, Some(_)) => best_of_fleet(fleet, request, index, part, question).is_some_and(|best| best.is_good(part)),
        _ => best(fleet, request, index, part, question).gang.is_some_and(|gang| gang.is_good(part)),
    }
}
