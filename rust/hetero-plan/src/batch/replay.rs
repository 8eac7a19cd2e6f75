//! The tasks of a trace as one batch: what planning makes of a queue that is known.

use hetero_core::spot::Spot;
use hetero_core::{Fleet, Request, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::arrival::arrivals;
use crate::batch::ask::{Batch, Settings, Task};
use crate::batch::control::Control;
use crate::batch::plan::{Plan, place_all};
use crate::generator::{Generator, Purpose};
use crate::trace::{Trace, refuse};
use crate::world::World;

/// What is to be planned.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchQuestion {
    /// How; one run each. Their seed is set by the run.
    pub settings: Vec<Settings>,
    /// Seeds: which tasks there are, in which order, and all that a solver draws.
    pub seeds: Vec<u64>,
    /// How much is asked, thousandths of the capacity.
    pub arrival_milli: u32,
    /// Whether the plans themselves are told.
    #[serde(default)]
    pub with_tasks: bool,
}

/// One plan for the tasks of one seed.
#[derive(Clone, Debug, Serialize)]
pub struct BatchRun {
    /// The seed.
    pub seed: u64,
    /// The plan.
    #[serde(flatten)]
    pub plan: Plan,
    /// Tasks that ask for no device, and how many of them are placed.
    pub cpu_only: (usize, usize),
    /// Every task; only where that is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<Vec<PlannedTask>>,
}

/// A task of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedTask {
    /// Its class: its place among the different tasks of the trace, in the order in which they first come.
    pub task_class: usize,
    /// The node; `None` for one that waits.
    pub node: Option<String>,
    /// Ids of its devices on the node.
    pub devices: Vec<u32>,
}

/// All runs.
#[derive(Clone, Debug, Serialize)]
pub struct BatchReport {
    /// Where the mix comes from.
    pub mix: String,
    /// Healthy devices of the fleet.
    pub devices: u64,
    /// Tasks of the trace.
    pub tasks: usize,
    /// How much is asked, in capacities.
    pub arrival: f64,
    /// Solver by solver, each with all seeds.
    pub runs: Vec<BatchRun>,
}

/// Plans all tasks of a trace at once, on a fleet that stays as it is. The order in which they arrived is their age.
pub fn replay(fleet: &Fleet, trace: &Trace, question: &BatchQuestion, control: &Control<'_>) -> Result<BatchReport> {
    if question.arrival_milli == 0 || question.arrival_milli > 10_000 {
        return Err(refuse("arrival: demand is more than 0 and at most 10 times the capacity".to_owned()));
    }
    let world = World::new(fleet, trace)?;
    let mut full = world.fleet.clone();
    full.set_mix(trace.whole_mix())?;
    let mut runs = Vec::new();
    for settings in &question.settings {
        for &seed in &question.seeds {
            let mut generator = Generator::new(seed, Purpose::Arrival);
            let classes = arrivals(trace, world.capacity_milli, question.arrival_milli, &mut generator, control.watch)?;
            let plan = place_all(&full, &batch(trace, &classes), &Settings { seed, ..settings.clone() }, control)?;
            let is_cpu = |class: usize| trace.classes[class].is_cpu_only();
            let of_cpu = classes.par_iter().zip(&plan.spots).filter(|(class, _)| is_cpu(**class));
            let placed = of_cpu.clone().filter(|(_, spot)| spot.is_some()).count();
            let planned = question.with_tasks.then(|| planned(&full, &classes, &plan));
            runs.push(BatchRun { seed, cpu_only: (of_cpu.count(), placed), planned, plan });
        }
    }
    Ok(BatchReport {
        mix: trace.mix.source.clone(),
        devices: world.capacity_milli / 1000,
        tasks: trace.tasks.len(),
        arrival: f64::from(question.arrival_milli) / 1000.0,
        runs,
    })
}

fn planned(fleet: &Fleet, classes: &[usize], plan: &Plan) -> Vec<PlannedTask> {
    let task = |(&class, spot): (&usize, &Option<Spot>)| {
        let part = spot.as_ref().and_then(|spot| spot.parts.first());
        let id = |&device: &usize| fleet.inventory().devices[device].id;
        PlannedTask {
            task_class: class,
            node: part.map(|(node, _)| fleet.node(*node).name.clone()),
            devices: part.iter().flat_map(|(_, devices)| devices).map(id).collect(),
        }
    };
    classes.iter().zip(&plan.spots).map(task).collect()
}

fn batch(trace: &Trace, classes: &[usize]) -> Batch {
    let request = |choice: &hetero_core::request::Choice| Request {
        requirement: choice.label.clone(),
        team: None,
        priority: None,
        checkpoint: None,
        choices: vec![choice.clone()],
    };
    let last = classes.len() as u64;
    let task = |(at, &class): (usize, &usize)| Task { request: class, priority: 0, age_s: last - at as u64 };
    Batch {
        requests: trace.classes.iter().map(request).collect(),
        tasks: classes.iter().enumerate().map(task).collect(),
    }
}
