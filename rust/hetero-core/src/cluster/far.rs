//! What a placement says of what it should be near and is not.

use crate::cluster::{only_in, wishes};
use crate::decision::Note;
use crate::explain::scored;
use crate::fleet::Fleet;
use crate::inventory::Cluster;
use crate::place::{Question, largest_that_fits};
use crate::reason::gather;
use crate::request::Request;
use crate::why::numbers;

const NOTE: &str = "REMOTE";

/// Notes on a choice placed in a cluster: another is near more of what it should be near, with the first reason why it is
/// not there; or nothing is near something anywhere, which is no news of a checkpoint.
pub(crate) fn far(fleet: &Fleet, request: &Request, index: usize, question: &Question, placed: &str) -> Vec<Note> {
    let choice = &request.choices[index];
    let wishes = wishes(request, choice);
    if wishes.is_empty() {
        return Vec::new();
    }
    let clusters: Vec<&Cluster> =
        fleet.inventory().clusters.iter().filter(|cluster| !cluster.nodes.is_empty()).collect();
    let met = |cluster: &Cluster| wishes.iter().filter(|wish| cluster.is_near(wish)).count();
    let here = clusters.iter().find(|cluster| cluster.name == placed);
    let met_here = here.map_or(0, |here| met(here));
    let nearest = clusters.iter().rev().max_by_key(|cluster| met(cluster)); // of equal ones the first by name
    let mut texts = Vec::new();
    if let Some(nearest) = nearest.filter(|nearest| met(nearest) > met_here) {
        let is_far = |wish: &&&str| nearest.is_near(wish) && here.is_none_or(|here| !here.is_near(wish));
        let names: Vec<&str> = wishes.iter().filter(is_far).copied().collect();
        let why = why_not(fleet, request, index, question, nearest);
        texts.push(format!("far from {}: in {} it {why}", names.join(", "), nearest.name));
    }
    let is_nowhere = |wish: &&String| clusters.iter().all(|cluster| !cluster.is_near(wish));
    let nowhere = choice.place.near.iter().filter(is_nowhere);
    texts.extend(nowhere.map(|wish| format!("no cluster is called {wish} or states that it holds it")));
    texts.into_iter().map(|text| Note { code: NOTE.to_owned(), text }).collect()
}

/// The reason that is nearest to a fit there.
fn why_not(fleet: &Fleet, request: &Request, index: usize, question: &Question, cluster: &Cluster) -> String {
    let only = only_in(cluster, request, index);
    let choice = largest_that_fits(fleet, &only, index, question);
    let (_, mut refusals) = scored(fleet, &only, index, &choice, question);
    refusals.retain(|refusal| cluster.nodes.contains(&refusal.node.at()));
    let reasons = gather(fleet, index, &choice, &refusals);
    let Some(reason) = reasons.first() else { return "found no place".to_owned() };
    let when = if reason.is_permanent { "never fits" } else { "does not fit now" };
    let numbers = numbers(reason.have, reason.want, reason.unit.as_deref());
    format!("{when}, {}{numbers} on {}", reason.code.name(), reason.nodes[0])
}
