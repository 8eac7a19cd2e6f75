//! What the free capacity of a node is worth to the mix, and so what a step there costs the others.
//!
//! For a node and a class of steps that asks CPU c and k devices with a share s of each:
//! - usable A: free shares of the devices with at least s free, if one such step fits, else 0; what
//!   [`crate::fragmentation`] does not call unusable;
//! - fillable B: what *as many such steps as fit* would take, so CPU that will strand devices counts.
//!
//! And for a node alone, fed C = min(f, x): f its free shares, x the shares for which its free CPU lasts if they need what the
//! mix needs on average, CPU-only steps included.
//!
//! A class m of weight w counts q = (w / s) / sum (w / s): small shares fill gaps. Each of A, B and C is dearer the less
//! of it the fleet has left: A and C compared with all that is free, B with all that is fed, since devices without CPU are
//! no loss to anybody.
//!
//! ```text
//! worth(node) = 1/5 { sum over m of q_m [ 2 (free / sum A_m) A_m + (sum C / sum B_m)^2 B_m ] + 2 (free / sum C)^2 C }
//! ```
//!
//! The sums run over the nodes that take work. So a step keeps away from scarce models, whole islands and the CPU of idle
//! devices as much as the mix needs them. Everything is a function of the present state: counts are integers, and the
//! three factors of a class are rounded down to multiples of 2^-24, once, so that worths are compared exactly.

mod demand;
mod free;
mod offer;
mod parts;
mod scarcity;
mod several;
mod singles;

use crate::units::WHOLE_MILLI;

pub(crate) use demand::Demand;
pub(crate) use free::Free;
pub(crate) use offer::Offer;
pub(crate) use parts::PARTS;
pub(crate) use scarcity::{Drift, Scarcity};

/// Worth of one free thousandth of a device that every step of the mix could use, were nothing scarce: 2 for A, 1 for B, 2 for C.
pub(crate) const WORTH_OF_MILLI: f64 = 5.0 * scarcity::SCALE;

/// The worth of a node, or a loss of it, in units of 2^-24 fifths of a thousandth of a device, part by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Worth(pub(crate) [u64; PARTS]);

impl Worth {
    /// All parts.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// In devices that all of the mix could use.
    pub(crate) fn devices(&self) -> f64 {
        self.total() as f64 / WORTH_OF_MILLI / f64::from(WHOLE_MILLI)
    }

    /// Both.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|part| self.0[part] + other.0[part]))
    }

    /// Of each part the lesser.
    pub(crate) fn least(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|part| self.0[part].min(other.0[part])))
    }
}
