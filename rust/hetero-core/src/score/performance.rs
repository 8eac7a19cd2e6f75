//! Speed, up to what the step needs: a small step gains nothing from the fastest card.

use std::fmt::Write as _;

use crate::affinity;
use crate::decision::Performance;
use crate::fleet::Fleet;
use crate::kind::Kind;
use crate::profile::{Profile, Profiles};
use crate::request::Choice;
use crate::score::{Candidate, Policy, round, saturating};
use crate::units::WHOLE_MILLI;

/// Dense BF16 peak of the reference device, H100-SXM5-80GB, TFLOPS.
const REFERENCE_TFLOPS: f64 = 989.4;
/// Its memory bandwidth, decimal MB/s.
const REFERENCE_MBPS: f64 = 3_350_000.0;
const OPAQUE_VALUE: f64 = 0.5;

/// The value; 1 for a step that takes no device.
pub fn value(fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>, policy: Policy) -> f64 {
    let Some(kind) = kind_of(fleet, candidate) else { return 1.0 };
    match policy {
        Policy::Aware => measured(fleet, choice, kind).unwrap_or_else(|| up_to_need(kind, choice)),
        Policy::Classic => affinity::value(kind, choice, policy) / 100.0,
    }
}

/// Of a step that states a need and was measured on such devices: what it reaches over the most that any model reaches.
fn measured(fleet: &Fleet, choice: &Choice, kind: &Kind) -> Option<f64> {
    if choice.workload.is_none() || !states_need(choice) {
        return None;
    }
    let most = fleet.measured().most(choice).filter(|&most| most > 0.0)?;
    let reached = fleet.measured().of_choice(choice, kind.measured_as()?)?.throughput;
    Some((reached * kind.speed_left(choice) / most).min(1.0))
}

fn states_need(choice: &Choice) -> bool {
    let compute = choice.compute_need_tflops.or(choice.compute_floor_tflops);
    compute.is_some() || choice.bandwidth_need_mbps.is_some()
}

/// 1 when the step states no need or the needs are met; below that the squashed rate relative to the squashed need, of
/// whichever of compute and bandwidth falls shorter.
///
/// An opaque device is not ranked by its rates: a need leaves it at one half.
fn up_to_need(kind: &Kind, choice: &Choice) -> f64 {
    let compute = choice.compute_need_tflops.or(choice.compute_floor_tflops);
    let bandwidth = choice.bandwidth_need_mbps;
    if kind.is_opaque() && (compute.is_some() || bandwidth.is_some()) {
        return OPAQUE_VALUE;
    }
    let left = kind.speed_left(choice);
    let rate = kind.tflops(kind.computed_precision(choice)).map(|rate| rate * left);
    let compute = compute.map(|need| part_of(rate, need, REFERENCE_TFLOPS));
    let have = kind.bandwidth_mbps().map(|mbps| mbps as f64 * left);
    let bandwidth = bandwidth.map(|need| part_of(have, need as f64, REFERENCE_MBPS));
    compute.unwrap_or(1.0).min(bandwidth.unwrap_or(1.0))
}

fn part_of(have: Option<f64>, need: f64, reference: f64) -> f64 {
    match have {
        None => 0.0,
        Some(rate) if rate >= need => 1.0,
        Some(rate) => saturating(rate, reference) / saturating(need, reference),
    }
}

/// What the value comes from.
pub(crate) fn why(fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>, policy: Policy) -> String {
    let Some(kind) = kind_of(fleet, candidate) else {
        return if policy == Policy::Classic { "no device asked".to_owned() } else { needed(choice) };
    };
    let text = match policy {
        Policy::Classic => return affinity::summary(kind, choice, policy),
        Policy::Aware if measured(fleet, choice, kind).is_some() => {
            format!("measured against the fastest at {}, {}", asked_workload(choice), fleet.measured().source())
        }
        Policy::Aware => needed(choice),
    };
    format!("{text}{}", overhead(kind, choice))
}

/// What is between the step and the speed of the device, in words; empty where nothing is.
fn overhead(kind: &Kind, choice: &Choice) -> String {
    let whole = u32::from(WHOLE_MILLI);
    let part = |milli: u32| f64::from(milli) / f64::from(whole);
    let mut text = String::new();
    if let Some((toolkit, &milli)) = choice.toolkit.as_ref().and_then(|toolkit| kind.toolkits.get_key_value(toolkit))
        && milli < whole
    {
        let _ = write!(text, ", {toolkit} code translated x {:.2}", part(milli));
    }
    if kind.virtual_milli < whole {
        let _ = write!(text, ", virtual GPU x {:.2}", part(kind.virtual_milli));
    }
    text
}

fn asked_workload(choice: &Choice) -> &str {
    choice.workload.as_deref().unwrap_or_default()
}

