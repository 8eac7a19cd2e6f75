//! What a replay with time tells.

use std::collections::BTreeMap;
use std::time::Duration;

use indexmap::IndexMap;
use serde::Serialize;

use super::queue::Order;
use super::run::Rules;
use super::{MS_OF_S, TimedQuestion};
use crate::run::{DecisionTime, decision_time, rounded};
use crate::trace::Trace;

/// Allocation is told at so many moments, equally far apart.
const MOMENTS: u64 = 100;

/// How long tasks of one size waited, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Waiting {
    /// Tasks that started.
    pub tasks: usize,
    /// Half of them waited no longer.
    pub p50: f64,
    /// 99 of 100 waited no longer.
    pub p99: f64,
    /// Nobody waited longer.
    pub max: f64,
}

/// How one policy fared under one order of the queue with one seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimedRun {
    /// The policy.
    pub policy: String,
    /// The order.
    pub order: &'static str,
    /// The seed.
    pub seed: u64,
    /// Waiting by number of devices.
    pub waiting_s: IndexMap<String, Waiting>,
    /// The share of all devices that is allocated, mean over the time from the first arrival to the last.
    pub allocated_ratio: f64,
    /// The same from moment to moment: 100 equal parts of that time, the state at the end of each.
    pub allocated_over_time: Vec<f64>,
    /// Tasks that started.
    pub started: usize,
    /// Tasks that no node can take, however empty.
    pub never_started: usize,
    /// Decisions on tasks that had been tried before.
    pub retries: usize,
    /// How often a node was kept for a task that had waited long.
    pub kept: usize,
    /// Decisions.
    pub decisions: usize,
    /// Time spent placing, all decisions together.
    pub seconds: f64,
    /// Time of one decision.
    pub decision_us: DecisionTime,
}

/// All runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimedReport {
    /// Where the mix comes from.
    pub mix: String,
    /// Healthy devices of the fleet.
    pub devices: u64,
    /// Tasks of the trace.
    pub tasks: usize,
    /// Tasks of it that never ran, so that nobody knows for how long: left out.
    pub without_duration: usize,
    /// By what times between arrivals are divided.
    pub squeeze: f64,
    /// How long a task waits before a node is kept for it.
    pub patience_s: u64,
    /// From the first arrival to the last.
    pub arrival_s: f64,
    /// What the tasks would allocate in that time if all could start at once, over all devices.
    pub offered_ratio: f64,
    /// Policy by policy, each with all orders, each with all seeds, in the order of the question.
    pub runs: Vec<TimedRun>,
}

/// What is counted while a run goes on.
pub(super) struct Outcome {
    order: Order,
    /// First and last arrival.
    span: (u64, u64),
    at: u64,
    pub(super) allocated_milli: u64,
    capacity_milli: u64,
    area: u128,
    moments: Vec<u64>,
    waited: BTreeMap<u32, Vec<u64>>,
    pub(super) never_started: usize,
    pub(super) retries: usize,
    pub(super) kept: usize,
    pub(super) times: Vec<Duration>,
}

impl Outcome {
    pub(super) fn new(order: Order, span: (u64, u64), (allocated_milli, capacity_milli): (u64, u64)) -> Self {
        let (area, moments, waited, times) = (0, Vec::new(), BTreeMap::new(), Vec::new());
        let (never_started, retries, kept, at) = (0, 0, 0, span.0);
        Self {
            order,
            span,
            at,
            allocated_milli,
            capacity_milli,
            area,
            moments,
            waited,
            never_started,
            retries,
            kept,
            times,
        }
    }

    /// Time goes on with what is allocated.
    pub(super) fn clock(&mut self, to: u64) {
        let end = to.min(self.span.1);
        self.area += u128::from(end.saturating_sub(self.at)) * u128::from(self.allocated_milli);
        let length = self.span.1 - self.span.0;
        let is_past = |moment: u64| self.span.0 + length * (moment + 1) / MOMENTS < to;
        while (self.moments.len() as u64) < MOMENTS && is_past(self.moments.len() as u64) {
            self.moments.push(self.allocated_milli);
        }
        self.at = to;
    }

    pub(super) fn waited(&mut self, size: u32, ms: u64) {
        self.waited.entry(size).or_default().push(ms);
    }

    pub(super) fn told(mut self, policy: &str, seed: u64) -> TimedRun {
        self.moments.resize(usize::try_from(MOMENTS).unwrap_or(0), self.allocated_milli);
        let capacity = self.capacity_milli as f64;
        let length = (self.span.1 - self.span.0).max(1) as f64;
        TimedRun {
            policy: policy.to_owned(),
            order: self.order.word(),
            seed,
            started: self.waited.values().map(Vec::len).sum(),
            waiting_s: self.waited.into_iter().map(|(size, times)| (size.to_string(), waiting(times))).collect(),
            allocated_ratio: rounded(self.area as f64 / length / capacity),
            allocated_over_time: self.moments.into_iter().map(|milli| rounded(milli as f64 / capacity)).collect(),
            never_started: self.never_started,
            retries: self.retries,
            kept: self.kept,
            decisions: self.times.len(),
            seconds: rounded(self.times.iter().sum::<Duration>().as_secs_f64()),
            decision_us: decision_time(self.times),
        }
    }
}

/// Nearest rank.
fn waiting(mut times: Vec<u64>) -> Waiting {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1] as f64 / MS_OF_S as f64;
    Waiting { tasks: times.len(), p50: at(50), p99: at(99), max: at(100) }
}

pub(super) fn report(rules: &Rules<'_>, trace: &Trace, question: &TimedQuestion, runs: Vec<TimedRun>) -> TimedReport {
    let tasks = rules.tasks;
    let (first, last) = (tasks[0].arrives_ms, tasks[tasks.len() - 1].arrives_ms);
    let work = |task: &super::run::Task| {
        u128::from(task.lasts_ms.min(last - task.arrives_ms)) * u128::from(rules.world.demand_milli(task.class))
    };
    let capacity = rules.world.capacity_milli as f64 * (last - first).max(1) as f64;
    TimedReport {
        mix: trace.mix.source.clone(),
        devices: rules.world.capacity_milli / 1000,
        tasks: trace.tasks.len(),
        without_duration: trace.tasks.len() - tasks.len(),
        squeeze: f64::from(question.squeeze_milli) / 1000.0,
        patience_s: question.patience_s,
        arrival_s: (last - first) as f64 / MS_OF_S as f64,
        offered_ratio: rounded(tasks.iter().map(work).sum::<u128>() as f64 / capacity),
        runs,
    }
}
