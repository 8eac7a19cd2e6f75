//! Why a step over several nodes cannot be placed, node by node.

use crate::codes::Code;
use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::gang::part::parts_of_each;
use crate::gang::{Found, Gang, best};
use crate::place::{Best, Question};
use crate::reason::{self, Refusal};
use crate::request::{Choice, Place, Request};
use crate::units::NodeIdx;

/// The best gang, or why there is none that scores as asked: a refusal for every node.
pub(crate) fn decide(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    part: &Choice,
    question: &Question,
) -> Result<Gang, Vec<Refusal>> {
    let mut found = best(fleet, request, index, part, question);
    match found.gang.take_if(|gang| gang.is_good(part)) {
        Some(gang) => Ok(gang),
        None => Err(refusals(fleet, request, index, part, question, &found)),
    }
}

/// What each node can give, best first, where there is a gang that scores as asked; and why the others cannot.
pub(crate) fn considered(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    part: &Choice,
    question: &Question,
) -> (Vec<Best>, Vec<Refusal>) {
    let found = best(fleet, request, index, part, question);
    let refusals = refusals(fleet, request, index, part, question, &found);
    if found.gang.is_none_or(|gang| !gang.is_good(part)) {
        return (Vec::new(), refusals);
    }
    let fit = filter::kinds_of(fleet, request, index, part);
    let parts = parts_of_each(fleet, part, &fit, question);
    (parts.into_iter().map(|part| part.best).collect(), refusals)
}

/// Refusals: those of nodes that cannot give their part, and, where there is no gang, of all others.
fn refusals(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    part: &Choice,
    question: &Question,
    found: &Found,
) -> Vec<Refusal> {
    let fit = filter::kinds_of(fleet, request, index, part);
    let mut all = reason::refusals(fleet, part, &fit, &[]);
    if found.gang.as_ref().is_some_and(|gang| gang.is_good(part)) {
        return all;
    }
    let untaken = Choice { place: Place { taken: Vec::new(), ..part.place.clone() }, ..part.clone() };
    let ever = best(&fleet.emptied(), request, index, &untaken, question);
    if ever.gang.is_none() {
        all.retain(|refusal| refusal.is_permanent); // what passes does not help
    }
    let nodes = u64::from(part.peers) + 1;
    let (misfit, is_permanent) = match (&ever.gang, &found.gang) {
        (None, _) => (too_few(&ever, nodes), true),
        (Some(_), None) => (too_few(found, nodes), false),
        (Some(at_best), Some(now)) => (too_low(now, part), !at_best.is_good(part)),
    };
    let is_refused: Vec<bool> = {
        let mut is_refused = vec![false; fleet.inventory().nodes.len()];
        for refusal in &all {
            is_refused[refusal.node.at()] = true;
        }
        is_refused
    };
    let others = is_refused.iter().enumerate().filter(|(_, is_refused)| !**is_refused);
    all.extend(others.map(|(node, _)| Refusal { node: NodeIdx::new(node), misfit, is_permanent }));
    all.sort_by_key(|refusal| refusal.node);
    all
}

fn too_few(found: &Found, nodes: u64) -> Misfit {
    let is_near = found.most_together as u64 >= nodes; // only not apart
    let code = if is_near { Code::Spread } else { Code::NodesShort };
    let have = if is_near { found.most } else { found.most_together.min(found.most) };
    Misfit { have: Some(have as u64), want: Some(nodes), ..Misfit::of(code) }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a score is 0 to 100
fn too_low(gang: &Gang, part: &Choice) -> Misfit {
    let (have, want) = (Some(gang.total as u64), part.min_score.map(u64::from));
    Misfit { have, want, ..Misfit::of(Code::ScoreTooLow) }
}
