//! The replay with time: tasks come when they came, wait until they fit, run as long as they ran, and end.

mod began;
mod keeping;
mod queue;
mod report;
mod run;

use std::time::Duration;

use hetero_core::{Fleet, Result};

pub use queue::Order;
pub use report::{TimedReport, TimedRun, Waiting};

use crate::contender::{Contender, occupancy};
use crate::simulate::{all, pairs, pool};
use crate::trace::{Trace, refuse};
use crate::watch::Watch;
use crate::world::World;
use run::{Rules, Run, Task};

/// Times are counted in these.
const MS_OF_S: u64 = 1000;

/// What is to be replayed.
#[derive(Clone, Debug)]
pub struct TimedQuestion {
    /// Policies.
    pub policies: Vec<Contender>,
    /// Seeds; each policy runs with each. They decide how ties go.
    pub seeds: Vec<u64>,
    /// Orders of the queue; each policy runs with each.
    pub orders: Vec<Order>,
    /// How much closer together tasks come than they did, thousandths: 1000 is as they did. They run as long as they ran.
    pub squeeze_milli: u32,
    /// How long a task waits before a node is kept for it, seconds.
    pub patience_s: u64,
    /// Threads; 0 for one a core.
    pub threads: usize,
}

/// Replays a trace on a fleet, which stays as it is. `now` is a clock that never goes back.
pub fn simulate_timed(
    fleet: &Fleet,
    trace: &Trace,
    question: &TimedQuestion,
    watch: &Watch,
    now: &(dyn Fn() -> Duration + Sync),
) -> Result<TimedReport> {
    let tasks = tasks(trace, question.squeeze_milli)?;
    let world = World::new(fleet, trace)?;
    let rules = Rules { world: &world, tasks: &tasks, patience_ms: question.patience_s.saturating_mul(MS_OF_S) };
    let under: Vec<(Order, u64)> =
        pairs(&question.orders, &question.seeds).into_iter().map(|(&order, &seed)| (order, seed)).collect();
    watch.expect(tasks.len() * question.policies.len() * under.len());
    let one = |&(contender, &(order, seed)): &(&Contender, &(Order, u64))| {
        let occupancy = occupancy(contender, &world, trace, seed)?;
        Run::new(&rules, occupancy, order).replay(watch, now).map(|outcome| outcome.told(&contender.name, seed))
    };
    let jobs = pairs(&question.policies, &under);
    let runs = pool(question.threads)?.install(|| all(&jobs, watch, one))?;
    Ok(report::report(&rules, trace, question, runs))
}

/// The tasks that ran, by arrival.
fn tasks(trace: &Trace, squeeze_milli: u32) -> Result<Vec<Task>> {
    if squeeze_milli == 0 {
        return Err(refuse("squeeze: times between arrivals are divided by more than 0".to_owned()));
    }
    let Some(times) = &trace.times else {
        return Err(refuse("trace: it does not tell when tasks came and how long they ran".to_owned()));
    };
    let ran = trace.tasks.iter().zip(times).filter_map(|(&class, times)| {
        let arrives_ms = u128::from(times.arrives_s) * u128::from(MS_OF_S) * 1000 / u128::from(squeeze_milli);
        Some(Task {
            class,
            arrives_ms: u64::try_from(arrives_ms).unwrap_or(u64::MAX),
            lasts_ms: times.lasts_s?.saturating_mul(MS_OF_S),
            priority: times.priority,
        })
    });
    let mut tasks: Vec<Task> = ran.collect();
    if tasks.is_empty() {
        return Err(refuse("trace: no task ran".to_owned()));
    }
    tasks.sort_by_key(|task| task.arrives_ms); // stable: the order of the trace otherwise
    Ok(tasks)
}