fn needed(choice: &Choice) -> String {
    let compute = choice.compute_need_tflops.or(choice.compute_floor_tflops);
    let compute = compute.map(|need| format!("{need} TFLOPS {} needed", choice.rate_precision()));
    let bandwidth = choice.bandwidth_need_mbps.map(|need| format!("{} GB/s needed", need / 1000));
    let needs: Vec<String> = compute.into_iter().chain(bandwidth).collect();
    if needs.is_empty() { "no need stated".to_owned() } else { needs.join(", ") }
}

/// The kind of the candidate's devices; all of one candidate are of one kind.
fn kind_of<'a>(fleet: &'a Fleet, candidate: Candidate<'_>) -> Option<&'a Kind> {
    let inventory = fleet.inventory();
    candidate.devices.first().map(|&at| &inventory.kinds[inventory.devices[at].kind.at()])
}

/// Speed of a granted choice relative to the first one; see [`ratio`].
pub(crate) fn relative(fleet: &Fleet, first: &Choice, granted: &Choice, candidate: Candidate<'_>) -> Performance {
    match kind_of(fleet, candidate).and_then(|kind| ratio(fleet, first, granted, kind)) {
        Some((ratio, source)) => Performance { ratio: Some(round(ratio)), source },
        None => Performance { ratio: None, source: "unknown".to_owned() },
    }
}

/// Speed of a choice on a kind of device, relative to the first choice, and where it comes from: measured, else the
/// compute roof.
pub(crate) fn ratio(fleet: &Fleet, first: &Choice, granted: &Choice, kind: &Kind) -> Option<(f64, String)> {
    let measured = kind.measured_as().and_then(|model| fleet.measured().ratio(first, granted, model));
    if let Some((ratio, scaled_from)) = measured {
        let scaled = scaled_from.map_or(String::new(), |devices| format!(", in proportion to {devices} measured"));
        let source = format!("{}{scaled}{}", fleet.measured().source(), overhead(kind, granted));
        return Some((ratio * kind.speed_left(granted), source));
    }
    let ratio = roofline(fleet.profiles(), first, granted, kind)? * kind.speed_left(granted);
    Some((ratio, format!("roofline{}", overhead(kind, granted))))
}

/// By the compute roof: count x peak x efficiency.
///
/// The yardstick is the fastest model or partition that the first choice names. Each choice runs in its own precision,
/// the first one that it asks: that is what quantizing gains. A choice that asks none runs in bf16, else fp16. Unknown
/// stays unknown, and the rates of an opaque device tell nothing.
fn roofline(profiles: &Profiles, first: &Choice, granted: &Choice, kind: &Kind) -> Option<f64> {
    if kind.is_opaque() {
        return None;
    }
    ["bf16", "fp16"].iter().find_map(|free| {
        let yardstick = fastest(profiles, first, word(first, free))?;
        let granted_word = if granted.precisions.is_empty() { free } else { kind.computed_precision(granted) };
        let devices = f64::from(granted.total()) * share_of(granted, kind.nominal_mib);
        Some(kind.achieved_tflops(granted_word)? * devices / yardstick)
    })
}

fn word<'a>(choice: &'a Choice, free: &'a str) -> &'a str {
    choice.precisions.first().map_or(free, |need| need.word.as_str())
}

fn fastest(profiles: &Profiles, first: &Choice, word: &str) -> Option<f64> {
    let pairs = first.names.iter().flat_map(|name| name.skus.iter().map(move |sku| (name, sku)));
    let rates = pairs.filter_map(|(name, sku)| {
        let profile = profiles.get(sku).filter(|profile| !profile.is_opaque)?;
        let part = part(profile, name.partition.as_deref())?;
        Some(
            profile.achieved_tflops(word)?
                * part
                * devices_of(first, profile, name.partition.as_deref())?
                * share_of(first, profile.memory_mib),
        )
    });
    rates.max_by(f64::total_cmp)
}

/// Part of a device's compute units that a partition has; all of them without one.
fn part(profile: &Profile, partition: Option<&str>) -> Option<f64> {
    let Some(partition) = partition else { return Some(1.0) };
    let cut = profile.partitions.iter().find(|cut| cut.name == partition)?;
    Some(f64::from(cut.compute_milli?) / f64::from(WHOLE_MILLI))
}

/// Devices of a model, or partitions of it, that a choice takes: compute units are another number for each.
fn devices_of(choice: &Choice, profile: &Profile, partition: Option<&str>) -> Option<f64> {
    let counted = || Some(choice.total());
    choice.units_milli.map_or_else(counted, |units| profile.devices_for(units, partition)).map(f64::from)
}

fn share_of(choice: &Choice, nominal_mib: Option<u64>) -> f64 {
    f64::from(choice.share_of(nominal_mib))
}
