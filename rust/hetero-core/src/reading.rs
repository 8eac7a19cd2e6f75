//! Readings of running devices: what was measured, when and by whom. Unknown is `None`, never 0.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::fleet::Fleet;
use crate::units::NodeIdx;

/// What was read of one device at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reading {
    /// Cluster; may be left out where no other cluster has a node of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Node.
    pub node: String,
    /// Id of the device within the node.
    pub device: u32,
    /// When, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// By whom, as `nvml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Power that it draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_mw: Option<u64>,
    /// Temperature, degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<i32>,
    /// Memory in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used_mib: Option<u64>,
    /// Part of the time that it computes, thousandths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization_milli: Option<u16>,
}

/// A reading as the fleet keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) reading: Reading,
    /// What was free of the device then: a reading tells nothing of steps that came or went since.
    pub(crate) free_milli: u16,
}

/// The last reading of each device that has one, by its position in the columns.
pub(crate) type Readings = IndexMap<usize, Kept>;

/// The devices that readings are of.
///
/// An error names the first reading of a node or device that is not there, and nothing is applied then.
pub(crate) fn located(fleet: &Fleet, readings: Vec<Reading>) -> Result<Vec<(NodeIdx, usize, Reading)>> {
    let mut found = Vec::new();
    for (index, reading) in readings.into_iter().enumerate() {
        let refuse = |what: String| Error::document(format!("readings[{index}]"), what);
        let name = &reading.node;
        let node = match &reading.cluster {
            Some(cluster) => fleet.inventory().find_node(cluster, name),
            None => only_node(fleet, name),
        };
        let node = node.ok_or_else(|| {
            refuse(format!("the fleet has no node {name:?}, or several; name one of it, with its cluster"))
        })?;
        let at = fleet.inventory().find_device(node, reading.device).ok_or_else(|| {
            refuse(format!("{name} has no device {}; ids are those of the fleet document", reading.device))
        })?;
        if reading.utilization_milli.is_some_and(|milli| milli > 1000) {
            return Err(refuse("utilization is 0 to 1000 thousandths".to_owned()));
        }
        found.push((node, at, reading));
    }
    Ok(found)
}

fn only_node(fleet: &Fleet, name: &str) -> Option<NodeIdx> {
    let nodes = fleet.inventory().nodes.iter().enumerate();
    let mut named = nodes.filter(|(_, node)| node.name == name).map(|(at, _)| NodeIdx::new(at));
    named.next().filter(|_| named.next().is_none())
}
