//! From a batch to a plan.

use std::time::Duration;

use hetero_core::spot::{self, Spot};
use hetero_core::units::WHOLE_MILLI;
use hetero_core::{Decision, Error, Fleet, Question, Result, place_uncut};
use serde::Serialize;

use crate::batch::ask::{Batch, Objective, Settings, Solver, Task, refuse, value};
use crate::batch::control::Control;
use crate::batch::cost::{Cost, Judge};
use crate::batch::greedy::greedy;
use crate::batch::pool::compare_changes;
use crate::batch::search::{Looked, look};

/// Who goes where, and how good that is.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// By task: where it goes; `None` for those that wait.
    #[serde(skip)]
    pub spots: Vec<Option<Spot>>,
    /// How it was looked for.
    pub solver: Solver,
    /// What for.
    pub objective: Objective,
    /// Tasks that are placed.
    pub placed: usize,
    /// Tasks that wait.
    pub waiting: usize,
    /// What the placed tasks count: thousandths of a device, a core of a task without devices as one of them.
    pub value: u64,
    /// What all tasks count.
    pub asked: u64,
    /// No plan counts more than this.
    pub bound: u64,
    /// Where the bound comes from.
    pub bound_source: &'static str,
    /// How far the plan may be from the best, as a part of the bound; 0 when the bound is.
    pub gap: f64,
    /// The part of the healthy devices that is allocated once all is placed; `None` without any.
    pub allocated_ratio: Option<f64>,
    /// No plan allocates more; `None` where that is not known.
    pub allocated_bound_ratio: Option<f64>,
    /// What the plan costs.
    pub cost: Cost,
    /// Steps of the search.
    pub steps: u64,
    /// Time spent.
    pub seconds: f64,
}

/// Plans a batch on a fleet, which stays as it is.
pub fn place_all(fleet: &Fleet, batch: &Batch, settings: &Settings, control: &Control<'_>) -> Result<Plan> {
    batch.check()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build();
    let refuse =
        |e: rayon::ThreadPoolBuildError| Error::InvalidRequest { message: format!("threads: {e}; ask for fewer") };
    pool.map_err(refuse)?.install(|| plan(fleet, batch, settings, control))
}

fn plan(fleet: &Fleet, batch: &Batch, settings: &Settings, control: &Control<'_>) -> Result<Plan> {
    let start = (control.now)();
    let levels = batch.levels(fleet, settings.objective);
    let values: Vec<u64> = batch.requests.iter().map(|request| value(fleet, request)).collect();
    let mut spots = vec![None; batch.tasks.len()];
    greedy(&mut fleet.clone(), batch, (&levels, &values), &mut spots, control)?;
    let first = spots.clone();
    let looked = match settings.solver {
        Solver::Exact => return Err(refuse("an exact plan is made by its integer programme")),
        Solver::Greedy => Looked::bounded(fleet, batch, &values),
        _ => look(fleet, batch, (&levels, &values), settings, (control, start), &mut spots)?,
    };
    let mut admitted = spots.clone();
    settle(fleet, batch, &mut admitted);
    if admitted != spots && is_worse(batch, &admitted, &first, (&levels, &values)) {
        spots = first; // what the core refuses of a plan may be more than it gained
    }
    report(fleet, batch, settings, spots, &looked, (control, start))
}

/// Whether a plan places less than another.
fn is_worse(batch: &Batch, spots: &[Option<Spot>], other: &[Option<Spot>], (levels, values): (&[u32], &[u64])) -> bool {
    let change = |(task, (spot, other)): (usize, (&Option<Spot>, &Option<Spot>))| {
        let value = i64::try_from(values[batch.tasks[task].request]).unwrap_or(i64::MAX);
        let change = i64::from(spot.is_some()) - i64::from(other.is_some());
        (change != 0).then_some((levels[task], change * value))
    };
    compare_changes(spots.iter().zip(other).enumerate().filter_map(change).collect()).is_lt()
}

