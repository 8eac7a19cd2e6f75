//! Pairing of shares: a step that computes is better off beside one that reads memory than beside one of its own kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the speed of a step hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BoundBy {
    /// The rate of its device.
    Compute,
    /// The memory bandwidth of its device.
    Memory,
}

impl BoundBy {
    /// Its word in a requirement.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
        }
    }
}

/// What shares of one device have that say what they are bound by, thousandths of it. Those that do not say are in neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbours {
    /// Of shares that are bound by compute.
    pub compute_milli: u16,
    /// Of shares that are bound by memory.
    pub memory_milli: u16,
}

impl Neighbours {
    /// Of shares that are bound by the same.
    pub(crate) fn alike_milli(self, bound: BoundBy) -> u16 {
        match bound {
            BoundBy::Compute => self.compute_milli,
            BoundBy::Memory => self.memory_milli,
        }
    }

    /// As the part of a device that shares of each kind have.
    pub(crate) fn words(self) -> String {
        let Self { compute_milli, memory_milli } = self;
        format!("beside it on the device: {compute_milli}/1000 bound by compute, {memory_milli}/1000 by memory")
    }

    /// With one share more.
    #[must_use]
    pub(crate) fn with(self, bound: BoundBy, share_milli: u16) -> Self {
        self.changed(bound, |milli| milli.saturating_add(share_milli))
    }

    /// With one share less.
    #[must_use]
    pub(crate) fn without(self, bound: BoundBy, share_milli: u16) -> Self {
        self.changed(bound, |milli| milli.saturating_sub(share_milli))
    }

    fn changed(mut self, bound: BoundBy, change: impl FnOnce(u16) -> u16) -> Self {
        let milli = match bound {
            BoundBy::Compute => &mut self.compute_milli,
            BoundBy::Memory => &mut self.memory_milli,
        };
        *milli = change(*milli);
        self
    }
}
