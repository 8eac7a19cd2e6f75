//! How well a kind of device suits a choice, wherever it stands: 0 where it cannot serve it, else up to 100.
//!
//! Four parts, each 0..=1 before its weight: compute 40, memory bandwidth 25, link 20, memory fit 15. A part that does
//! not apply is left out and the others are scaled to 100: link for a step of one device, memory fit where no floor is
//! stated, compute of an opaque device, whose figures do not tell how it is used. An unknown figure is 0 of its part.

use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::decision::Term;
use crate::document::DeviceGroup;
use crate::error::{Error, Result};
use crate::filter::{Misfit, kind_misfit};
use crate::kind::Kind;
use crate::profile::Profiles;
use crate::request::{Choice, Request};
use crate::score::{Policy, round, saturating};

/// What a device that can serve a choice is worth at least, so that 0 always means that it cannot.
const LEAST: f64 = 0.1;
/// Dense TFLOPS (TOPS for integers): full marks in `classic`; dense BF16 of H100-SXM5-80GB, one half in `aware`.
const COMPUTE: Scale = Scale { full: 3000.0, half: 989.4 };
/// Memory bandwidth of one device in MB/s: full marks in `classic`; that of H100-SXM5-80GB, one half in `aware`.
const BANDWIDTH: Scale = Scale { full: 6_000_000.0, half: 3_350_000.0 };
/// Link bandwidth of one device in MB/s: full marks in `classic`; that of H100-SXM5-80GB, one half in `aware`.
const LINK: Scale = Scale { full: 900_000.0, half: 900_000.0 };
/// Asked over present memory at which the fit gets full marks, and at which it is too tight to get them.
const GOOD_FIT: f64 = 0.3;
const TIGHT_FIT: f64 = 0.9;
/// Part of the marks that a tight fit gets.
const TIGHT_VALUE: f64 = 5.0 / 15.0;

/// How a rate becomes a value.
struct Scale {
    /// `classic`: the rate that gets 1, as does any above it.
    full: f64,
    /// `aware`: the rate of the reference device, which gets one half; none gets 1, so a new entry moves no other.
    half: f64,
}

impl Scale {
    fn value(&self, rate: f64, policy: Policy) -> f64 {
        match policy {
            Policy::Aware => saturating(rate, self.half),
            Policy::Classic => (rate / self.full).min(1.0),
        }
    }
}

/// A figure that a part is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    Known(f64),
    Unknown,
    /// The part does not apply.
    LeftOut,
}

impl Figure {
    fn of(figure: Option<u64>) -> Self {
        figure.map_or(Self::Unknown, |figure| Self::Known(figure as f64))
    }
}

/// One of the four parts.
struct Part {
    name: &'static str,
    weight: u32,
    figure: Figure,
    value: f64,
}

impl Part {
    fn new(name: &'static str, weight: u32, figure: Figure, value: impl FnOnce(f64) -> f64) -> Self {
        let value = if let Figure::Known(number) = figure { value(number) } else { 0.0 };
        Self { name, weight, figure, value }
    }

    fn applies(&self) -> bool {
        self.figure != Figure::LeftOut
    }

    fn why(&self, kind: &Kind, choice: &Choice) -> String {
        let precision = || rate(kind, choice).0;
        match (self.name, self.figure) {
            ("compute", Figure::Known(tflops)) => format!("{tflops} TFLOPS {}", precision()),
            ("compute", _) => format!("no known rate in {}", precision()),
            ("memory_fit", Figure::Known(ratio)) => format!("asks {ratio:.2} of its memory"),
            ("memory_fit", _) => "memory unknown".to_owned(),
            ("link", Figure::Known(_)) if kind.partition.is_some() => "a partition has no link".to_owned(),
            (_, Figure::Known(mbps)) => format!("{} GB/s", mbps / 1000.0),
            _ => "unknown".to_owned(),
        }
    }
}

/// How well a kind suits a choice or a request, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Affinity {
    /// 0 where the kind can serve no choice, else 0.1 to 100.
    pub value: f64,
    /// The first choice that the kind can serve.
    pub choice: Option<String>,
    /// Its place in the order of choices.
    pub choice_index: Option<usize>,
    /// The parts; those left out are not there.
    pub terms: Vec<Term>,
    /// Why the kind can serve none: the reason that came nearest to a fit.
    pub code: Option<Code>,
}

/// The value alone, for a kind that can serve the choice.
pub(crate) fn value(kind: &Kind, choice: &Choice, policy: Policy) -> f64 {
    total(&parts(kind, choice, policy))
}

/// The affinity to one choice of a request.
pub fn of_choice(kind: &Kind, index: usize, choice: &Choice, policy: Policy) -> Affinity {
    match kind_misfit(kind, choice) {
        None => served(kind, index, choice, policy),
        Some(misfit) => refused(Some(misfit)),
    }
}

/// The affinity to the first choice of a request that the kind can serve.
pub fn of_request(kind: &Kind, request: &Request, policy: Policy) -> Affinity {
    let mut nearest: Option<Misfit> = None;
    for (index, choice) in request.choices.iter().enumerate() {
        match kind_misfit(kind, choice) {
            None => return served(kind, index, choice, policy),
            misfit => nearest = nearest.max(misfit),
        }
    }
    refused(nearest)
}

