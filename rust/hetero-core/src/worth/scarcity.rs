//! How scarce is what each class of steps can use, over the whole fleet.

use std::ops::RangeInclusive;

use crate::worth::demand::Found;
use crate::worth::parts::{FED, PARTS};
use crate::worth::{Demand, Offer};

/// Steps in which factors are counted: 2^24 of them are 1.
pub(crate) const SCALE: f64 = 16_777_216.0;
/// How much usable and fillable devices count, and those that have CPU beside them, in fifths. As much for fillable as for usable
/// ones loses a point where CPU is short everywhere; nothing for the last loses half a point where it is uneven.
const OF_USABLE: f64 = 2.0;
const OF_FILLABLE: f64 = 1.0;
const OF_FED: f64 = 2.0;
/// A thing is at most so many times dearer than it would be were all that is free good for it; worths then stay inside 64 bits.
const MOST_TIMES: f64 = 256.0;

/// Beyond these changes are counted anew: far inside what numbers of 32 bits can be.
const FAR: RangeInclusive<f64> = 1e-20..=1e20;
/// The most and the least of a part's ratios are at most so far apart. Less, and what the least of each moment adds up to
/// makes bounds loose; more, and they are loose from the start. Over the openb traces between 1.001 and 1.01 is best.
const MOST_SPREAD: f64 = 1.003;

/// Sums over the nodes that take work, and the factors that follow from them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scarcity {
    free_milli: u64,
    fed: u64,
    /// Per class: sums of what is usable and fillable.
    sums: Vec<(u64, u64)>,
    /// Per class: factors of what is usable and fillable.
    pub(super) factors: Vec<(u64, u64)>,
    /// Factor of the devices that have CPU beside them.
    pub(super) fed_factor: u64,
    anchor: Anchor,
    drift: Drift,
}

/// How far factors have changed since a fleet was built, so that what was lost at one moment bounds what is at another.
///
/// From a moment t to a later one t', no part of a loss becomes less than `low(t') / high(t)` of what it was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drift {
    /// By part.
    pub(crate) low: [f64; PARTS],
    /// By part.
    pub(crate) high: [f64; PARTS],
    /// Counts changes that no ratio tells.
    pub(crate) epoch: u64,
}

impl Default for Drift {
    fn default() -> Self {
        Self { low: [1.0; PARTS], high: [1.0; PARTS], epoch: 0 }
    }
}

/// The factors of an earlier moment, part by part another. How far those of a part have come since is told by the least and
/// the most that any has: closer than by what the least of every change adds up to, since it is not always the same that falls.
#[derive(Clone, Debug, Default)]
struct Anchor {
    factors: Vec<(u64, u64)>,
    fed_factor: u64,
    /// See [`Drift`]: where both were then.
    at: [f64; PARTS],
}

/// The least and the most of some ratios.
#[derive(Clone, Copy)]
struct Span(f64, f64);

impl Span {
    const NONE: Self = Self(f64::INFINITY, 0.0);

    fn add(&mut self, was: u64, now: u64, good: u64) {
        if was > 0 && good > 0 {
            let ratio = now as f64 / was as f64;
            (self.0, self.1) = (self.0.min(ratio), self.1.max(ratio));
        }
    }
}

impl Scarcity {
    /// Of a fleet without nodes.
    pub(crate) fn new(demand: &Demand) -> Self {
        let none = vec![(0, 0); demand.portions.len()];
        let anchor = Anchor { factors: none.clone(), at: [1.0; PARTS], ..Anchor::default() };
        Self { sums: none.clone(), factors: none, anchor, ..Self::default() }
    }

    /// Counts a node in.
    pub(crate) fn add(&mut self, offer: &Offer) {
        self.free_milli += offer.free.total_milli;
        self.fed += offer.fed;
        for (sums, Found { usable_milli, fillable_milli }) in self.sums.iter_mut().zip(&offer.found) {
            *sums = (sums.0 + u64::from(*usable_milli), sums.1 + u64::from(*fillable_milli));
        }
    }

