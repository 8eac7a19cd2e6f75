//! What a node offers to the mix. It stays the same while nothing is taken or given back there; only its worth moves.

use std::ops::Range;

use crate::worth::parts::{FED, Parts};
use crate::worth::{Demand, Free, Scarcity, Worth};

/// What classes find on a node that fit there equally often.
#[derive(Clone, Debug)]
pub(crate) struct Find {
    /// Their numbers.
    pub(crate) classes: Range<usize>,
    pub(super) parts: Parts,
    pub(crate) usable_milli: u64,
    pub(crate) fillable_milli: u64,
}

/// What is free on a node, and what every class finds there. A node is asked about twenty times before it changes, so
/// this is kept: it saves half of all that is counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offer {
    pub(crate) free: Free,
    /// See [`Demand::fed`].
    pub(crate) fed: u64,
    pub(crate) finds: Vec<Find>,
}

impl Offer {
    pub(crate) fn new(free: Free, demand: &Demand) -> Self {
        let mut finds = Vec::new();
        demand.for_each_find(&free, |find| finds.push(find));
        Self { fed: demand.fed(&free), free, finds }
    }

    /// The worth of the node, part by part.
    pub(crate) fn worth(&self, scarcity: &Scarcity) -> Worth {
        let mut worth = Worth::of_fed(self.fed, scarcity);
        self.finds.iter().for_each(|find| worth.add(find, scarcity));
        worth
    }
}

impl Worth {
    pub(super) fn of_fed(fed: u64, scarcity: &Scarcity) -> Self {
        let mut worth = Self::default();
        worth.0[FED] = scarcity.fed_factor() * fed;
        worth
    }

    pub(super) fn add(&mut self, find: &Find, scarcity: &Scarcity) {
        let (usable, fillable) = scarcity.factors(&find.classes);
        self.0[find.parts.usable] += usable * find.usable_milli;
        self.0[find.parts.fillable] += fillable * find.fillable_milli;
    }
}