/// Checks a plan, places what still fits, and says how good it is.
pub(crate) fn report(
    fleet: &Fleet,
    batch: &Batch,
    settings: &Settings,
    mut spots: Vec<Option<Spot>>,
    looked: &Looked,
    (control, start): (&Control<'_>, Duration),
) -> Result<Plan> {
    let levels = batch.levels(fleet, settings.objective);
    let values: Vec<u64> = batch.requests.iter().map(|request| value(fleet, request)).collect();
    let mut planned = settle(fleet, batch, &mut spots);
    greedy(&mut planned, batch, (&levels, &values), &mut spots, control)?;
    let value = value_of(batch, &values, &spots);
    let asked = asked(batch, &values);
    let placed = spots.iter().flatten().count();
    let judge = Judge::new(fleet, settings.weights, false);
    Ok(Plan {
        solver: settings.solver,
        objective: settings.objective,
        placed,
        waiting: spots.len() - placed,
        value,
        asked,
        bound: looked.bound,
        bound_source: looked.bound_source,
        gap: looked.bound.saturating_sub(value) as f64 / looked.bound.max(1) as f64,
        allocated_ratio: allocated_ratio(&planned),
        allocated_bound_ratio: looked.device_bound.and_then(|bound| bound_ratio(fleet, bound)),
        cost: judge.cost(&planned, asked - value, asked),
        steps: looked.steps,
        seconds: (control.now)().saturating_sub(start).as_secs_f64(),
        spots,
    })
}

impl Plan {
    /// The decision of every task. The placements can be committed in the order of the tasks, those over several nodes
    /// whenever; tasks that wait are told why in the fleet as it is with all of them placed.
    pub fn decisions(&self, fleet: &Fleet, batch: &Batch) -> Result<Vec<Decision>> {
        let (mut planned, question) = (fleet.clone(), Question::default());
        let request = |task: usize| &batch.requests[batch.tasks[task].request];
        let mut decisions: Vec<Option<Decision>> = vec![None; self.spots.len()];
        let mut gangs = Vec::new();
        for (task, spot) in self.spots.iter().enumerate() {
            let Some(spot) = spot else { continue };
            if spot.is_gang() {
                gangs.push((task, planned.take_spot(request(task), spot)?));
            } else if let Some(placement) = spot::placement(&planned, request(task), &question, spot) {
                planned.take_spot(request(task), spot)?;
                decisions[task] = Some(Decision::Placement(Box::new(placement)));
            }
        }
        for (task, hold) in gangs {
            // What it holds is free again for it alone, so there is a placement.
            planned.release(hold)?;
            let decision = place_uncut(&planned, request(task), &question)?;
            if let Decision::Placement(placement) = &decision {
                planned.commit(placement)?;
            }
            decisions[task] = Some(decision);
        }
        let mut told: Vec<Option<Decision>> = vec![None; batch.requests.len()];
        let wait = |(task, decision): (&Task, Option<Decision>)| match (decision, &mut told[task.request]) {
            (Some(decision), _) => Ok(decision),
            (None, Some(decision)) => Ok(decision.clone()),
            (None, untold) => {
                Ok(untold.insert(place_uncut(&planned, &batch.requests[task.request], &question)?).clone())
            }
        };
        batch.tasks.iter().zip(decisions).map(wait).collect()
    }
}

/// What is placed counts.
fn value_of(batch: &Batch, values: &[u64], spots: &[Option<Spot>]) -> u64 {
    batch.tasks.iter().zip(spots).filter(|(_, spot)| spot.is_some()).map(|(task, _)| values[task.request]).sum()
}

fn asked(batch: &Batch, values: &[u64]) -> u64 {
    batch.tasks.iter().map(|task| values[task.request]).sum()
}

/// The fleet with the plan in it. Every spot is checked by the rules of the core, in the order of the tasks; one that they
/// forbid is no spot.
fn settle(fleet: &Fleet, batch: &Batch, spots: &mut [Option<Spot>]) -> Fleet {
    let (mut planned, question) = (fleet.clone(), Question::default());
    for (task, spot) in batch.tasks.iter().zip(spots) {
        let request = &batch.requests[task.request];
        let is_refused = spot.as_ref().is_some_and(|spot| planned.try_spot(request, &question, spot).is_err());
        if is_refused {
            *spot = None;
        }
    }
    planned
}

/// The healthy devices and what of them is in use, thousandths of one.
fn in_use(fleet: &Fleet) -> (u64, u64) {
    let devices = fleet.inventory().devices.iter().zip(&fleet.capacity().free_milli);
    let free: Vec<u64> = devices.filter(|(device, _)| device.is_healthy).map(|(_, &free)| u64::from(free)).collect();
    let all = free.len() as u64 * u64::from(WHOLE_MILLI);
    (all, all - free.iter().sum::<u64>())
}

fn allocated_ratio(fleet: &Fleet) -> Option<f64> {
    let (all, used) = in_use(fleet);
    (all > 0).then(|| used as f64 / all as f64)
}

/// What is allocated once so much more is taken.
fn bound_ratio(fleet: &Fleet, more: u64) -> Option<f64> {
    let (all, used) = in_use(fleet);
    (all > 0).then(|| ((used + more) as f64 / all as f64).min(1.0))
}
