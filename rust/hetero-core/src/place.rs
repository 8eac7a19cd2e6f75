//! The decision: filter, pack and score, choice by choice; the first choice with a candidate wins.

mod placing;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::decision::{Decision, NoFit, Placement, Reason, Verdict};
use crate::error::Result;
use crate::explain::considered;
use crate::filter::{self, Misfit, View};
use crate::fleet::Fleet;
use crate::low_score::sift;
use crate::nearest::{fits, nearest};
use crate::pack::for_each_option;
use crate::ranking::{Asker, Outlook};
use crate::reason::{Refusal, gather, usable_kinds};
use crate::request::{Choice, Request};
use crate::score::{Before, Candidate, Policy, Values, Weights, values};
use crate::tie::Tie;
use crate::units::NodeIdx;
use crate::{cluster, gang, groups, partition, power, victims};

pub(crate) use placing::{granted, grants, placement, pool_of, trace_id};

/// How a request is to be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// How candidates are judged.
    pub policy: Policy,
    /// Weights of the terms.
    pub weights: Weights,
    /// Seed. No policy draws anything, so it tells questions apart and no more.
    pub seed: u64,
    /// What the caller wants to tell its questions apart by; empty when compiling and checking.
    pub key: String,
}

impl Default for Question {
    fn default() -> Self {
        Self { policy: Policy::Aware, weights: Policy::Aware.weights(), seed: 0, key: String::new() }
    }
}

/// The best way to serve a choice on one node, with what ranks it against others.
#[derive(Clone, Debug)]
pub struct Best {
    /// Where.
    pub node: NodeIdx,
    /// Which devices, by their positions in the columns.
    pub devices: Vec<usize>,
    /// Values of the terms.
    pub values: Values,
    /// The score.
    pub total: f64,
    /// What decides between it and others of its score.
    pub(crate) tie: Tie,
}

impl Best {
    /// As a candidate.
    pub fn candidate(&self) -> Candidate<'_> {
        Candidate { node: self.node, devices: &self.devices }
    }

    /// Whether the score is what the choice asks for.
    pub(crate) fn is_good(&self, choice: &Choice) -> bool {
        choice.min_score.is_none_or(|least| self.total >= f64::from(least))
    }

    /// Why it is not.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a score is 0 to 100
    pub(crate) fn too_low(&self, choice: &Choice) -> Misfit {
        let (have, want) = (Some(self.total as u64), choice.min_score.map(u64::from));
        Misfit { have, want, ..Misfit::of(Code::ScoreTooLow) }
    }

    /// The same on a node in the same state: devices lie at the same offsets.
    pub(crate) fn on(&self, node: NodeIdx, fleet: &Fleet) -> Self {
        let (here, there) = (fleet.node(node).devices.start, fleet.node(self.node).devices.start);
        let devices = self.devices.iter().map(|at| at - there + here).collect();
        Self { node, devices, ..self.clone() }
    }

    /// Ids of its devices, in order.
    pub fn ids(&self, fleet: &Fleet) -> Vec<u32> {
        let mut ids: Vec<u32> = self.devices.iter().map(|&at| fleet.inventory().devices[at].id).collect();
        ids.sort_unstable();
        ids
    }

    /// Higher score; then what decides between equal ones; then the node's name; then lower device ids.
    fn is_better_than(&self, other: &Self, fleet: &Fleet) -> bool {
        self.order(other).then(self.node.cmp(&other.node)).then_with(|| self.ids(fleet).cmp(&other.ids(fleet))).is_lt()
    }

    /// The order of nodes but for their names: higher score, then what decides between equal ones.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        other.total.total_cmp(&self.total).then(self.tie.cmp(&other.tie))
    }
}

/// Places one request, or says why not. Changes nothing.
///
/// A choice that no existing partition serves may be placed on one that comes from cutting an idle device, where the pool
/// allows it: the placement says so.
pub fn place(fleet: &Fleet, request: &Request, question: &Question) -> Result<Decision> {
    Ok(decide(fleet, request, question, true))
}

/// As [`place`], on devices as they are and all clusters as one pool: for plans of many steps.
pub fn place_uncut(fleet: &Fleet, request: &Request, question: &Question) -> Result<Decision> {
    Ok(decide(fleet, request, question, false))
}

/// `is_alone`: not one of many steps that are planned. Devices may be cut for it then, and it chooses between clusters.
fn decide(fleet: &Fleet, request: &Request, question: &Question, is_alone: bool) -> Decision {
    let request = &*cluster::kept(fleet, request);
    let mut reasons = Vec::new();
    for index in 0..request.choices.len() {
        let in_order = is_alone.then(|| in_clusters(fleet, request, index, question, &mut reasons)).flatten();
        match in_order.map_or_else(|| attempt(fleet, request, index, question, is_alone, &mut reasons), Ok) {
            Ok(mut placement) => {
                if is_alone {
                    placement.notes.extend(cluster::far(fleet, request, index, question, &placement.cluster));
                }
                return Decision::Placement(placement);
            }
            Err(refused) => reasons.extend(refused),
        }
    }
    let is_impossible = reasons.iter().all(|reason| reason.is_permanent);
    Decision::NoFit(Box::new(NoFit {
        verdict: if is_impossible { Verdict::Impossible } else { Verdict::Busy },
        requirement: request.requirement.clone(),
        policy: question.policy.word().to_owned(),
        nodes: Vec::new(),
        devices: Vec::new(),
        nearest: nearest(fleet, request, question, &reasons),
        victims: if is_impossible { None } else { victims::victims(fleet, request, question) },
        reasons,
        mix: fleet.mix().document.source.clone(),
        reserved: false,
        trace_id: trace_id(fleet, request, question),
    }))
}

