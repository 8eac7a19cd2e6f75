//! The fleet at a glance: devices by pool and kind.

use indexmap::IndexMap;
use serde::Serialize;

use crate::document::NodeState;
use crate::fleet::Fleet;
use crate::units::{NodeIdx, WHOLE_MILLI};

/// Devices of one kind in one pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Cluster.
    pub cluster: String,
    /// Pool; `None` for nodes in none.
    pub pool: Option<String>,
    /// Catalog key or model, with the partition; `None` for nodes without devices.
    pub kind: Option<String>,
    /// Vendor.
    pub vendor: Option<String>,
    /// Nominal memory of a device.
    pub memory_mib: Option<u64>,
    /// Brand of the link between the devices of a node.
    pub link: Option<String>,
    /// Nodes.
    pub nodes: usize,
    /// Nodes that take no work now.
    pub closed_nodes: usize,
    /// Devices.
    pub devices: usize,
    /// Devices that are wholly free on nodes that take work.
    pub free_devices: usize,
    /// Devices that are unhealthy.
    pub unhealthy_devices: usize,
    /// Free devices in the largest free island; 0 without islands.
    pub largest_free_island: usize,
}

/// One row per cluster, pool and kind, in order of their names.
pub fn overview(fleet: &Fleet) -> Vec<Row> {
    let mut rows: IndexMap<(String, Option<String>, Option<String>), Row> = IndexMap::new();
    let inventory = fleet.inventory();
    for at in (0..inventory.nodes.len()).map(NodeIdx::new) {
        let node = fleet.node(at);
        let is_open = node.state == NodeState::Active;
        let runs = node.kinds.iter().map(|run| Some((run.kind, run.devices.clone())));
        let without = node.kinds.is_empty().then_some(None);
        for run in runs.chain(without) {
            let kind = run.as_ref().map(|(kind, _)| &inventory.kinds[kind.at()]);
            let key = (node.cluster.clone(), node.pool.clone(), kind.map(crate::kind::Kind::label));
            let row = rows.entry(key.clone()).or_insert_with(|| Row {
                cluster: key.0,
                pool: key.1,
                kind: key.2,
                vendor: kind.and_then(|kind| kind.vendor.clone()),
                memory_mib: kind.and_then(|kind| kind.nominal_mib),
                link: kind.and_then(|kind| kind.profile.as_ref()?.interconnect.clone()),
                ..Row::default()
            });
            row.nodes += 1;
            row.closed_nodes += usize::from(!is_open);
            let Some((kind, devices)) = run else { continue };
            let is_free = |at: &usize| is_open && fleet.capacity().free_milli[*at] == WHOLE_MILLI;
            row.devices += devices.len();
            row.free_devices += devices.clone().filter(is_free).count();
            row.unhealthy_devices += devices.filter(|&at| !inventory.devices[at].is_healthy).count();
            let islands = node.islands.iter().filter(|island| island.kind == kind);
            let free = islands.map(|island| island.devices.clone().filter(is_free).count()).max().unwrap_or(0);
            row.largest_free_island = row.largest_free_island.max(free);
        }
    }
    rows.sort_keys();
    rows.into_values().collect()
}
