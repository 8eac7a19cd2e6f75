//! How scarce is what each class of steps can use, over the whole fleet.

use std::ops::{Range, RangeInclusive};

use crate::worth::{Demand, FED, Offer, PARTS};

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
const LOWS: RangeInclusive<f64> = 1e-20..=1e20;

/// Sums over the nodes that take work, and the factors that follow from them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scarcity {
    free_milli: u64,
    fed: u64,
    /// Per class: sums of what is usable and fillable.
    sums: Vec<(u64, u64)>,
    /// Per class: factors of what is usable and fillable.
    factors: Vec<(u64, u64)>,
    /// The same as running sums, from 0 to all classes.
    running: Vec<(u64, u64)>,
    fed_factor: u64,
    drift: Drift,
}

/// How far factors have changed since a fleet was built, so that what was lost at one moment bounds what is at another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drift {
    /// By part: product over all changes of the least ratio of a factor to what it was. Between two moments no loss has
    /// grown by less, or shrunk by more, than the ratio of the two.
    pub(crate) low: [f64; PARTS],
    /// Counts changes that no ratio tells.
    pub(crate) epoch: u64,
}

impl Default for Drift {
    fn default() -> Self {
        Self { low: [1.0; PARTS], epoch: 0 }
    }
}

impl Drift {
    fn change(&mut self, changes: [f64; PARTS]) {
        for (low, change) in self.low.iter_mut().zip(changes).filter(|(_, change)| change.is_finite()) {
            *low *= change;
        }
        if self.low.iter().any(|low| !LOWS.contains(low)) {
            *self = Self { epoch: self.epoch + 1, ..Self::default() };
        }
    }
}

impl Scarcity {
    /// Of a fleet without nodes.
    pub(crate) fn new(demand: &Demand) -> Self {
        let none = vec![(0, 0); demand.parts.len()];
        let running = vec![(0, 0); demand.parts.len() + 1];
        Self { sums: none.clone(), factors: none, running, ..Self::default() }
    }

    /// Counts a node in.
    pub(crate) fn add(&mut self, offer: &Offer) {
        self.free_milli += offer.free.total_milli;
        self.fed += offer.fed;
        for find in &offer.finds {
            for (usable, fillable) in &mut self.sums[find.classes.clone()] {
                *usable += find.usable_milli;
                *fillable += find.fillable_milli;
            }
        }
    }

    /// Counts a node out, as it was counted in.
    pub(crate) fn remove(&mut self, offer: &Offer) {
        self.free_milli -= offer.free.total_milli;
        self.fed -= offer.fed;
        for find in &offer.finds {
            for (usable, fillable) in &mut self.sums[find.classes.clone()] {
                *usable -= find.usable_milli;
                *fillable -= find.fillable_milli;
            }
        }
    }

    /// Computes the factors from the sums.
    pub(crate) fn settle(&mut self, demand: &Demand) {
        let (free, fed) = (self.free_milli as f64, self.fed as f64);
        let mut changes = [f64::INFINITY; PARTS];
        for (class, (sums, part)) in self.sums.iter().zip(&demand.parts).enumerate() {
            let (usable, fillable) = (times(free, sums.0 as f64), times(fed, sums.1 as f64));
            let scale = SCALE * part;
            let now = (floor(OF_USABLE * scale * usable), floor(OF_FILLABLE * scale * (fillable * fillable)));
            let (was, part) = (self.factors[class], demand.part(class));
            changes[part] = change(was.0, now.0, sums.0).min(changes[part]);
            changes[part + 1] = change(was.1, now.1, sums.1).min(changes[part + 1]);
            self.factors[class] = now;
            let before = self.running[class];
            self.running[class + 1] = (before.0 + now.0, before.1 + now.1);
        }
        let times_fed = times(free, fed);
        let now = floor(OF_FED * SCALE * (times_fed * times_fed));
        changes[FED] = change(self.fed_factor, now, self.fed);
        self.fed_factor = now;
        self.drift.change(changes);
    }

    /// See [`Drift`].
    pub(crate) fn drift(&self) -> &Drift {
        &self.drift
    }

    /// Factors of what is usable and of what is fillable, those of some classes added up.
    pub(super) fn factors(&self, classes: &Range<usize>) -> (u64, u64) {
        let (first, end) = (self.running[classes.start], self.running[classes.end]);
        (end.0 - first.0, end.1 - first.1)
    }

    /// Factor of the devices that have CPU beside them.
    pub(crate) fn fed_factor(&self) -> u64 {
        self.fed_factor
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

/// How many times a factor is what it was; infinite where that says nothing of any loss.
///
/// No node that is as it was loses a thing that none has, or that none had.
fn change(was: u64, is: u64, good: u64) -> f64 {
    if was == 0 || good == 0 { f64::INFINITY } else { is as f64 / was as f64 }
}
