//! Little draw: the less power a step adds, the better. Idle devices cost their TDP, those in use nothing more.

use crate::fleet::Fleet;
use crate::power::added_mw;
use crate::score::Candidate;

/// Added draw that takes the value half way to its end: the TDP of the reference device, H100-SXM5-80GB.
const REFERENCE_MW: f64 = 700_000.0;

/// 1 where nothing is added, one half where 700 W are, or where it is not known; `None` for a step that takes no device.
pub(crate) fn value(fleet: &Fleet, candidate: Candidate<'_>) -> Option<f64> {
    let has_devices = !candidate.devices.is_empty();
    has_devices.then(|| added_mw(fleet, candidate.devices).map_or(0.5, |mw| REFERENCE_MW / (REFERENCE_MW + mw as f64)))
}

/// What the value comes from.
pub(crate) fn why(fleet: &Fleet, candidate: Candidate<'_>) -> String {
    match added_mw(fleet, candidate.devices) {
        Some(mw) => format!("adds up to {:.0} W", mw as f64 / 1000.0),
        None => "not judged: the TDP of a device is unknown".to_owned(),
    }
}
