//! Choices that ask for the same, one for more than the other: what the smaller one found bounds what the larger one can.
//!
//! Worth only grows with what is free. So where the larger one takes devices that the smaller one could have taken too, it
//! costs the mix no less, part by part; and what else is scored does not depend on how much is taken.

use crate::inventory::Inventory;
use crate::ranking::Asker;
use crate::ranking::bound::Bound;
use crate::request::Choice;
use crate::state::StateKey;

/// What a choice asks, amounts apart from the rest.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    /// All but amounts.
    what: Choice,
    is_share: bool,
    /// Of amounts, this one is scored.
    device_floor_mib: Option<u64>,
    /// By kind: the share taken of each device; `None` where the choice takes none.
    shares: Vec<Option<u16>>,
    cpu_milli: u64,
    host_memory_mib: u64,
}

impl Ask {
    pub(super) fn of(asker: &Asker<'_>, inventory: &Inventory) -> Self {
        let choice = asker.choice;
        let kinds = inventory.kinds.iter().zip(asker.fit);
        let no_amounts =
            Choice { label: String::new(), share_milli: 0, cpu_milli: 0, host_memory_mib: 0, ..choice.clone() };
        Self {
            what: no_amounts,
            is_share: choice.is_share(),
            device_floor_mib: choice.device_floor_mib(),
            shares: kinds.map(|(kind, misfit)| misfit.is_none().then(|| kind.share_for(choice))).collect(),
            cpu_milli: choice.cpu_milli,
            host_memory_mib: choice.host_memory_mib,
        }
    }

    /// Whether both ask for the same but for amounts.
    pub(super) fn is_related(&self, other: &Self) -> bool {
        (self.is_share, self.device_floor_mib) == (other.is_share, other.device_floor_mib) && self.what == other.what
    }

    /// Whether every candidate of this choice is one of a related one too, host memory apart.
    ///
    /// Of several devices only equal shares are compared: their options are cut off where there are too many.
    pub(super) fn is_at_least(&self, other: &Self) -> bool {
        let is_within = |(own, its): (&Option<u16>, &Option<u16>)| match (own, its) {
            (None, _) => true,
            (Some(own), Some(its)) if self.what.count == 1 => own >= its,
            (own, its) => own == its,
        };
        self.cpu_milli >= other.cpu_milli && self.shares.iter().zip(&other.shares).all(is_within)
    }

    /// By how much it asks: of choices that ask no more than another, the largest is nearest to it.
    pub(super) fn size(&self) -> (Option<u16>, u64) {
        (self.shares.iter().flatten().max().copied(), self.cpu_milli)
    }

    /// What the bound of a choice that asks no more tells of a state. That it fits nowhere tells nothing where only host
    /// memory may be why.
    pub(super) fn bound_from(&self, other: &Self, bound: &Bound, state: StateKey) -> Option<Bound> {
        let tells = bound.is_of(state) && (bound.fits() || self.host_memory_mib >= other.host_memory_mib);
        tells.then(|| bound.of_any_tie())
    }
}
