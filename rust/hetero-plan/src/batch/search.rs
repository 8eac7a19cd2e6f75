//! From a first plan to a better one, and a bound for both.

use std::time::Duration;

use hetero_core::spot::Spot;
use hetero_core::{Fleet, Request, Result};

use crate::batch::ask::{Batch, Objective, Settings, Solver};
use crate::batch::columns::columns;
use crate::batch::control::Control;
use crate::batch::cost::Judge;
use crate::batch::entry::rounded;
use crate::batch::field::{Field, is_countable, is_room, is_simple};
use crate::batch::genetic::breed;
use crate::batch::local::{Limits, fill_all, improve};
use crate::batch::repair::repair;

/// Parts of the time: until then patterns are generated, until then they are made whole, and until then rooms are searched
/// where something is left for the rules of the core.
const GENERATED: f64 = 0.4;
const DIVED: f64 = 0.65;
const ROOMS: f64 = 0.8;

/// What looking for a plan found beside the plan.
#[derive(Default)]
pub(crate) struct Looked {
    pub(crate) bound: u64,
    pub(crate) bound_source: &'static str,
    /// No plan takes more of devices, where that is known: thousandths of one.
    pub(crate) device_bound: Option<u64>,
    pub(crate) steps: u64,
}

impl Looked {
    /// No more is placed than is asked, nor on devices than is free.
    pub(crate) fn bounded(fleet: &Fleet, batch: &Batch, values: &[u64]) -> Self {
        let is_cpu_only = |request: usize| batch.requests[request].choices[0].is_cpu_only();
        let of = |cpu_only: bool| {
            let tasks = batch.tasks.iter().map(|task| task.request);
            tasks.filter(move |&request| is_cpu_only(request) == cpu_only).map(|request| values[request]).sum::<u64>()
        };
        let free: u64 = fleet.capacity().free_milli.iter().map(|&milli| u64::from(milli)).sum();
        let bound_source = if of(false) <= free { "demand" } else { "capacity" };
        Self { bound: of(false).min(free) + of(true), bound_source, device_bound: None, steps: 0 }
    }
}

/// Makes a plan better, by the solver of the settings.
pub(crate) fn look(
    fleet: &Fleet,
    batch: &Batch,
    (levels, values): (&[u32], &[u64]),
    settings: &Settings,
    (control, start): (&Control<'_>, Duration),
    spots: &mut [Option<Spot>],
) -> Result<Looked> {
    let at = |part: f64| start + settings.time_limit().mul_f64(part);
    let until = |part: f64| Limits { control, deadline: at(part), steps: settings.steps.unwrap_or(u64::MAX) };
    let is_special = |request: usize| !is_simple(fleet, &batch.requests[request]);
    let special: u64 =
        batch.tasks.iter().filter(|task| is_special(task.request)).map(|task| values[task.request]).sum();
    let mut rest = fleet.clone();
    keep(&mut rest, batch, spots)?;
    let field = Field::new(&rest, batch, (levels, values), spots, is_room);
    let mut rooms = field.rooms.clone();
    let mut looked = Looked::bounded(fleet, batch, values);
    let nodes = || fleet.inventory().nodes.iter();
    // Where the core has its say, what it has placed may stand elsewhere in a better plan: the bound knows nothing of that.
    let has_rest = special > 0 || !nodes().all(is_room);
    let is_dived = !has_rest && settings.objective == Objective::Allocation && settings.solver == Solver::Search;
    let whole = has_rest.then(|| Field::new(fleet, batch, (levels, values), spots, is_countable));
    let deadlines = (at(GENERATED), at(DIVED));
    let whole = whole.as_ref().unwrap_or(&field);
    let is_bounded = nodes().all(is_countable);
    if let Some(found) = is_bounded.then(|| columns(whole, &whole.rooms, control, deadlines, is_dived)).flatten() {
        let bound = integer(found.bound).map(|bound| bound + special).filter(|bound| *bound < looked.bound);
        if let Some(bound) = bound {
            looked = Looked { bound, bound_source: "column generation", ..looked };
        }
        // Only where a step counts what it takes does the bound tell of devices.
        let is_plain = |request: &Request| request.choices[0].share_memory_mib.is_none();
        if special == 0 && batch.requests.iter().all(is_plain) {
            looked.device_bound = integer(found.device_bound);
        }
        if is_dived {
            let mut other = rounded(&field, &found);
            fill_all(&field, &mut other, settings.seed);
            let value = |rooms| field.pool(rooms).value(&field.shapes);
            if value(&other) > value(&rooms) {
                rooms = other;
            }
        }
    }
    let judge = Judge::new(fleet, settings.weights, settings.objective == Objective::Allocation);
    let limits = until(if has_rest { ROOMS } else { 1.0 });
    looked.steps = match settings.solver {
        Solver::Genetic => breed(&field, &mut rooms, settings.seed, limits),
        _ => improve(&field, &judge, &mut rooms, settings.seed, limits),
    };
    field.leave(&rooms, spots);
    if has_rest {
        looked.steps += repair(fleet, batch, (levels, values), spots, settings.seed, until(1.0))?;
    }
    Ok(looked)
}

/// A bound of what is counted in whole numbers; `None` where there is none.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // finite, and not negative
fn integer(bound: f64) -> Option<u64> {
    bound.is_finite().then(|| (bound + 1e-6 * bound.abs().max(1.0)).floor() as u64)
}

/// Takes what is not of the simple form, and so stays where it is while rooms are emptied and filled.
fn keep(fleet: &mut Fleet, batch: &Batch, spots: &[Option<Spot>]) -> Result<()> {
    let stays = |spot: &Spot, fleet: &Fleet| spot.parts.iter().any(|(node, _)| !is_room(fleet.node(*node)));
    for (task, spot) in batch.tasks.iter().zip(spots) {
        let request = &batch.requests[task.request];
        if let Some(spot) = spot.as_ref().filter(|spot| !is_simple(fleet, request) || stays(spot, fleet)) {
            fleet.take_spot(request, spot)?;
        }
    }
    Ok(())
}
