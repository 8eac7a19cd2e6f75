//! What the free capacity of a node is worth to the mix, and so what a step there costs the others.
//!
//! For a node and a class of steps that asks CPU c and k devices with a share s of each:
//! - usable A: free shares of the devices with at least s free, if one such step fits, else 0; what
//!   [`crate::fragmentation`] does not call unusable;
//! - fillable B: what *as many such steps as fit* would take, so CPU that will strand devices counts.
//!
//! And for a node alone, balanced C = f x / (f + x): f its free shares, x the shares for which its free CPU lasts if they
//! need what the mix needs on average, CPU-only steps included. Half of the harmonic mean, it falls with whichever of the
//! two runs out.
//!
//! A class m of weight w counts q = (w / s) / sum (w / s): small shares fill gaps. Each of A, B and C is dearer the less
//! of it the fleet has left, compared with all that is free:
//!
//! ```text
//! worth(node) = sum over m of q_m [ 1/2 (free / sum A_m) A_m + 1/2 (free / sum B_m)^2 B_m ] + (free / sum C)^2 C
//! ```
//!
//! The sums run over the nodes that take work. So a step keeps away from scarce models, whole islands and the CPU of idle
//! devices as much as the mix needs them. Everything is a function of the present state: counts are integers, and the
//! three factors of a class are rounded down to multiples of 2^-24, once, so that worths are compared exactly.

mod demand;
mod scarcity;

pub(crate) use demand::Demand;
pub(crate) use scarcity::{Drift, Scarcity};

use crate::inventory::Node;

/// Worth of one free thousandth of a device that every step of the mix could use, were nothing scarce: 1 for A and B, 1 for C.
pub(crate) const WORTH_OF_MILLI: f64 = 2.0 * scarcity::SCALE;

/// What is free on one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Free<'a> {
    /// The node.
    pub(crate) node: &'a Node,
    /// Free shares of its devices alone.
    pub(crate) milli: &'a [u16],
    /// Free CPU; `None`, unknown, counts as enough.
    pub(crate) cpu_milli: Option<u64>,
}

impl Free<'_> {
    /// All free shares.
    pub(crate) fn total_milli(&self) -> u64 {
        self.milli.iter().map(|&milli| u64::from(milli)).sum()
    }
}

/// The worth of a node, in units of 2^-24 thousandths of a device.
pub(crate) fn worth(free: Free<'_>, demand: &Demand, scarcity: &Scarcity) -> u64 {
    let mut sum = scarcity.balanced_factor() * demand.balanced(free);
    demand.for_each_class(free, |class, usable, fillable| {
        let (usable_factor, fillable_factor) = scarcity.factors(class);
        sum += usable_factor * usable + fillable_factor * fillable;
    });
    sum
}
