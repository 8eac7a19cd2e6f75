//! What is to be planned: steps, what they come after, and what they should be near.

use hetero_core::{Error, Request, Result};
use serde::{Deserialize, Serialize};

use crate::dag::order::Order;

/// Comparing steps with each other takes time and memory by the square of their number.
pub(crate) const MOST_STEPS: usize = 1000;

/// A step of a pipeline; others are named by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PipelineStep {
    /// Steps that end before it begins.
    pub after: Vec<usize>,
    /// Steps of these whose checkpoint or data it takes, the one first that matters most.
    pub near: Vec<usize>,
    /// How long it runs, seconds; `None` is unknown.
    pub duration_s: Option<u64>,
}

/// Steps with what they ask for, side by side.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// What each step asks for.
    pub requests: Vec<Request>,
    /// The steps.
    pub steps: Vec<PipelineStep>,
}

/// How to plan it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DagSettings {
    /// Points of the score, 0 to 100, that being nearer may cost.
    pub near_points: f64,
}

impl DagSettings {
    /// Reads the JSON form.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let settings: Self = serde_json::from_slice(text).map_err(|e| refuse(&e.to_string()))?;
        if !(0.0..=100.0).contains(&settings.near_points) {
            return Err(refuse("the points that nearness may cost are 0 to 100"));
        }
        Ok(settings)
    }
}

fn refuse(message: &str) -> Error {
    Error::InvalidRequest { message: format!("pipeline: {message}") }
}

impl Pipeline {
    /// Checks that steps are there and in no circle; what comes before what.
    pub(crate) fn order(&self) -> Result<Order> {
        let count = self.steps.len();
        if count > MOST_STEPS {
            return Err(refuse(&format!(
                "{count} steps; at most {MOST_STEPS} are planned together, so plan it in parts"
            )));
        }
        let others = |step: &PipelineStep| step.after.iter().chain(&step.near).any(|&other| other >= count);
        if self.requests.len() != count || self.steps.iter().any(others) {
            return Err(refuse("a step asks or names what is not there"));
        }
        if self.steps.iter().any(|step| step.duration_s == Some(0)) {
            return Err(refuse("a duration is at least a second"));
        }
        let mut order = Order::new(count);
        for (at, step) in self.steps.iter().enumerate() {
            for &other in &step.after {
                if other == at || order.is_before(at, other) {
                    return Err(refuse("its steps come after each other in a circle"));
                }
                order.put(other, at);
            }
        }
        let is_before = |at: usize, step: &PipelineStep| step.near.iter().all(|&other| order.is_before(other, at));
        if !self.steps.iter().enumerate().all(|(at, step)| is_before(at, step)) {
            return Err(refuse("a step is to be near one that it does not come after"));
        }
        Ok(order)
    }

    /// Whether every step says how long it runs.
    pub(crate) fn is_timed(&self) -> bool {
        self.steps.iter().all(|step| step.duration_s.is_some())
    }

    /// By step: how long it runs, seconds; where one does not say, each counts the same.
    pub(crate) fn ticks(&self) -> Vec<u64> {
        let is_timed = self.is_timed();
        self.steps.iter().map(|step| step.duration_s.filter(|_| is_timed).unwrap_or(1)).collect()
    }
}
