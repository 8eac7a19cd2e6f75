//! One accelerator.

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
    /// The device that it is a partition of, by its first group in the document; `None` for a whole one, or unknown.
    pub card: Option<u32>,
    /// Whether it can be used.
    pub is_healthy: bool,
    /// UUID, where known.
    pub uuid: Option<String>,
}
