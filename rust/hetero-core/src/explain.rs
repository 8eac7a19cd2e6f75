//! Everything that was considered: every candidate with its terms, every refusal, and how many passed each stage.

use serde::{Deserialize, Serialize};

use crate::decision::{Decision, Reason, Term};
use crate::error::Result;
use crate::filter;
use crate::fleet::Fleet;
use crate::place::{Best, Question, best_of_node, largest_that_fits, place};
use crate::reason::{gather, refusals};
use crate::request::{Choice, Request};
use crate::score::{Candidate, round};
use crate::units::NodeIdx;

/// How many nodes passed each stage; each stage is part of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stages {
    /// All nodes.
    pub nodes: usize,
    /// Nodes that could serve the choice when empty.
    pub possible: usize,
    /// Nodes that can serve it now.
    pub candidates: usize,
}

/// A node that can serve a choice now, with the best devices of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// Cluster.
    pub cluster: String,
    /// Node.
    pub node: String,
    /// Device ids.
    pub devices: Vec<u32>,
    /// 0..=100.
    pub score: f64,
    /// The parts of the score.
    pub terms: Vec<Term>,
}

/// What became of one choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChoiceReport {
    /// The choice.
    pub choice: String,
    /// Counts.
    pub stages: Stages,
    /// Candidates, best first.
    pub candidates: Vec<Scored>,
    /// Refusals.
    pub reasons: Vec<Reason>,
}

/// A decision with everything that was considered for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The decision.
    pub decision: Decision,
    /// Every choice, those after the granted one included.
    pub choices: Vec<ChoiceReport>,
}

/// Decides as [`place`] does, and tells all.
pub fn explain(fleet: &Fleet, request: &Request, question: &Question) -> Result<Explanation> {
    let decision = place(fleet, request, question)?;
    let choices = request.choices.iter().enumerate().map(|(i, _)| report(fleet, request, i, question)).collect();
    Ok(Explanation { decision, choices })
}

fn report(fleet: &Fleet, request: &Request, index: usize, question: &Question) -> ChoiceReport {
    let choice = &largest_that_fits(fleet, request, index);
    let fit = filter::kinds_of(fleet, request, index, choice);
    let states = fleet.states();
    let mut by_state: Vec<Option<Best>> = vec![None; states.len()];
    for node in states.representatives() {
        by_state[states.index(node)] = best_of_node(fleet, node, choice, &fit, &question.weights);
    }
    let nodes = fleet.inventory().nodes.len();
    let is_meant = |node: &NodeIdx| filter::elsewhere(fleet.node(*node), choice).is_none();
    let here = (0..nodes)
        .map(NodeIdx::new)
        .filter(is_meant)
        .filter_map(|node| Some((node, by_state[states.index(node)].as_ref()?)));
    let mut ranked: Vec<(NodeIdx, &Best)> = here.collect();
    ranked.sort_by(|(_, a), (_, b)| a.order(b)); // stable: ties keep the order of the nodes
    let candidates: Vec<Scored> =
        ranked.into_iter().map(|(node, best)| scored(fleet, node, choice, best, question)).collect();
    let refusals = refusals(fleet, choice, &fit, None);
    let impossible = refusals.iter().filter(|refusal| refusal.is_permanent).count();
    ChoiceReport {
        choice: choice.label.clone(),
        stages: Stages { nodes, possible: nodes - impossible, candidates: candidates.len() },
        candidates,
        reasons: gather(fleet, index, choice, &refusals),
    }
}

/// The best of a state, told for one node in it: devices lie at the same offsets.
fn scored(fleet: &Fleet, node: NodeIdx, choice: &Choice, best: &Best, question: &Question) -> Scored {
    let (here, there) = (fleet.node(node), fleet.node(best.node));
    let devices: Vec<usize> = best.devices.iter().map(|at| at - there.devices.start + here.devices.start).collect();
    let mut ids: Vec<u32> = devices.iter().map(|&at| fleet.inventory().devices[at].id).collect();
    ids.sort_unstable();
    let candidate = Candidate { node, devices: &devices };
    Scored {
        cluster: here.cluster.clone(),
        node: here.name.clone(),
        devices: ids,
        score: round(best.total),
        terms: best.values.terms(fleet, choice, candidate, &question.weights),
    }
}
