//! What is to be planned: tasks, the order in which they count, and how long and how hard to look.

use std::time::Duration;

use hetero_core::request::Choice;
use hetero_core::{Error, Fleet, Request, Result, filter};
use serde::{Deserialize, Serialize};

use crate::batch::fair;

/// A step that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What it asks: its place in [`Batch::requests`].
    pub request: usize,
    /// Higher goes first.
    pub priority: i64,
    /// How long it has waited, seconds; of one priority the older goes first.
    pub age_s: u64,
}

/// Steps that wait. Many ask the same, so what they ask stands once.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// What is asked, each once.
    pub requests: Vec<Request>,
    /// The steps.
    pub tasks: Vec<Task>,
}

/// Which plan is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// Priority, then age, then allocation: no step goes without for the sake of a lower or younger one.
    Order,
    /// Priority, then teams in turn by how much of their quotas they have, then age and allocation.
    Fair,
    /// Allocation alone, whoever it is: for benchmarks.
    Allocation,
}

/// How a plan is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Solver {
    /// One step after the other, by the rules of a single placement.
    Greedy,
    /// Contents of whole nodes by column generation, then node after node emptied and filled anew.
    Search,
    /// A population of plans, crossed node by node.
    Genetic,
    /// An integer programme over every way to place every step, for small batches; solved outside this crate.
    Exact,
}

/// How much waiting, unusable capacity and power count in the cost of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostWeights {
    /// Of the part of what is asked that waits.
    pub alpha: f64,
    /// Of the part of the capacity that is free and that the mix cannot use.
    pub beta: f64,
    /// Of the part of the boards' power that devices in use may draw.
    pub gamma: f64,
}

impl Default for CostWeights {
    fn default() -> Self {
        Self { alpha: 1.0, beta: 0.1, gamma: 0.01 }
    }
}

/// How to look for a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How.
    pub solver: Solver,
    /// What for.
    pub objective: Objective,
    /// Of the cost.
    pub weights: CostWeights,
    /// The best plan so far is taken after so long, seconds.
    pub time_limit_s: f64,
    /// The best plan so far is taken after so many steps of the search; the same plan whatever the number of threads where
    /// the time limit does not come first.
    pub steps: Option<u64>,
    /// Of all that is drawn.
    pub seed: u64,
    /// Threads; 0 for one a core.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            solver: Solver::Search,
            objective: Objective::Order,
            weights: CostWeights::default(),
            time_limit_s: 10.0,
            steps: None,
            seed: 0,
            threads: 0,
        }
    }
}

/// A day: longer is a slip.
const MOST_SECONDS: f64 = 86_400.0;

impl Settings {
    /// Reads the JSON form.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let settings: Self = serde_json::from_slice(text).map_err(|e| refuse(&e.to_string()))?;
        let weights = [settings.weights.alpha, settings.weights.beta, settings.weights.gamma];
        if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) {
            return Err(refuse("alpha, beta and gamma are numbers from 0 on"));
        }
        if !(settings.time_limit_s > 0.0 && settings.time_limit_s <= MOST_SECONDS) {
            return Err(refuse("the time limit is more than 0 seconds and at most a day"));
        }
        Ok(settings)
    }

    pub(crate) fn time_limit(&self) -> Duration {
        Duration::from_secs_f64(self.time_limit_s)
    }
}

pub(crate) fn refuse(message: &str) -> Error {
    Error::InvalidRequest { message: format!("batch: {message}") }
}

impl Batch {
    /// Checks that every task asks something that is there.
    pub fn check(&self) -> Result<()> {
        match self.tasks.iter().find(|task| task.request >= self.requests.len()) {
            Some(_) => Err(refuse("a task asks what is not there")),
            None => Ok(()),
        }
    }

    /// The level of every task: what stands on a lower one goes before all that is on a higher one. Tasks of one level
    /// weigh by what they take.
    pub(crate) fn levels(&self, fleet: &Fleet, objective: Objective) -> Vec<u32> {
        match objective {
            Objective::Order => self.levels_by_age(),
            Objective::Fair => fair::levels(fleet, self),
            Objective::Allocation => vec![0; self.tasks.len()],
        }
    }

    fn levels_by_age(&self) -> Vec<u32> {
        let key = |task: &Task| (std::cmp::Reverse(task.priority), std::cmp::Reverse(task.age_s));
        let mut keys: Vec<_> = self.tasks.iter().map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        let level = |task: &Task| keys.partition_point(|other| *other < key(task));
        self.tasks.iter().map(|task| u32::try_from(level(task)).unwrap_or(u32::MAX)).collect()
    }
}

/// What a request counts, all its groups together: thousandths of a device; a core of a step that asks for no device counts as one of them.
///
/// It is what the first choice takes at least, on the kind of which it takes least: a plan does not gain by being wasteful.
pub(crate) fn value(fleet: &Fleet, request: &Request) -> u64 {
    let choice = &request.choices[0];
    std::iter::once(choice).chain(&choice.groups).map(|choice| value_of(fleet, choice)).sum()
}

fn value_of(fleet: &Fleet, choice: &Choice) -> u64 {
    if choice.is_cpu_only() {
        return choice.cpu_milli.div_ceil(1000).max(1);
    }
    let kinds = fleet.inventory().kinds.iter().zip(filter::kinds(fleet.inventory(), choice));
    let shares = kinds.filter(|(_, misfit)| misfit.is_none()).map(|(kind, _)| kind.share_for(choice));
    u64::from(choice.count) * u64::from(shares.min().unwrap_or(choice.share_milli))
}