    /// Counts a node out, as it was counted in.
    pub(crate) fn remove(&mut self, offer: &Offer) {
        self.free_milli -= offer.free.total_milli;
        self.fed -= offer.fed;
        for (sums, Found { usable_milli, fillable_milli }) in self.sums.iter_mut().zip(&offer.found) {
            *sums = (sums.0 - u64::from(*usable_milli), sums.1 - u64::from(*fillable_milli));
        }
    }

    /// Computes the factors from the sums.
    pub(crate) fn settle(&mut self, demand: &Demand) {
        let (free, fed) = (self.free_milli as f64, self.fed as f64);
        let mut spans = [Span::NONE; PARTS];
        let mut is_new = false;
        for segment in &demand.segments {
            let (mut of_usable, mut of_fillable) = (spans[segment.parts.usable], spans[segment.parts.fillable]);
            for class in segment.classes.clone() {
                let (sums, scale) = (self.sums[class], SCALE * demand.portions[class]);
                let (usable, fillable) = (times(free, sums.0 as f64), times(fed, sums.1 as f64));
                let now = (floor(OF_USABLE * scale * usable), floor(OF_FILLABLE * scale * (fillable * fillable)));
                let (was, then) = (self.factors[class], self.anchor.factors[class]);
                of_usable.add(then.0, now.0, sums.0);
                of_fillable.add(then.1, now.1, sums.1);
                is_new |= (was.0 == 0 && now.0 > 0) || (was.1 == 0 && now.1 > 0);
                self.factors[class] = now;
            }
            (spans[segment.parts.usable], spans[segment.parts.fillable]) = (of_usable, of_fillable);
        }
        let times_fed = times(free, fed);
        let now = floor(OF_FED * SCALE * (times_fed * times_fed));
        spans[FED].add(self.anchor.fed_factor, now, self.fed);
        is_new |= self.fed_factor == 0 && now > 0;
        self.fed_factor = now;
        self.follow(&spans, is_new, demand);
    }

    /// Tells the drift how far factors have come, and begins anew where it would be told too loosely.
    fn follow(&mut self, spans: &[Span; PARTS], is_new: bool, demand: &Demand) {
        let Self { anchor, drift, .. } = self;
        for (part, span) in spans.iter().enumerate().filter(|(_, span)| span.0.is_finite()) {
            (drift.low[part], drift.high[part]) = (anchor.at[part] * span.0, anchor.at[part] * span.1);
        }
        let is_lost = drift.low.iter().chain(&drift.high).any(|far| !FAR.contains(far));
        if is_lost {
            *drift = Drift { epoch: drift.epoch + 1, ..Drift::default() };
        }
        let is_due = |part: usize| is_new || is_lost || drift.high[part] > drift.low[part] * MOST_SPREAD;
        let due: [bool; PARTS] = std::array::from_fn(is_due);
        if !due.contains(&true) {
            return;
        }
        for segment in &demand.segments {
            for class in segment.classes.clone() {
                let (then, now) = (&mut anchor.factors[class], self.factors[class]);
                if due[segment.parts.usable] {
                    then.0 = now.0;
                }
                if due[segment.parts.fillable] {
                    then.1 = now.1;
                }
            }
        }
        if due[FED] {
            anchor.fed_factor = self.fed_factor;
        }
        for part in (0..PARTS).filter(|&part| due[part]) {
            (anchor.at[part], drift.high[part]) = (drift.low[part], drift.low[part]);
        }
    }

    /// See [`Drift`].
    pub(crate) fn drift(&self) -> &Drift {
        &self.drift
    }
}

/// How many times more is free than is good for a thing; 0 where nothing is, for then no node has any worth for it.
fn times(free: f64, good: f64) -> f64 {
    if good > 0.0 { (free / good).min(MOST_TIMES) } else { 0.0 }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 2^42, and not negative
fn floor(factor: f64) -> u64 {
    factor as u64
}
