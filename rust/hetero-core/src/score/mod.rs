//! Scores: five terms, each 0..=1 before its weight, one file each. Weights are data.

pub(crate) mod draw;
pub(crate) mod fragmentation;
pub mod performance;
mod policy;
mod power;
pub mod report;
pub mod topology;

use serde::{Deserialize, Serialize};

use crate::decision::{Penalty, Term};
use crate::error::{Error, Result};
use crate::fleet::Fleet;
use crate::place::Question;
use crate::request::Choice;
use crate::units::NodeIdx;
use crate::worth::Worth;

pub(crate) use fragmentation::Before;
pub use policy::Policy;
use power::Headroom;
pub(crate) use power::PENALTY_NAME as POWER_HEADROOM;

/// How much each term counts. Only the proportions matter: the weights that apply are scaled to add up to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Speed, up to what the step needs.
    pub performance: u32,
    /// Nearness of the chosen devices; left out for steps of one device.
    pub topology: u32,
    /// What the rest of the node is still good for.
    pub fragmentation: u32,
    /// Power headroom.
    pub power: u32,
    /// Little power that the step adds; 0 unless it is asked for.
    #[serde(default)]
    pub draw: u32,
    /// What a pair of devices loses when it is on one node but across NUMA nodes, thousandths.
    #[serde(default = "numa_penalty_milli")]
    pub numa_penalty_milli: u32,
}

/// Weights of both policies.
pub const WEIGHTS: Weights = Weights {
    performance: 50,
    topology: 25,
    fragmentation: 15,
    power: 10,
    draw: 0,
    numa_penalty_milli: topology::NUMA_PENALTY_MILLI,
};

fn numa_penalty_milli() -> u32 {
    topology::NUMA_PENALTY_MILLI
}

impl Weights {
    /// Reads the JSON form; all zero would leave nothing to compare.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let refuse = |message: String| Error::InvalidRequest { message: format!("weights: {message}") };
        let weights: Self = serde_json::from_slice(text).map_err(|e| refuse(e.to_string()))?;
        let all = [weights.performance, weights.topology, weights.fragmentation, weights.power, weights.draw];
        if all.iter().any(|&weight| weight > 1000) || weights.performance + weights.fragmentation + weights.power == 0 {
            return Err(refuse("each is 0 to 1000, and not all but topology and draw may be 0".to_owned()));
        }
        if weights.numa_penalty_milli > topology::MOST_NUMA_PENALTY_MILLI {
            return Err(refuse("numa_penalty_milli is 0 to 500".to_owned()));
        }
        Ok(weights)
    }

    /// Points that the whole value of fragmentation is worth in a choice.
    pub(crate) fn points_of_fragmentation(&self, choice: &Choice) -> f64 {
        let topology = if choice.total() < 2 { 0 } else { self.topology };
        let draw = if choice.is_cpu_only() { 0 } else { self.draw };
        let all = self.performance + topology + self.fragmentation + self.power + draw;
        f64::from(self.fragmentation) * 100.0 / f64::from(all)
    }
}

/// Values of the terms for one way to serve a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// See [`performance`].
    pub performance: f64,
    /// See [`topology`]; `None` when it does not apply.
    pub topology: Option<f64>,
    /// See [`fragmentation`].
    pub fragmentation: f64,
    /// See [`power`]; 0 where headroom is missing.
    pub power: f64,
    /// See [`draw`]; `None` where the weight is 0 or the step takes no device.
    pub draw: Option<f64>,
    /// Points off the total.
    pub penalty: f64,
    /// What fragmentation comes from.
    pub(crate) lost: Worth,
}

/// One way to serve a choice: a node and some of its devices, by their positions in the columns.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Where.
    pub node: NodeIdx,
    /// Which.
    pub devices: &'a [usize],
}

/// The values of all terms for one candidate; `before` is of its node.
pub(crate) fn values(
    fleet: &Fleet,
    choice: &Choice,
    candidate: Candidate<'_>,
    before: &mut Before<'_>,
    question: &Question,
) -> Values {
    let policy = question.policy;
    let headroom = Headroom::of(fleet, candidate);
    let lost = fragmentation::lost(fleet, choice, candidate, before);
    Values {
        performance: performance::value(fleet, choice, candidate, policy),
        topology: topology::value(fleet, candidate, question.weights.numa_penalty_milli),
        fragmentation: fragmentation::value(lost.total() as f64),
        power: headroom.value(policy),
        draw: (question.weights.draw > 0).then(|| draw::value(fleet, candidate)).flatten(),
        penalty: headroom.penalty(policy),
        lost,
    }
}

