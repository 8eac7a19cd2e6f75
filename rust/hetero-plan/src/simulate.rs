//! Many runs: each policy with each seed, on all cores.

use std::time::Duration;

use hetero_core::{Error, Fleet, Result};
use rayon::prelude::*;
use serde::Serialize;

use crate::arrival::arrivals;
use crate::contender::{Contender, occupancy};
use crate::difference::{Difference, differences};
use crate::generator::{Generator, Purpose};
use crate::run::{Run, run};
use crate::trace::{Trace, refuse};
use crate::watch::Watch;
use crate::world::World;

/// Demand may be so many thousandths of the capacity.
const MOST_ARRIVAL_MILLI: u32 = 10_000;

/// What is to be replayed.
#[derive(Clone, Debug)]
pub struct Question {
    /// Policies.
    pub policies: Vec<Contender>,
    /// Seeds; each policy runs with each.
    pub seeds: Vec<u64>,
    /// How much is to arrive, thousandths of the capacity.
    pub arrival_milli: u32,
    /// The policy, by name, that all others are compared with.
    pub against: Option<String>,
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
    /// How the others compare with the baseline; none where none is named.
    pub differences: Vec<Difference>,
}

/// Replays a trace on a fleet, which stays as it is. `now` is a clock that never goes back.
pub fn simulate(
    fleet: &Fleet,
    trace: &Trace,
    question: &Question,
    watch: &Watch,
    now: &(dyn Fn() -> Duration + Sync),
) -> Result<Report> {
    let arrival_milli = question.arrival_milli;
    if arrival_milli == 0 || arrival_milli > MOST_ARRIVAL_MILLI {
        return Err(refuse("arrival: demand is more than 0 and at most 10 times the capacity".to_owned()));
    }
    check_against(question.against.as_deref(), &question.policies)?;
    let world = World::new(fleet, trace)?;
    let drawn = |&seed: &u64| {
        let mut generator = Generator::new(seed, Purpose::Arrival);
        let tasks = arrivals(trace, world.capacity_milli, arrival_milli, &mut generator, watch)?;
        watch.expect(tasks.len() * question.policies.len());
        Ok((seed, tasks))
    };
    let one = |&(contender, (seed, tasks)): &(&Contender, &(u64, Vec<usize>))| {
        let mut placer = occupancy(contender, &world, trace, *seed)?;
        run(placer.as_mut(), &world, (&contender.name, *seed), tasks, arrival_milli, watch, now)
    };
    let runs = pool(question.threads)?.install(|| {
        let drawn = all(&question.seeds, watch, drawn)?;
        all(&pairs(&question.policies, &drawn), watch, one)
    })?;
    Ok(Report {
        mix: trace.mix.source.clone(),
        devices: world.capacity_milli / 1000,
        tasks: trace.tasks.len(),
        arrival: f64::from(arrival_milli) / 1000.0,
        differences: question.against.as_ref().map_or(Vec::new(), |against| differences(&runs, against)),
        runs,
    })
}

/// Does all jobs at once; the first that fails stops the others.
pub(crate) fn all<J: Sync, T: Send>(jobs: &[J], watch: &Watch, one: impl Fn(&J) -> Result<T> + Sync) -> Result<Vec<T>> {
    let started = |job: &J| watch.check().and_then(|()| one(job)).inspect_err(|_| watch.stop());
    let done: Vec<Result<T>> = jobs.par_iter().map(started).collect();
    let failed = done.iter().filter_map(|done| done.as_ref().err()).find(|&error| *error != Error::Interrupted);
    match failed.cloned() {
        Some(error) => Err(error),
        None => done.into_iter().collect(),
    }
}

/// Each of some with each of others.
pub(crate) fn pairs<'a, A, B>(some: &'a [A], others: &'a [B]) -> Vec<(&'a A, &'a B)> {
    some.iter().flat_map(|a| others.iter().map(move |b| (a, b))).collect()
}

/// Threads of one replay's own, so that nothing is shared with a process that was forked off.
pub(crate) fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| refuse(format!("threads: {e}; ask for fewer")))
}

fn check_against(against: Option<&str>, policies: &[Contender]) -> Result<()> {
    let Some(against) = against.filter(|&against| policies.iter().all(|policy| policy.name != against)) else {
        return Ok(());
    };
    let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
    let message = format!("against {against:?}: it is not replayed here; name one of {}", names.join(", "));
    Err(Error::InvalidRequest { message })
}
