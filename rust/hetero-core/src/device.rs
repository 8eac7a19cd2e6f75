//! One accelerator.

use crate::request::Choice;
use crate::units::KindIdx;

/// A device as it does not change while steps come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Id within the node.
    pub id: u32,
    /// What it is.
    pub kind: KindIdx,
    /// Group of the document that it comes from.
    pub group: usize,
    /// Scale-up island within the node; `None` when it is in none, or that is unknown.
    pub island: Option<u16>,
    /// NUMA node; `None` when unknown.
    pub numa: Option<u16>,
    /// PCIe switch within the node; `None` when unknown.
    pub switch: Option<u16>,
    /// Whether a network card is known to be on its PCIe root.
    pub is_near_nic: bool,
    /// The device that it is a partition of, by its first group in the document; `None` for a whole one, or unknown.
    pub card: Option<u32>,
    /// Whether it can be used.
    pub is_healthy: bool,
    /// Whether its pool lets it be cut into partitions while nothing runs on it.
    pub may_be_cut: bool,
    /// UUID, where known.
    pub uuid: Option<String>,
}

impl Device {
    /// Whether it is as near to a network card as a choice asks.
    pub(crate) fn is_near_enough(&self, choice: &Choice) -> bool {
        self.is_near_nic || !choice.near_nic
    }
}
