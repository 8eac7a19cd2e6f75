//! Replays: questions in, reports out as JSON.

use std::time::Instant;

use hetero_plan::{Contender, Order, Policy, Question, Rule, TimedQuestion, Trace, Watch};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::fleet::{Fleet, json};
use crate::guest::Guests;
use crate::watched::watched;

/// A name and what stands for it: nothing for a policy that is built in, the weights of another (JSON), or a callable.
type Named<'py> = (String, Option<Bound<'py, PyAny>>);

fn contenders(policies: &[Named<'_>], guests: &mut Guests, with_learned_mix: bool) -> PyResult<Vec<Contender>> {
    let mut contenders = Vec::new();
    for (name, given) in policies {
        let rule = match given {
            None => Policy::parse(name).map(Rule::BuiltIn),
            Some(given) => match given.cast::<PyBytes>() {
                Ok(weights) => hetero_core::score::Weights::from_json(weights.as_bytes()).map(Rule::Weighted),
                Err(_) => Ok(Rule::Foreign(guests.admit(name, given.clone().unbind()))),
            },
        };
        contenders.push(Contender { name: name.clone(), rule: rule.map_err(errors::to_python)? });
    }
    if with_learned_mix {
        let learned: Vec<Contender> = contenders.iter().filter_map(Contender::learned).collect();
        contenders.extend(learned);
    }
    Ok(contenders)
}

/// Replays a trace on a copy of the fleet, each policy with each seed, as JSON. Changes nothing.
///
/// A policy is a name and nothing, the weights of the core's as JSON, or a callable that gets a task and candidates.
/// `arrival_milli` is the demand that arrives, thousandths of the capacity; `against` the policy that the others are
/// compared with; `threads` is 0 for one a core; `progress` is called with decisions taken and expected. Ctrl-C, and
/// whatever `progress` or a policy raises, ends the replay within a tenth of a second.
#[pyfunction]
#[pyo3(signature = (
    fleet, trace, policies, seeds, arrival_milli, threads, *, with_learned_mix = false, against = None, progress = None
))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // Python lists arrive as vectors
pub(crate) fn simulate(
    py: Python<'_>,
    fleet: &Bound<'_, Fleet>,
    trace: &[u8],
    policies: Vec<Named<'_>>,
    seeds: Vec<u64>,
    arrival_milli: u32,
    threads: usize,
    with_learned_mix: bool,
    against: Option<String>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let fleet = fleet.get();
    let (watch, mut guests) = (Watch::default(), Guests::default());
    let policies = contenders(&policies, &mut guests, with_learned_mix)?;
    let question = Question { policies, seeds, arrival_milli, against, threads };
    let report = watched(py, &watch, progress, || {
        let (fleet, trace) = (fleet.read().clone(), Trace::from_json(trace)?);
        let start = Instant::now();
        hetero_plan::simulate(&fleet, &trace, &question, &watch, &|| start.elapsed()).map(|report| json(&report))
    });
    guests.raised().map_or(report, Err)
}

/// Replays a trace with time on a copy of the fleet, each policy with each order of the queue and seed, as JSON.
///
/// `squeeze_milli` is what times between arrivals are divided by, thousandths; `patience_s` how long a task waits before
/// a node is kept for it. The rest is as in `simulate`. Changes nothing.
#[pyfunction]
#[pyo3(signature = (
    fleet, trace, policies, seeds, orders, squeeze_milli, patience_s, threads, *, with_learned_mix = false, progress = None
))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // Python lists arrive as vectors
pub(crate) fn simulate_timed(
    py: Python<'_>,
    fleet: &Bound<'_, Fleet>,
    trace: &[u8],
    policies: Vec<Named<'_>>,
    seeds: Vec<u64>,
    orders: Vec<String>,
    squeeze_milli: u32,
    patience_s: u64,
    threads: usize,
    with_learned_mix: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let fleet = fleet.get();
    let (watch, mut guests) = (Watch::default(), Guests::default());
    let policies = contenders(&policies, &mut guests, with_learned_mix)?;
    let orders = orders.iter().map(|word| Order::parse(word)).collect::<hetero_core::Result<_>>();
    let orders = orders.map_err(errors::to_python)?;
    let question = TimedQuestion { policies, seeds, orders, squeeze_milli, patience_s, threads };
    let report = watched(py, &watch, progress, || {
        let (fleet, trace) = (fleet.read().clone(), Trace::from_json(trace)?);
        let start = Instant::now();
        hetero_plan::simulate_timed(&fleet, &trace, &question, &watch, &|| start.elapsed()).map(|report| json(&report))
    });
    guests.raised().map_or(report, Err)
}
