//! Everything that was considered: every candidate with its terms, every refusal, and how many passed each stage.

use serde::{Deserialize, Serialize};

use crate::cluster::{self, ClusterScore, Standing};
use crate::decision::{Decision, Penalty, Reason, Term};
use crate::error::Result;
use crate::filter;
use crate::fleet::Fleet;
use crate::low_score::sift;
use crate::place::{Best, Question, largest_that_fits, place};
use crate::reason::{Refusal, gather};
use crate::request::{Choice, Request};
use crate::score::{penalties, round};
use crate::work;
use crate::{gang, groups, partition};

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
    /// What was taken off their sum.
    #[serde(default)]
    pub penalties: Vec<Penalty>,
}

/// What became of one choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChoiceReport {
    /// The choice.
    pub choice: String,
    /// The clusters that have devices for it, in the order in which they are tried; none where they are not told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<ClusterScore>,
    /// Counts.
    pub stages: Stages,
    /// Candidates, best first; cluster by cluster where clusters are told apart.
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
    let request = &*cluster::kept(fleet, request);
    let choices = request.choices.iter().enumerate().map(|(i, _)| report(fleet, request, i, question)).collect();
    Ok(Explanation { decision, choices })
}

fn report(fleet: &Fleet, request: &Request, index: usize, question: &Question) -> ChoiceReport {
    let choice = &largest_that_fits(fleet, request, index, question);
    let clusters = cluster::ranked(fleet, request, index, question).unwrap_or_default();
    let (mut candidates, mut refusals) = scored(fleet, request, index, choice, question);
    if !clusters.is_empty() {
        // Each cluster for itself, as it is tried: counts and gangs may differ.
        candidates.clear();
        refusals.retain(|refusal| !clusters.iter().any(|standing| standing.has(refusal.node)));
        for standing in &clusters {
            let only = standing.only_here(request, index);
            let there = largest_that_fits(fleet, &only, index, question);
            let (good, refused) = scored(fleet, &only, index, &there, question);
            candidates.extend(good);
            refusals.extend(refused.into_iter().filter(|refusal| standing.has(refusal.node)));
        }
        refusals.sort_by_key(|refusal| refusal.node);
    }
    let impossible = refusals.iter().filter(|refusal| refusal.is_permanent).count();
    let nodes = fleet.inventory().nodes.len();
    ChoiceReport {
        choice: choice.label.clone(),
        clusters: clusters.iter().map(Standing::score).collect(),
        stages: Stages { nodes, possible: nodes - impossible, candidates: candidates.len() },
        candidates,
        reasons: gather(fleet, index, choice, &refusals),
    }
}

/// Who can serve a choice now, best first, and why the others cannot.
pub(crate) fn scored(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
) -> (Vec<Scored>, Vec<Refusal>) {
    if choice.has_groups() {
        let (good, refusals) = groups::considered(fleet, request, index, choice, question);
        return (good.iter().map(|joint| groups::scored(joint, fleet, choice, question)).collect(), refusals);
    }
    let (good, refusals) = considered(fleet, request, index, choice, question);
    (good.iter().map(|best| Scored::of(best, fleet, choice, question)).collect(), refusals)
}

/// The same before it is told, of a choice without groups. Of a step over several nodes, what each gives.
pub(crate) fn considered(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
) -> (Vec<Best>, Vec<Refusal>) {
    match (choice.units_milli, choice.peers) {
        (Some(_), _) => work::considered(fleet, request, index, choice, question),
        (None, 0) => considered_one(fleet, request, index, choice, question),
        (None, _) => gang::considered(fleet, request, index, choice, question),
    }
}

/// The same for a choice of one count on one node.
pub(crate) fn considered_one(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
) -> (Vec<Best>, Vec<Refusal>) {
    let fit = filter::kinds_of(fleet, request, index, choice);
    let (good, low) = sift(fleet, request, index, choice, question);
    let refusals = partition::refusals(fleet, (request, index), choice, question, (&fit, &low));
    (good, refusals)
}

impl Scored {
    pub(crate) fn of(best: &Best, fleet: &Fleet, choice: &Choice, question: &Question) -> Self {
        let node = fleet.node(best.node);
        Self {
            cluster: node.cluster.clone(),
            node: node.name.clone(),
            devices: best.ids(fleet),
            score: round(best.total),
            terms: best.values.terms(fleet, choice, best.candidate(), question),
            penalties: penalties(fleet, best.candidate(), question.policy),
        }
    }
}
