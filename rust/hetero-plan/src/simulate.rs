//! Many runs: each policy with each seed, on all cores.

use std::time::Duration;

use hetero_core::{Fleet, Result};
use rayon::prelude::*;
use serde::Serialize;

use crate::arrival::arrivals;
use crate::aware::Aware;
use crate::baseline::Baseline;
use crate::generator::{Generator, Purpose};
use crate::policy::Policy;
use crate::run::{Placer, Run, run};
use crate::trace::{Trace, refuse};
use crate::world::World;

/// Demand may be so many thousandths of the capacity.
const MOST_ARRIVAL_MILLI: u32 = 10_000;

/// What is to be replayed.
#[derive(Clone, Debug)]
pub struct Question {
    /// Policies.
    pub policies: Vec<Policy>,
    /// Seeds; each policy runs with each.
    pub seeds: Vec<u64>,
    /// How much is to arrive, thousandths of the capacity.
    pub arrival_milli: u32,
    /// Threads; 0 for one a core.
    pub threads: usize,
}

/// All runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Where the mix comes from.
    pub mix: String,
    /// Healthy devices of the fleet.
    pub devices: u64,
    /// Tasks of the trace.
    pub tasks: usize,
    /// How much arrives, in capacities.
    pub arrival: f64,
    /// Policy by policy, each with all seeds, in the order of the question.
    pub runs: Vec<Run>,
}

/// Replays a trace on a fleet, which stays as it is. `now` is a clock that never goes back.
pub fn simulate(
    fleet: &Fleet,
    trace: &Trace,
    question: &Question,
    now: &(dyn Fn() -> Duration + Sync),
) -> Result<Report> {
    let arrival_milli = question.arrival_milli;
    if arrival_milli == 0 || arrival_milli > MOST_ARRIVAL_MILLI {
        return Err(refuse("arrival: demand is more than 0 and at most 10 times the capacity".to_owned()));
    }
    let world = World::new(fleet, trace)?;
    let one = |&(policy, seed): &(Policy, u64)| {
        let mut generator = Generator::new(seed, Purpose::Arrival);
        let tasks = arrivals(trace, world.capacity_milli, arrival_milli, &mut generator)?;
        let mut placer: Box<dyn Placer + '_> = match policy {
            Policy::Aware => Box::new(Aware::new(&world, trace, seed)?),
            _ => Box::new(Baseline::new(&world, policy, seed)),
        };
        run(placer.as_mut(), &world, (policy.word(), seed), &tasks, arrival_milli, now)
    };
    let jobs: Vec<(Policy, u64)> =
        question.policies.iter().flat_map(|&policy| question.seeds.iter().map(move |&seed| (policy, seed))).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(question.threads).build();
    let pool = pool.map_err(|e| refuse(format!("threads: {e}; ask for fewer")))?;
    let runs = pool.install(|| jobs.par_iter().map(one).collect::<Result<Vec<Run>>>())?;
    Ok(Report {
        mix: trace.mix.source.clone(),
        devices: world.capacity_milli / 1000,
        tasks: trace.tasks.len(),
        arrival: f64::from(arrival_milli) / 1000.0,
        runs,
    })
}
