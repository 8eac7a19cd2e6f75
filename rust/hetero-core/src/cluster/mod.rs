//! Which cluster a step goes to, where the request or the fleet tells clusters apart; otherwise all are one pool of nodes.
//!
//! The clusters that have devices for a choice are tried one after the other: that which is near most of what the step
//! should be near, then the cheaper, the emptier, the heavier ([`term`] has the weights), then by name.

mod far;
mod kept;
mod offer;
mod term;

use serde::{Deserialize, Serialize};

use crate::decision::Term;
use crate::fleet::Fleet;
use crate::inventory::Cluster;
use crate::place::Question;
use crate::request::{Choice, Request};
use crate::score::round;
use crate::units::NodeIdx;

pub(crate) use far::far;
pub use kept::kept;
use offer::{Able, offers};
use term::{MILLI, Part};

/// How a cluster compares with others for a choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterScore {
    /// Cluster.
    pub cluster: String,
    /// 0..=100.
    pub score: f64,
    /// The parts of the score.
    pub terms: Vec<Term>,
}

/// A cluster that has devices for a choice, told apart from others.
#[derive(Clone, Debug)]
pub(crate) struct Standing<'a> {
    pub(crate) cluster: &'a Cluster,
    parts: Vec<Part>,
}

impl Standing<'_> {
    fn points_milli(&self) -> u64 {
        self.parts.iter().map(|part| part.points_milli).sum()
    }

    /// In words and numbers.
    pub(crate) fn score(&self) -> ClusterScore {
        let all = self.parts.iter().map(|part| part.weight).sum::<u64>() as f64;
        let scaled = |points_milli: u64| round(points_milli as f64 / MILLI as f64 * 100.0 / all);
        let term = |part: &Part| Term {
            name: part.name.to_owned(),
            value: round(part.points_milli as f64 / (part.weight * MILLI) as f64),
            weight: round(part.weight as f64 * 100.0 / all),
            points: scaled(part.points_milli),
            why: part.why.clone(),
        };
        ClusterScore {
            cluster: self.cluster.name.clone(),
            score: scaled(self.points_milli()),
            terms: self.parts.iter().map(term).collect(),
        }
    }

    /// The request with one of its choices asked in this cluster only.
    pub(crate) fn only_here(&self, request: &Request, index: usize) -> Request {
        only_in(self.cluster, request, index)
    }

    /// Whether a node is one of the cluster.
    pub(crate) fn has(&self, node: NodeIdx) -> bool {
        self.cluster.nodes.contains(&node.at())
    }
}

/// The clusters that have devices for a choice, in the order in which they are tried; `None` where nothing tells them apart.
pub(crate) fn ranked<'a>(
    fleet: &'a Fleet,
    request: &Request,
    index: usize,
    question: &Question,
) -> Option<Vec<Standing<'a>>> {
    let inventory = fleet.inventory();
    let wishes = wishes(request, &request.choices[index]);
    if inventory.clusters.len() < 2 || (wishes.is_empty() && !inventory.has_preferences) {
        return None;
    }
    let able: Vec<Able<'a>> = offers(fleet, request, index, question);
    let differs = |column: &Vec<Part>| column.iter().any(|part| part.points_milli != column[0].points_milli);
    let mut columns = vec![term::locality(&able, &wishes), term::price(&able), term::weight(&able)];
    columns.retain(differs);
    if columns.is_empty() {
        return None;
    }
    columns.push(term::load(&able, &request.choices[index]));
    let parts = |at: usize| columns.iter().map(|column| column[at].clone()).collect();
    let standings = able.iter().enumerate().map(|(at, able)| Standing { cluster: able.cluster, parts: parts(at) });
    let mut standings: Vec<Standing<'a>> = standings.collect();
    standings.sort_by_key(|standing| std::cmp::Reverse(standing.points_milli())); // stable: equal ones stay by name
    Some(standings)
}

/// What a choice should be near: as it says, and the step's checkpoint.
fn wishes<'a>(request: &'a Request, choice: &'a Choice) -> Vec<&'a str> {
    let stated = choice.place.near.iter().map(String::as_str);
    let checkpoint = request.checkpoint.iter().map(|checkpoint| checkpoint.location.as_str());
    stated.chain(checkpoint.filter(|location| choice.place.near.iter().all(|near| near != location))).collect()
}

fn only_in(cluster: &Cluster, request: &Request, index: usize) -> Request {
    let mut only = request.clone();
    only.choices[index].place.clusters = vec![cluster.name.clone()];
    only
}