/// The affinity of a whole device of the first profile of a catalog, from the JSON forms and the name of a policy.
pub fn from_json(catalog: &[u8], request: &[u8], policy: &str) -> Result<Affinity> {
    let (policy, request) = (Policy::parse(policy)?, Request::from_json(request)?);
    let profiles = Profiles::from_json(catalog)?;
    let Some(profile) = profiles.entries.first() else {
        return Err(Error::document("", "catalog: there is no profile in it".to_owned()));
    };
    let group = DeviceGroup { sku: profile.sku.clone(), count: Some(1), ..DeviceGroup::default() };
    Ok(of_request(&Kind::of(&group, "", &profiles)?, &request, policy))
}

/// The parts in one line: points of weight, and what is unknown.
pub(crate) fn summary(kind: &Kind, choice: &Choice, policy: Policy) -> String {
    let terms = terms(kind, choice, policy);
    let parts: Vec<String> = terms
        .iter()
        .map(|term| format!("{} {:.1}/{:.1} ({})", term.name.replace('_', " "), term.points, term.weight, term.why))
        .collect();
    format!("affinity: {}", parts.join(", "))
}

fn served(kind: &Kind, index: usize, choice: &Choice, policy: Policy) -> Affinity {
    Affinity {
        value: round(value(kind, choice, policy)),
        choice: Some(choice.label.clone()),
        choice_index: Some(index),
        terms: terms(kind, choice, policy),
        code: None,
    }
}

fn refused(misfit: Option<Misfit>) -> Affinity {
    let code = misfit.map(|misfit| misfit.code);
    Affinity { value: 0.0, choice: None, choice_index: None, terms: Vec::new(), code }
}

fn parts(kind: &Kind, choice: &Choice, policy: Policy) -> [Part; 4] {
    let bandwidth = Figure::of(kind.bandwidth_mbps());
    [
        Part::new("compute", 40, compute(kind, choice), |tflops| COMPUTE.value(tflops, policy)),
        Part::new("bandwidth", 25, bandwidth, |mbps| BANDWIDTH.value(mbps, policy)),
        Part::new("link", 20, link(kind, choice), |mbps| LINK.value(mbps, policy)),
        Part::new("memory_fit", 15, memory_fit(kind, choice), fit_value),
    ]
}

fn total(parts: &[Part]) -> f64 {
    let applied = || parts.iter().filter(|part| part.applies());
    let weight: u32 = applied().map(|part| part.weight).sum();
    let points: f64 = applied().map(|part| part.value * f64::from(part.weight)).sum();
    (points * 100.0 / f64::from(weight)).clamp(LEAST, 100.0)
}

fn terms(kind: &Kind, choice: &Choice, policy: Policy) -> Vec<Term> {
    let parts = parts(kind, choice, policy);
    let all: u32 = parts.iter().filter(|part| part.applies()).map(|part| part.weight).sum();
    let term = |part: &Part| {
        let weight = f64::from(part.weight) * 100.0 / f64::from(all);
        Term {
            name: part.name.to_owned(),
            value: round(part.value),
            weight: round(weight),
            points: round(part.value * weight),
            why: part.why(kind, choice),
        }
    };
    parts.iter().filter(|part| part.applies()).map(term).collect()
}

fn compute(kind: &Kind, choice: &Choice) -> Figure {
    if kind.is_opaque() { Figure::LeftOut } else { rate(kind, choice).1.map_or(Figure::Unknown, Figure::Known) }
}

/// The precision by which a device is ranked, with its dense peak: the first one asked; bf16, else fp16, where none is.
fn rate<'a>(kind: &Kind, choice: &'a Choice) -> (&'a str, Option<f64>) {
    let asked = kind.computed_precision(choice);
    let is_free = choice.precisions.is_empty() && kind.tflops(asked).is_none() && kind.tflops("fp16").is_some();
    if is_free { ("fp16", kind.tflops("fp16")) } else { (asked, kind.tflops(asked)) }
}

fn link(kind: &Kind, choice: &Choice) -> Figure {
    if choice.total() < 2 {
        return Figure::LeftOut;
    }
    if kind.partition.is_some() {
        return Figure::Known(0.0);
    }
    Figure::of(kind.profile.as_ref().and_then(|profile| profile.interconnect_mbps))
}

fn memory_fit(kind: &Kind, choice: &Choice) -> Figure {
    let (asked, present) = match (choice.device_floor_mib(), choice.usable_floor_mib) {
        (Some(floor), _) => (floor, kind.nominal_mib),
        (None, Some(floor)) => (floor, kind.usable_mib),
        (None, None) => return Figure::LeftOut,
    };
    let present = present.filter(|&mib| mib > 0);
    present.map_or(Figure::Unknown, |mib| Figure::Known(asked as f64 / mib as f64))
}

/// Full marks between a good and a tight fit; graded below, for a device that is too large is only worse, not useless.
fn fit_value(ratio: f64) -> f64 {
    if ratio >= TIGHT_FIT { TIGHT_VALUE } else { (ratio / GOOD_FIT).min(1.0) }
}