impl Values {
    /// Name, value and weight of every term.
    pub(crate) fn weighted(&self, weights: &Weights) -> [(&'static str, f64, u32); 5] {
        let topology = self.topology.map_or(0, |_| weights.topology);
        let draw = self.draw.map_or(0, |_| weights.draw);
        [
            ("performance", self.performance, weights.performance),
            ("topology", self.topology.unwrap_or(0.0), topology),
            ("fragmentation", self.fragmentation, weights.fragmentation),
            ("power", self.power, weights.power),
            ("draw", self.draw.unwrap_or(0.0), draw),
        ]
    }

    /// The score, 0..=100: what the terms add up to, less the penalty.
    pub fn total(&self, weights: &Weights) -> f64 {
        let terms = self.weighted(weights);
        let all: u32 = terms.iter().map(|(_, _, weight)| weight).sum();
        let sum: f64 = terms.iter().map(|(_, value, weight)| value * f64::from(*weight)).sum();
        (sum * 100.0 / f64::from(all) - self.penalty).clamp(0.0, 100.0)
    }

    /// Points of all terms but fragmentation, less the penalty.
    pub(crate) fn other_points(&self, weights: &Weights) -> f64 {
        let terms = self.weighted(weights);
        let all: u32 = terms.iter().map(|(_, _, weight)| weight).sum();
        let others = terms.iter().filter(|(name, _, _)| *name != "fragmentation");
        let sum: f64 = others.map(|(_, value, weight)| value * f64::from(*weight)).sum();
        sum * 100.0 / f64::from(all) - self.penalty
    }

    /// The terms that apply, for a person to read.
    pub fn terms(&self, fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>, question: &Question) -> Vec<Term> {
        self.terms_with(question, |name| match name {
            "performance" => performance::why(fleet, choice, candidate, question.policy),
            "topology" => topology::why(fleet, candidate),
            "fragmentation" => fragmentation::why(fleet, choice, candidate),
            "draw" => draw::why(fleet, candidate),
            _ => Headroom::of(fleet, candidate).why(fleet, candidate),
        })
    }

    /// The terms that apply, with what `why` says of each.
    pub(crate) fn terms_with(&self, question: &Question, why: impl Fn(&str) -> String) -> Vec<Term> {
        let terms = self.weighted(&question.weights);
        let all: u32 = terms.iter().map(|(_, _, weight)| weight).sum();
        let applies = |name: &str| match name {
            "topology" => self.topology.is_some(),
            "draw" => self.draw.is_some(),
            _ => true,
        };
        let shown = terms.iter().filter(|(name, _, _)| applies(name));
        shown
            .map(|&(name, value, weight)| {
                let weight = f64::from(weight) * 100.0 / f64::from(all);
                let why = why(name);
                Term {
                    name: name.to_owned(),
                    value: round(value),
                    weight: round(weight),
                    points: round(value * weight),
                    why,
                }
            })
            .collect()
    }
}

/// What the power of a candidate's node comes to, in words.
pub(crate) fn headroom(fleet: &Fleet, candidate: Candidate<'_>) -> String {
    Headroom::of(fleet, candidate).why(fleet, candidate)
}

/// What was taken off the sum of a candidate's points.
pub fn penalties(fleet: &Fleet, candidate: Candidate<'_>, policy: Policy) -> Vec<Penalty> {
    Headroom::of(fleet, candidate).penalty_line(fleet, candidate, policy).into_iter().collect()
}

/// Four decimals: what a person may want to compare, without the noise of division.
pub fn round(x: f64) -> f64 {
    (x * 10_000.0).round() / 10_000.0
}

/// Maps a rate to 0..1 with one half at `reference`, so that a faster entry in the catalog moves no other score.
pub(crate) fn saturating(rate: f64, reference: f64) -> f64 {
    rate / (rate + reference)
}
