//! How every candidate of a request scores, over all choices and nodes, and how well each kind of device suits it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::affinity::{self, Affinity};
use crate::codes::Code;
use crate::decision::{Reason, Term};
use crate::explain::{Scored, considered};
use crate::fleet::Fleet;
use crate::place::{Question, largest_that_fits};
use crate::reason::gather;
use crate::request::{Choice, Request};
use crate::tie::Tie;
use crate::{cluster, groups};

/// The best devices of one node for one choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateScore {
    /// The choice.
    pub choice: String,
    /// Its place in the order of choices.
    pub choice_index: usize,
    /// Where, which devices, and the parts of the score.
    #[serde(flatten)]
    pub scored: Scored,
    /// Of the kind of the devices; `None` for a step that takes none.
    pub affinity: Option<f64>,
}

/// How well one kind of device suits one choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindAffinity {
    /// Catalog key or model, with the partition.
    pub kind: String,
    /// Catalog key; `None` for a device that the catalog does not have.
    pub sku: Option<String>,
    /// Size class of its memory.
    pub memory_mib: Option<u64>,
    /// The choice.
    pub choice: String,
    /// Its place in the order of choices.
    pub choice_index: usize,
    /// 0 where the kind cannot serve the choice, else 0.1 to 100.
    pub affinity: f64,
    /// The parts of the affinity.
    pub terms: Vec<Term>,
    /// Why the kind cannot serve the choice.
    pub code: Option<Code>,
}

/// All scores of one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreReport {
    /// Who can serve it now, best first.
    pub candidates: Vec<CandidateScore>,
    /// Who cannot, choice by choice, nearest miss first.
    pub refusals: Vec<Reason>,
    /// Every kind of the fleet, choice by choice, best first.
    pub kinds: Vec<KindAffinity>,
}

/// Scores every candidate of a request. Unlike [`crate::place()`], which takes the first choice that fits, it compares
/// the candidates of all choices.
pub fn report(fleet: &Fleet, request: &Request, question: &Question) -> ScoreReport {
    let request = &*cluster::kept(fleet, request);
    let choices: Vec<Cow<'_, Choice>> =
        (0..request.choices.len()).map(|index| largest_that_fits(fleet, request, index, question)).collect();
    let mut ranked: Vec<(f64, Tie, CandidateScore)> = Vec::new();
    let (mut reasons, mut kinds) = (Vec::new(), Vec::new());
    for (index, choice) in choices.iter().enumerate() {
        let of_choice = |scored: Scored, first: Option<usize>| CandidateScore {
            choice: choice.label.clone(),
            choice_index: index,
            scored,
            affinity: first.map(|at| affinity_of(fleet, at, index, choice, question)),
        };
        let refusals = if choice.has_groups() {
            let (good, refusals) = groups::considered(fleet, request, index, choice, question);
            ranked.extend(good.iter().map(|joint| {
                let scored = groups::scored(joint, fleet, choice, question);
                let first = joint.parts[0].devices.first().copied();
                (joint.total, joint.tie, of_choice(scored, first))
            }));
            refusals
        } else {
            let (good, refusals) = considered(fleet, request, index, choice, question);
            ranked.extend(good.iter().map(|best| {
                let scored = Scored::of(best, fleet, choice, question);
                (best.total, best.tie, of_choice(scored, best.devices.first().copied()))
            }));
            refusals
        };
        reasons.extend(gather(fleet, index, choice, &refusals));
        kinds.extend(kinds_of(fleet, index, choice, question));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))); // stable: ties keep the order of choices and nodes
    let candidates = ranked.into_iter().map(|(_, _, candidate)| candidate).collect();
    ScoreReport { candidates, refusals: reasons, kinds }
}

fn affinity_of(fleet: &Fleet, at: usize, index: usize, choice: &Choice, question: &Question) -> f64 {
    let inventory = fleet.inventory();
    affinity::of_choice(&inventory.kinds[inventory.devices[at].kind.at()], index, choice, question.policy).value
}

fn kinds_of(fleet: &Fleet, index: usize, choice: &Choice, question: &Question) -> Vec<KindAffinity> {
    let inventory = fleet.inventory();
    let mut is_there = vec![false; inventory.kinds.len()]; // a group of no devices still has a kind
    inventory.devices.iter().for_each(|device| is_there[device.kind.at()] = true);
    let present = inventory.kinds.iter().zip(is_there).filter(|(_, is_there)| *is_there);
    let mut rows: Vec<KindAffinity> = present
        .map(|(kind, _)| {
            let Affinity { value, terms, code, .. } = affinity::of_choice(kind, index, choice, question.policy);
            KindAffinity {
                kind: kind.label(),
                sku: kind.sku.clone(),
                memory_mib: kind.nominal_mib,
                choice: choice.label.clone(),
                choice_index: index,
                affinity: value,
                terms,
                code,
            }
        })
        .collect();
    rows.sort_by(|a, b| {
        b.affinity.total_cmp(&a.affinity).then_with(|| (&a.kind, a.memory_mib).cmp(&(&b.kind, b.memory_mib)))
    });
    rows
}
