//! What a node offers to the mix. It stays the same while nothing is taken or given back there; only its worth moves.

use crate::worth::demand::Found;
use crate::worth::parts::FED;
use crate::worth::{Demand, Free, Scarcity, Worth};

/// What is free on a node, and what every class finds there. A node is asked about twenty times before it changes, so
/// this is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offer {
    pub(crate) free: Free,
    /// See [`Demand::fed`].
    pub(super) fed: u64,
    /// By class.
    pub(super) found: Vec<Found>,
}

impl Offer {
    pub(crate) fn new(free: Free, demand: &Demand) -> Self {
        let mut this = Self { free, fed: 0, found: Vec::new() };
        this.find(demand);
        this
    }

    /// Looks at what is free now.
    pub(crate) fn find(&mut self, demand: &Demand) {
        self.fed = demand.fed(&self.free);
        demand.find(&self.free, &mut self.found);
    }

    /// How much less than this another is worth, which has no more to offer to any class.
    ///
    /// The sums stay inside 64 bits, see [`Scarcity`], so none of them is checked: they are most of the time of a decision.
    pub(crate) fn less(&self, after: &Self, demand: &Demand, scarcity: &Scarcity) -> Worth {
        let mut worth = Worth::default();
        worth.0[FED] = scarcity.fed_factor * (self.fed - after.fed);
        for segment in &demand.segments {
            let (mut usable, mut fillable) = (0u64, 0u64);
            let found = self.found[segment.classes.clone()].iter().zip(&after.found[segment.classes.clone()]);
            for (factors, (before, after)) in scarcity.factors[segment.classes.clone()].iter().zip(found) {
                let usable_milli = u64::from(before.usable_milli - after.usable_milli);
                let fillable_milli = u64::from(before.fillable_milli - after.fillable_milli);
                usable = factors.0.wrapping_mul(usable_milli).wrapping_add(usable);
                fillable = factors.1.wrapping_mul(fillable_milli).wrapping_add(fillable);
            }
            worth.0[segment.parts.usable] += usable;
            worth.0[segment.parts.fillable] += fillable;
        }
        worth
    }
}
