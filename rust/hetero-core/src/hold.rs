//! What a commit takes in memory, so that it can be given back.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::pairing::BoundBy;
use crate::units::NodeIdx;

/// Names a hold within one fleet. Counted, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HoldId(pub u64);

impl fmt::Display for HoldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Capacity taken on one node; a step over several nodes has one for each, under one [`HoldId`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Where.
    pub node: NodeIdx,
    /// Devices, by their position in the device columns.
    pub devices: Vec<usize>,
    /// Share of each, thousandths.
    pub share_milli: u16,
    /// Memory of a device that it asked for, where the share follows from it.
    pub share_memory_mib: Option<u64>,
    /// What it is bound by, where it says so.
    pub bound: Option<BoundBy>,
    /// CPU, thousandths of a core.
    pub cpu_milli: u64,
    /// Host memory, MiB.
    pub memory_mib: u64,
    /// The team that it counts for.
    pub team: Option<String>,
    /// The pool that it is charged to, by its place in the cluster.
    pub pool: Option<u16>,
}

/// A hold by names: it means the same in another process, and after the document was read anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedHold {
    /// Cluster.
    pub cluster: String,
    /// Node.
    pub node: String,
    /// Ids of the devices within the node.
    pub devices: Vec<u32>,
    /// Share of each, thousandths.
    pub share_milli: u16,
    /// Memory of each that a share asked for in MiB; `None` where it has its fraction of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_memory_mib: Option<u64>,
    /// What a share is bound by, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundBy>,
    /// CPU, thousandths of a core.
    pub cpu_milli: u64,
    /// Host memory, MiB.
    pub memory_mib: u64,
    /// Whose quota counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The pool that it is charged to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
}
