//! Fragmentation of a fleet, node by node, for a person to read.

use serde::Serialize;

use crate::document::NodeState;
use crate::fleet::Fleet;
use crate::fragmentation::weighted_unusable;
use crate::units::{NodeIdx, WHOLE_MILLI};

/// Fragmentation of one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeReport {
    /// Cluster.
    pub cluster: String,
    /// Node.
    pub node: String,
    /// Kinds of its devices.
    pub kinds: Vec<String>,
    /// Free capacity, thousandths of a device.
    pub free_milli: u64,
    /// Free capacity that the mix cannot use, thousandths of a device.
    pub fragmentation_milli: f64,
}

/// Fragmentation of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// What the number means.
    pub definition: &'static str,
    /// Source of the mix.
    pub mix: String,
    /// Number of classes in the mix.
    pub classes: usize,
    /// All capacity, thousandths of a device.
    pub capacity_milli: u64,
    /// Free capacity, thousandths of a device.
    pub free_milli: u64,
    /// Free capacity that the mix cannot use, thousandths of a device.
    pub fragmentation_milli: f64,
    /// The same as a share of the free capacity; `None` when nothing is free.
    pub fragmentation_ratio: Option<f64>,
    /// Nodes with free capacity, worst first.
    pub nodes: Vec<NodeReport>,
}

/// Fragmentation of a fleet under its mix. Nodes that take no work and devices that are unhealthy count as not free.
pub fn report(fleet: &Fleet) -> Report {
    let total_weight = fleet.mix().total_weight.max(1);
    let milli = |weighted: u128| round(weighted as f64 / total_weight as f64);
    let mut nodes = Vec::new();
    let (mut free_all, mut weighted_all) = (0, 0u128);
    for at in (0..fleet.inventory().nodes.len()).map(NodeIdx::new) {
        let node = fleet.node(at);
        let free_milli: u64 = fleet.free_milli(at).iter().map(|&free| u64::from(free)).sum();
        if free_milli == 0 || node.state != NodeState::Active {
            continue;
        }
        let weighted = u128::from(weighted_unusable(
            node,
            fleet.free_milli(at),
            fleet.capacity().free_cpu_milli[at.at()],
            fleet.mix(),
        ));
        free_all += free_milli;
        weighted_all += weighted;
        nodes.push(NodeReport {
            cluster: node.cluster.clone(),
            node: node.name.clone(),
            kinds: node.kinds.iter().map(|run| fleet.inventory().kinds[run.kind.at()].label()).collect(),
            free_milli,
            fragmentation_milli: milli(weighted),
        });
    }
    nodes.sort_by(|a, b| b.fragmentation_milli.total_cmp(&a.fragmentation_milli)); // stable: ties keep the names' order
    Report {
        definition: "free thousandths of a device that steps of the mix cannot use, weighted by popularity",
        mix: fleet.mix().document.source.clone(),
        classes: fleet.mix().document.classes.len(),
        capacity_milli: fleet.inventory().devices.len() as u64 * u64::from(WHOLE_MILLI),
        free_milli: free_all,
        fragmentation_milli: milli(weighted_all),
        fragmentation_ratio: (free_all > 0).then(|| milli(weighted_all) / free_all as f64),
        nodes,
    }
}

/// Thousandths of a device to two decimals: more would only show the noise of the division.
fn round(milli: f64) -> f64 {
    (milli * 100.0).round() / 100.0
}
