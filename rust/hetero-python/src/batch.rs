//! Plans of many steps.

use std::time::Instant;

use hetero_core::{Decision, Fleet, cluster};
use hetero_plan::Watch;
use hetero_plan::batch::{Batch, BatchQuestion, Control, Settings, instance, place_all, replay, settled};
use serde::Deserialize;

use crate::fleet::json;

/// A task list as Python hands it over; requests come beside it.
pub(crate) fn tasks(text: &[u8]) -> hetero_core::Result<Vec<hetero_plan::batch::Task>> {
    read(text, "tasks")
}

pub(crate) fn read<'a, T: Deserialize<'a>>(text: &'a [u8], what: &str) -> hetero_core::Result<T> {
    serde_json::from_slice(text).map_err(|e| hetero_core::Error::InvalidRequest { message: format!("{what}: {e}") })
}

/// The batch with each step kept where its checkpoint is, where that cannot leave.
fn kept(fleet: &Fleet, batch: &Batch) -> Batch {
    let requests = batch.requests.iter().map(|request| cluster::kept(fleet, request).into_owned()).collect();
    Batch { requests, tasks: batch.tasks.clone() }
}

/// The decision of every task, and the report.
pub(crate) fn plan(
    fleet: &Fleet,
    batch: &Batch,
    settings: &[u8],
    watch: &Watch,
) -> hetero_core::Result<(Vec<Decision>, String)> {
    let start = Instant::now();
    let control = Control { now: &|| start.elapsed(), watch };
    let batch = &kept(fleet, batch);
    let plan = place_all(fleet, batch, &Settings::from_json(settings)?, &control)?;
    Ok((plan.decisions(fleet, batch)?, json(&plan)))
}

/// The integer programme of a batch, as JSON.
pub(crate) fn programme(fleet: &Fleet, batch: &Batch, settings: &[u8]) -> hetero_core::Result<String> {
    let batch = &kept(fleet, batch);
    instance(fleet, batch, &Settings::from_json(settings)?).map(|instance| json(&instance))
}

/// The plan that a solution of the programme is, as [`plan`].
pub(crate) fn settle(
    fleet: &Fleet,
    batch: &Batch,
    settings: &[u8],
    solution: (&[Option<usize>], Option<u64>),
) -> hetero_core::Result<(Vec<Decision>, String)> {
    let (start, watch) = (Instant::now(), Watch::default());
    let control = Control { now: &|| start.elapsed(), watch: &watch };
    let batch = &kept(fleet, batch);
    let plan = settled(fleet, batch, &Settings::from_json(settings)?, solution, &control)?;
    Ok((plan.decisions(fleet, batch)?, json(&plan)))
}

/// All tasks of a trace, known at once.
pub(crate) fn simulate(fleet: &Fleet, trace: &[u8], question: &[u8], watch: &Watch) -> hetero_core::Result<String> {
    let start = Instant::now();
    let control = Control { now: &|| start.elapsed(), watch };
    let question: BatchQuestion = read(question, "batch")?;
    replay(fleet, &hetero_plan::Trace::from_json(trace)?, &question, &control).map(|report| json(&report))
}
