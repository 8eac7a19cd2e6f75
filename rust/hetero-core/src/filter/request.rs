//! What a request as a whole asks of a kind: a later choice to be nearly as fast as the first, a team to keep its limits.

use crate::codes::Code;
use crate::filter::{Misfit, kinds};
use crate::fleet::Fleet;
use crate::kind::Kind;
use crate::request::{Choice, Request};
use crate::score::performance;

/// Asks every kind of the fleet once, relative speed and quotas included.
///
/// `choice` is the one at `index` of the request, or a variation of it. The first choice is the yardstick, and so as
/// fast as itself.
pub fn kinds_of(fleet: &Fleet, request: &Request, index: usize, choice: &Choice) -> Vec<Option<Misfit>> {
    let mut fit = kinds(fleet.inventory(), choice);
    let floor = choice.performance_floor_milli.filter(|_| index > 0);
    let is_shared_out = fleet.pools().is_any();
    if floor.is_none() && request.team.is_none() && choice.workload.is_none() && !is_shared_out {
        return fit;
    }
    let inventory = fleet.inventory();
    for (misfit, kind) in fit.iter_mut().zip(&inventory.kinds).filter(|(misfit, _)| misfit.is_none()) {
        let failed = did_not_run(fleet, choice, kind)
            .then(|| Misfit::numbers(Code::PerfBelowFloor, Some(0), floor.unwrap_or(1)));
        let slower = floor.and_then(|floor| {
            let ratio = performance::ratio(fleet, &request.choices[0], choice, kind).map(|(ratio, _)| ratio);
            slower(ratio, floor, choice.rejects_unknown_performance)
        });
        let quota = || fleet.quotas().misfit(inventory, request.team.as_ref()?, choice, kind);
        let pool = || fleet.pools().misfit(choice, kind, request.priority);
        *misfit = failed.or(slower).or_else(|| lasting_first(quota(), pool()));
    }
    fit
}

/// What stays so is told before what passes: a step that never fits is not busy.
fn lasting_first(quota: Option<Misfit>, pool: Option<Misfit>) -> Option<Misfit> {
    match (quota, pool) {
        (Some(quota), Some(pool)) if quota.is_passing && !pool.is_passing => Some(pool),
        (quota, pool) => quota.or(pool),
    }
}

/// Whether it was tried, and did not run: no memory, or no kernels for the device.
fn did_not_run(fleet: &Fleet, choice: &Choice, kind: &Kind) -> bool {
    let reached = kind.measured_as().and_then(|model| fleet.measured().of_choice(choice, model));
    reached.is_some_and(|reached| reached.throughput == 0.0)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a ratio is finite and positive; shown in thousandths
fn slower(ratio: Option<f64>, floor_milli: u64, rejects_unknown: bool) -> Option<Misfit> {
    match ratio.map(|ratio| (ratio * 1000.0).round() as u64) {
        None => rejects_unknown.then(|| Misfit::numbers(Code::PerfUnknown, None, floor_milli)),
        Some(milli) => (milli < floor_milli).then(|| Misfit::numbers(Code::PerfBelowFloor, Some(milli), floor_milli)),
    }
}
