//! Racks: nodes that share a power budget.

use std::collections::BTreeMap;

use super::{Inventory, Node, check_name};
use crate::document::FleetDocument;
use crate::domain::{RACK_LABELS, label};
use crate::error::{Error, Result};
use crate::units::NodeIdx;

/// A rack with a power budget.
#[derive(Clone, Debug)]
pub struct Rack {
    /// Its name.
    pub name: String,
    /// Power that the devices of its nodes may draw together.
    pub power_budget_mw: u64,
    /// Its nodes.
    pub nodes: Vec<NodeIdx>,
}

impl Inventory {
    /// The racks of the document that some node is in, in the order of clusters and names.
    pub(super) fn add_racks(&mut self, document: &FleetDocument) -> Result<()> {
        let mut racks: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for (c, cluster) in document.clusters.iter().enumerate() {
            for (r, rack) in cluster.racks.iter().enumerate() {
                let path = format!("clusters[{c}].racks[{r}]");
                check_name(&rack.name, &path)?;
                if racks.insert((&cluster.name, &rack.name), rack.power_budget_mw).is_some() {
                    let message = format!("rack {:?} is named twice in cluster {:?}", rack.name, cluster.name);
                    return Err(Error::document(path, message));
                }
            }
        }
        for ((cluster, name), power_budget_mw) in racks {
            let is_in = |node: &Node| node.cluster == cluster && label(node, &RACK_LABELS).is_some_and(|l| l == name);
            let at = self.racks.len();
            let mut nodes = Vec::new();
            for (n, node) in self.nodes.iter_mut().enumerate().filter(|(_, node)| is_in(node)) {
                node.rack = Some(at);
                nodes.push(NodeIdx::new(n));
            }
            self.racks.push(Rack { name: name.to_owned(), power_budget_mw, nodes });
        }
        Ok(())
    }
}
