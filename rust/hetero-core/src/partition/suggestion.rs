//! How to cut all idle devices for the mix, device by device.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::document::NodeState;
use crate::fleet::Fleet;
use crate::partition::layout::{Expected, Reach};
use crate::partition::stock::Stock;
use crate::units::WHOLE_MILLI;

/// A layout for one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuggestedDevice {
    /// Cluster.
    pub cluster: String,
    /// Node.
    pub node: String,
    /// Id within the node.
    pub id: u32,
    /// Catalog key.
    pub sku: String,
    /// Names of the partitions, largest first; none for a device that stays whole.
    pub layout: Vec<String>,
}

/// A layout for every idle device that may be cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// By cluster, node and id.
    pub devices: Vec<SuggestedDevice>,
    /// Of each class of the mix, how many steps are served then; `None` for a class that neither one partition nor one
    /// whole device serves.
    pub steps: Vec<Option<u64>>,
}

/// Suggests layouts. Changes nothing.
pub fn suggest(fleet: &Fleet) -> Suggestion {
    let inventory = fleet.inventory();
    let mut expected = Expected::new(&fleet.mix().document.classes);
    let mut stocks = BTreeMap::new();
    let mut devices = Vec::new();
    for node in inventory.nodes.iter().filter(|node| node.state == NodeState::Active) {
        let is_idle = |at: &usize| inventory.devices[*at].may_be_cut && fleet.capacity().free_milli[*at] == WHOLE_MILLI;
        let mut idle: Vec<usize> = node.devices.clone().filter(is_idle).collect();
        idle.sort_by_key(|&at| inventory.devices[at].id);
        for at in idle {
            let (kind, id) = (inventory.devices[at].kind, inventory.devices[at].id);
            let stock = stocks.entry(kind).or_insert_with(|| Stock::of(fleet, kind, Reach::Node));
            let Some(stock) = stock else { continue };
            let best = stock.best(&expected).clone();
            expected.serve(stock.offered(&best));
            devices.push(SuggestedDevice {
                cluster: node.cluster.clone(),
                node: node.name.clone(),
                id,
                sku: inventory.kinds[kind.at()].sku.clone().unwrap_or_default(),
                layout: stock.names(&best),
            });
        }
    }
    Suggestion { devices, steps: expected.told() }
}