/// One choice in the first cluster that it fits in, where clusters are told apart.
fn in_clusters(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    question: &Question,
    reasons: &mut Vec<Reason>,
) -> Option<Box<Placement>> {
    cluster::ranked(fleet, request, index, question)?.iter().find_map(|standing| {
        let only = standing.only_here(request, index);
        let mut placement = attempt(fleet, &only, index, question, true, reasons).ok()?;
        placement.cluster_score = Some(standing.score());
        Some(placement)
    })
}

/// One choice on all nodes that it may run on, or why on none of them. A placement takes the reasons of earlier choices.
fn attempt(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    question: &Question,
    may_cut: bool,
    reasons: &mut Vec<Reason>,
) -> std::result::Result<Box<Placement>, Vec<Reason>> {
    let choice = &largest_that_fits(fleet, request, index, question);
    let refused = |refusals: &[Refusal]| Err(gather(fleet, index, choice, refusals));
    if choice.has_groups() {
        return match groups::decide(fleet, request, index, choice, question) {
            Ok(joint) => {
                let reasons = std::mem::take(reasons);
                Ok(Box::new(groups::placement(&joint, fleet, request, question, index, choice, reasons)))
            }
            Err(refusals) => refused(&refusals),
        };
    }
    if choice.peers > 0 {
        return match gang::decide(fleet, request, index, choice, question) {
            Ok(found) => {
                let reasons = std::mem::take(reasons);
                Ok(Box::new(gang::placement(&found, fleet, request, question, index, choice, reasons)))
            }
            Err(_) if choice.units_milli.is_some() => refused(&considered(fleet, request, index, choice, question).1),
            Err(refusals) => refused(&refusals),
        };
    }
    match best_of_fleet(fleet, request, index, choice, question) {
        Some(best) if best.is_good(choice) => {
            let reasons = std::mem::take(reasons);
            Ok(Box::new(placement(fleet, request, question, index, choice, &best, reasons)))
        }
        _ if choice.units_milli.is_some() => refused(&considered(fleet, request, index, choice, question).1),
        best => {
            if may_cut && let Some(cut) = partition::placement(fleet, request, question, index, choice, reasons) {
                return Ok(Box::new(cut));
            }
            let low = best.map_or(Vec::new(), |_| sift(fleet, request, index, choice, question).1);
            let fit = filter::kinds_of(fleet, request, index, choice);
            refused(&partition::refusals(fleet, (request, index), choice, question, (&fit, &low)))
        }
    }
}

/// Where a request goes, without the words of a [`Decision`]: for callers that ask many times and show few answers.
///
/// A choice that needs several nodes or groups is passed over: what it takes is no [`Best`].
pub fn choose<'a>(fleet: &Fleet, request: &'a Request, question: &Question) -> Option<(Cow<'a, Choice>, Best)> {
    (0..request.choices.len()).find_map(|index| {
        let choice = largest_that_fits(fleet, request, index, question);
        let is_one = choice.peers == 0 && !choice.has_groups();
        let best = is_one.then(|| best_of_fleet(fleet, request, index, &choice, question)).flatten();
        let best = best.filter(|best| best.is_good(&choice))?;
        Some((choice, best))
    })
}

/// The choice with the most devices of its range that fit somewhere now, with the score that is asked; with the fewest
/// when none do.
///
/// Every count is tried: whole nodes and a floor of speed can fit many devices and not fewer.
pub(crate) fn largest_that_fits<'a>(
    fleet: &Fleet,
    request: &'a Request,
    index: usize,
    question: &Question,
) -> Cow<'a, Choice> {
    if let Some(settled) = gang::settle(fleet, request, index, question) {
        return Cow::Owned(settled);
    }
    let choice = question.policy.judged(&request.choices[index]);
    let Some(ceiling) = choice.count_ceiling else {
        return choice;
    };
    let is_good = |tried: &Choice| {
        let best = || best_of_fleet(fleet, request, index, tried, question);
        fits(fleet, request, index, tried) && (tried.min_score.is_none() || best().is_some_and(|b| b.is_good(tried)))
    };
    let largest_run = fleet.inventory().nodes.iter().flat_map(|node| &node.kinds).map(|run| run.devices.len()).max();
    let most = u32::try_from(largest_run.unwrap_or(0)).unwrap_or(u32::MAX).min(ceiling);
    let tried = (choice.count + 1..=most).rev().map(|count| choice.with_count(count)).find(is_good);
    Cow::Owned(tried.unwrap_or_else(|| choice.with_count(choice.count)))
}

