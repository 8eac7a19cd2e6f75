//! How scarce is what each class of steps can use, over the whole fleet.

use crate::worth::demand::PARTS;
use crate::worth::{Demand, Free};

/// Steps in which factors are counted: 2^24 of them are 1.
pub(crate) const SCALE: f64 = 16_777_216.0;
/// A thing is at most so many times dearer than it would be were all that is free good for it; worths then stay inside 64 bits.
const MOST_TIMES: f64 = 256.0;

/// Sums over the nodes that take work, and the factors that follow from them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scarcity {
    free_milli: u64,
    balanced: u64,
    /// Per class: sums of what is usable and fillable.
    sums: Vec<(u64, u64)>,
    /// Per class: factors of what is usable and fillable.
    factors: Vec<(u64, u64)>,
    balanced_factor: u64,
    drift: Drift,
}

/// How far the factors have moved since a fleet was built: two moments tell by how much a loss can have changed between.
///
/// Between two moments of one epoch no factor, and so no loss, has grown or shrunk by more than `exp(difference of sums)`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drift {
    /// Sum over all changes of the largest relative change of a factor.
    pub(crate) sum: f64,
    /// Counts what no ratio tells: a factor that was 0 and is not any more.
    pub(crate) epoch: u64,
}

impl Drift {
    /// By how much the value of fragmentation can have moved since another moment of the same epoch.
    ///
    /// The value is r / (r + x); while log x moves by d it moves by d times its own product with its complement at most,
    /// so by d / 4. The last digits are given away to rounding.
    pub(crate) fn most_of_value(self, then: f64) -> f64 {
        (self.sum - then).abs() * 0.25 + 1e-9
    }

    fn add(&mut self, most: f64) {
        self.sum += most - 1.0;
    }
}

impl Scarcity {
    /// Of a fleet without nodes.
    pub(crate) fn new(demand: &Demand) -> Self {
        let none = vec![(0, 0); demand.parts.len()];
        Self { sums: none.clone(), factors: none, ..Self::default() }
    }

    /// Counts a node in.
    pub(crate) fn add(&mut self, free: Free<'_>, demand: &Demand) {
        self.free_milli += free.total_milli();
        self.balanced += demand.balanced(free);
        demand.for_each_class(free, |class, usable, fillable| {
            self.sums[class].0 += usable;
            self.sums[class].1 += fillable;
        });
    }

    /// Counts a node out, as it was counted in.
    pub(crate) fn remove(&mut self, free: Free<'_>, demand: &Demand) {
        self.free_milli -= free.total_milli();
        self.balanced -= demand.balanced(free);
        demand.for_each_class(free, |class, usable, fillable| {
            self.sums[class].0 -= usable;
            self.sums[class].1 -= fillable;
        });
    }

    /// Computes the factors from the sums.
    pub(crate) fn settle(&mut self, demand: &Demand) {
        let free = self.free_milli as f64;
        let mut most: f64 = 1.0;
        for ((sums, factors), part) in self.sums.iter().zip(&mut self.factors).zip(&demand.parts) {
            let half = SCALE * part * 0.5;
            let (usable, fillable) = (times(free, sums.0 as f64), times(free, sums.1 as f64));
            let now = (floor(half * usable), floor(half * (fillable * fillable)));
            most = most.max(change(factors.0, now.0, sums.0)).max(change(factors.1, now.1, sums.1));
            *factors = now;
        }
        let balanced = times(free, self.balanced as f64 / PARTS);
        let now = floor(SCALE / PARTS * (balanced * balanced));
        most = most.max(change(self.balanced_factor, now, self.balanced));
        self.balanced_factor = now;
        if most.is_finite() { self.drift.add(most) } else { self.drift.epoch += 1 }
    }

    /// See [`Drift`].
    pub(crate) fn drift(&self) -> Drift {
        self.drift
    }

    /// Factors of what is usable and of what is fillable by a class.
    pub(crate) fn factors(&self, class: usize) -> (u64, u64) {
        self.factors[class]
    }

    /// Factor of what is balanced.
    pub(crate) fn balanced_factor(&self) -> u64 {
        self.balanced_factor
    }
}

/// How many times more is free than is good for a thing; 0 where nothing is, for then no node has any worth for it.
fn times(free: f64, good: f64) -> f64 {
    if good > 0.0 { (free / good).min(MOST_TIMES) } else { 0.0 }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 2^40, and not negative
fn floor(factor: f64) -> u64 {
    factor as u64
}

/// How many times larger the larger of two factors is, infinite where one is 0.
///
/// One that becomes 0 because no node is good for the thing any more changes no loss.
fn change(was: u64, is: u64, good: u64) -> f64 {
    match (was, is) {
        (0, 0) => 1.0,
        (_, 0) if good == 0 => 1.0,
        (0, _) | (_, 0) => f64::INFINITY,
        _ => was.max(is) as f64 / was.min(is) as f64,
    }
}
