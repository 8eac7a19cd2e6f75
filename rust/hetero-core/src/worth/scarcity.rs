//! How scarce is what each class of steps can use, over the whole fleet.

use std::ops::Range;

use crate::worth::{Demand, FED, Free, PARTS};

/// Steps in which factors are counted: 2^24 of them are 1.
pub(crate) const SCALE: f64 = 16_777_216.0;
/// How much usable and fillable devices count, and those that have CPU beside them, in fifths. As much for fillable as for usable
/// ones loses a point where CPU is short everywhere; nothing for the last loses half a point where it is uneven.
const OF_USABLE: f64 = 2.0;
const OF_FILLABLE: f64 = 1.0;
const OF_FED: f64 = 2.0;
/// A thing is at most so many times dearer than it would be were all that is free good for it; worths then stay inside 64 bits.
const MOST_TIMES: f64 = 256.0;

/// Where falls are counted anew: far above the least number of 32 bits.
const LEAST_LOW: f64 = 1e-20;

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

/// How far factors have fallen since a fleet was built, so that what was lost at one moment bounds what is at another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drift {
    /// By part: product over all changes of the largest relative fall of a factor, at most 1 each. Between two moments no
    /// loss has shrunk by more than the ratio of the two.
    pub(crate) low: [f64; PARTS],
    /// Counts falls that no ratio tells.
    pub(crate) epoch: u64,
}

impl Default for Drift {
    fn default() -> Self {
        Self { low: [1.0; PARTS], epoch: 0 }
    }
}

impl Drift {
    fn fall(&mut self, falls: [f64; PARTS]) {
        for (low, fall) in self.low.iter_mut().zip(falls) {
            *low *= fall;
        }
        if self.low.iter().any(|&low| low < LEAST_LOW) {
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
    pub(crate) fn add(&mut self, free: &Free, demand: &Demand) {
        self.free_milli += free.total_milli;
        self.fed += demand.fed(free);
        demand.for_each_class(free, |class, usable, fillable| {
            self.sums[class].0 += usable;
            self.sums[class].1 += fillable;
        });
    }

    /// Counts a node out, as it was counted in.
    pub(crate) fn remove(&mut self, free: &Free, demand: &Demand) {
        self.free_milli -= free.total_milli;
        self.fed -= demand.fed(free);
        demand.for_each_class(free, |class, usable, fillable| {
            self.sums[class].0 -= usable;
            self.sums[class].1 -= fillable;
        });
    }

    /// Computes the factors from the sums.
    pub(crate) fn settle(&mut self, demand: &Demand) {
        let (free, fed) = (self.free_milli as f64, self.fed as f64);
        let mut falls = [1.0; PARTS];
        for (class, (sums, part)) in self.sums.iter().zip(&demand.parts).enumerate() {
            let (usable, fillable) = (times(free, sums.0 as f64), times(fed, sums.1 as f64));
            let scale = SCALE * part;
            let now = (floor(OF_USABLE * scale * usable), floor(OF_FILLABLE * scale * (fillable * fillable)));
            let (was, part) = (self.factors[class], demand.part(class));
            falls[part] = fall(was.0, now.0, sums.0).min(falls[part]);
            falls[part + 1] = fall(was.1, now.1, sums.1).min(falls[part + 1]);
            self.factors[class] = now;
            let before = self.running[class];
            self.running[class + 1] = (before.0 + now.0, before.1 + now.1);
        }
        let times_fed = times(free, fed);
        let now = floor(OF_FED * SCALE * (times_fed * times_fed));
        falls[FED] = fall(self.fed_factor, now, self.fed);
        self.fed_factor = now;
        self.drift.fall(falls);
    }

    /// See [`Drift`].
    pub(crate) fn drift(&self) -> &Drift {
        &self.drift
    }

    /// Running sums of the factors of what is usable and of what is fillable: before each of some classes, and after all.
    pub(crate) fn running(&self, classes: Range<usize>) -> &[(u64, u64)] {
        &self.running[classes.start..=classes.end]
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

/// How many times a factor is what it was, 1 where it has not fallen.
///
/// One that becomes 0 because no node is good for the thing any more changes no loss.
fn fall(was: u64, is: u64, good: u64) -> f64 {
    if is >= was || good == 0 { 1.0 } else { is as f64 / was as f64 }
}
