//! Speed, up to what the step needs: a small step gains nothing from the fastest card.

use crate::decision::Performance;
use crate::fleet::Fleet;
use crate::kind::Kind;
use crate::profile::Profiles;
use crate::request::{Choice, Name};
use crate::score::{Candidate, round, saturating};

/// Dense BF16 peak of the reference device, H100-SXM5-80GB, TFLOPS.
const REFERENCE_TFLOPS: f64 = 989.4;

/// 1 when the step states no need or the need is met; below that the squashed rate relative to the squashed need.
pub fn value(fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>) -> f64 {
    let (Some(need), Some(&device)) = (choice.compute_floor_tflops, candidate.devices.first()) else {
        return 1.0;
    };
    let inventory = fleet.inventory();
    let kind = &inventory.kinds[inventory.devices[device].kind.at()];
    let Some(rate) = kind.tflops(choice.rate_precision()) else { return 0.0 };
    if rate >= need { 1.0 } else { saturating(rate, REFERENCE_TFLOPS) / saturating(need, REFERENCE_TFLOPS) }
}

/// What the value comes from.
pub(crate) fn why(choice: &Choice) -> String {
    match choice.compute_floor_tflops {
        None => "no need stated".to_owned(),
        Some(need) => format!("{need} TFLOPS {} needed", choice.rate_precision()),
    }
}

/// Speed of a granted choice relative to the first one; see [`ratio`].
pub(crate) fn relative(fleet: &Fleet, first: &Choice, granted: &Choice, candidate: Candidate<'_>) -> Performance {
    let inventory = fleet.inventory();
    let kind = candidate.devices.first().map(|&at| &inventory.kinds[inventory.devices[at].kind.at()]);
    let ratio = kind.and_then(|kind| ratio(fleet.profiles(), first, granted, kind));
    let source = if ratio.is_some() { "roofline" } else { "unknown" };
    Performance { ratio: ratio.map(round), source: source.to_owned() }
}

/// Speed of a choice on a kind of device, relative to the first choice, by the compute roof: count x peak x efficiency.
///
/// The yardstick is the fastest model that the first choice names. The precision is the first one asked; bf16, else
/// fp16, where none is. Unknown stays unknown.
pub(crate) fn ratio(profiles: &Profiles, first: &Choice, granted: &Choice, kind: &Kind) -> Option<f64> {
    let words: &[&str] = if granted.precisions.is_empty() { &["bf16", "fp16"] } else { &[granted.rate_precision()] };
    words.iter().find_map(|word| {
        let yardstick = fastest(profiles, &first.names, word)? * roof_share(first);
        Some(kind.achieved_tflops(word)? * roof_share(granted) / yardstick)
    })
}

fn fastest(profiles: &Profiles, names: &[Name], word: &str) -> Option<f64> {
    let profiles = names.iter().flat_map(|name| &name.skus).filter_map(|sku| profiles.get(sku));
    profiles.filter_map(|profile| profile.achieved_tflops(word)).max_by(f64::total_cmp)
}

fn roof_share(choice: &Choice) -> f64 {
    f64::from(choice.count) * f64::from(choice.share_milli)
}
