//! Plans of a pipeline.

use hetero_core::{Decision, Fleet, Request, cluster};
use hetero_plan::Watch;
use hetero_plan::dag::{DagSettings, Pipeline, place_dag};

use crate::batch::read;
use crate::fleet::json;

/// The decision of every step, and the report.
pub(crate) fn plan(
    fleet: &Fleet,
    requests: &[Request],
    steps: &[u8],
    settings: &[u8],
    watch: &Watch,
) -> hetero_core::Result<(Vec<Decision>, String)> {
    let requests = requests.iter().map(|request| cluster::kept(fleet, request).into_owned()).collect();
    let pipeline = Pipeline { requests, steps: read(steps, "steps")? };
    let plan = place_dag(fleet, &pipeline, DagSettings::from_json(settings)?, watch)?;
    let report = json(&plan);
    Ok((plan.steps.into_iter().map(|step| step.decision).collect(), report))
}