/// The best candidate of all nodes; one node stands for all that are in the same state.
pub(crate) fn best_of_fleet(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
) -> Option<Best> {
    let fit = &filter::kinds_of(fleet, request, index, choice);
    if choice.place.is_anywhere()
        && let Some(best) = best_states(fleet, choice, fit, question)
    {
        let first = best.into_iter().filter_map(|state| fleet.states().first(state)).min();
        return first.and_then(|node| best_of_node(fleet, node, choice, fit, question));
    }
    let mut best: Option<Best> = None;
    for node in fleet.states().representatives_of(|node| filter::elsewhere(fleet.node(node), choice).is_none()) {
        if let Some(here) = best_of_node(fleet, node, choice, fit, question)
            && best.as_ref().is_none_or(|best| here.is_better_than(best, fleet))
        {
            best = Some(here);
        }
    }
    best
}

/// The states of nodes with the best candidates, by what is remembered of the choice; `None` when another thread is at it.
fn best_states(fleet: &Fleet, choice: &Choice, fit: &[Option<Misfit>], question: &Question) -> Option<Vec<usize>> {
    let states = fleet.states();
    let asker = Asker { choice, fit, policy: question.policy, weights: question.weights };
    let score = |state: usize| {
        let mut outlook: Option<Outlook> = None;
        for_each_candidate(fleet, states.first(state)?, choice, fit, question, |_, values, tie| {
            let (total, other_points) = (values.total(&question.weights), values.other_points(&question.weights));
            let here = Outlook { total, tie, least_tie: tie, other_points, lost: values.lost };
            outlook = Some(outlook.map_or(here, |outlook| outlook.joined(&here)));
        });
        outlook
    };
    fleet.memory().best(asker, fleet.inventory(), states, fleet.drift(), score)
}

/// The best candidate of every node that can serve a choice now, best first.
pub(crate) fn best_of_each(fleet: &Fleet, choice: &Choice, fit: &[Option<Misfit>], question: &Question) -> Vec<Best> {
    let states = fleet.states();
    let mut by_state: Vec<Option<Best>> = vec![None; states.len()];
    for node in states.representatives() {
        by_state[states.index(node)] = best_of_node(fleet, node, choice, fit, question);
    }
    let is_meant = |node: &NodeIdx| filter::elsewhere(fleet.node(*node), choice).is_none();
    let nodes = (0..fleet.inventory().nodes.len()).map(NodeIdx::new).filter(is_meant);
    let mut all: Vec<Best> =
        nodes.filter_map(|node| by_state[states.index(node)].as_ref().map(|best| best.on(node, fleet))).collect();
    all.sort_by(Best::order); // stable: ties keep the order of the nodes
    all
}

/// The best candidate of one node; `None` when it does not fit there now.
pub fn best_of_node(
    fleet: &Fleet,
    node: NodeIdx,
    choice: &Choice,
    fit: &[Option<Misfit>],
    question: &Question,
) -> Option<Best> {
    let mut best: Option<Best> = None;
    for_each_candidate(fleet, node, choice, fit, question, |devices, values, tie| {
        let total = values.total(&question.weights);
        let here = Best { node, devices: devices.to_vec(), values, total, tie };
        if best.as_ref().is_none_or(|best| here.is_better_than(best, fleet)) {
            best = Some(here);
        }
    });
    best
}

/// Calls `each` with the devices of every candidate of one node, their values, and what decides between equal ones.
pub(crate) fn for_each_candidate(
    fleet: &Fleet,
    node: NodeIdx,
    choice: &Choice,
    fit: &[Option<Misfit>],
    question: &Question,
    mut each: impl FnMut(&[usize], Values, Tie),
) {
    let (inventory, capacity, power_of) =
        (fleet.inventory(), fleet.capacity(), |at| power::told_apart(fleet, choice, at));
    let fit = usable_kinds(fleet, node, choice, fit);
    let share = |at: usize| inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
    let view = View {
        free_milli: |at| capacity.free_for(at, choice, share(at)),
        cpu_milli: capacity.free_cpu_milli[node.at()],
        memory_mib: capacity.free_memory_mib[node.at()],
    };
    if !filter::serves_now(inventory, fleet.node(node), choice, &fit, &view) {
        return;
    }
    let mut before = Before::of(fleet, node);
    let mut consider = |devices: &[usize]| {
        if choice.one_numa_node && !is_on_one_numa_node(fleet, devices) {
            return;
        }
        if !power::is_within(fleet, choice, Candidate { node, devices }) {
            return; // another device of the node draws less
        }
        let values = values(fleet, choice, Candidate { node, devices }, &mut before, question);
        each(devices, values, Tie::of(fleet, choice, devices, &before));
    };
    if choice.is_cpu_only() {
        consider(&[]);
    } else {
        for_each_option(inventory, fleet.node(node), capacity, choice, &fit, power_of, consider);
    }
}

pub(crate) fn is_on_one_numa_node(fleet: &Fleet, devices: &[usize]) -> bool {
    let numa = |&at: &usize| fleet.inventory().devices[at].numa;
    devices.first().and_then(numa).is_some_and(|first| devices.iter().all(|at| numa(at) == Some(first)))
}
