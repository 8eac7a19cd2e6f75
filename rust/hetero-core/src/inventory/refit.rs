//! A node with other devices than it had, for as long as something is tried.

use crate::document::{FleetDocument, NodeDocument};
use crate::error::Result;
use crate::inventory::named::NamedNode;
use crate::inventory::{Inventory, Node};
use crate::profile::Profiles;
use crate::units::NodeIdx;

impl Inventory {
    /// Gives a node the devices of `document`, at the end of the columns, and returns the node as it was.
    ///
    /// Its former devices stay in the columns, where nothing refers to them until it is put back.
    pub(crate) fn refit(
        &mut self,
        at: NodeIdx,
        fleet: &FleetDocument,
        document: &NodeDocument,
        profiles: &Profiles,
    ) -> Result<Node> {
        let was = self.nodes[at.at()].clone();
        let node = self.placed_node(&NamedNode::in_place_of(&was, fleet, document), profiles)?;
        let (before, now) = self.devices.split_at_mut(node.devices.start);
        for device in now {
            let same = before[was.devices.clone()].iter().find(|known| known.id == device.id);
            device.is_healthy = same.is_none_or(|known| known.is_healthy);
        }
        // What the document does not say, or what was changed since.
        self.nodes[at.at()] = Node { domains: was.domains, rack: was.rack, state: was.state, ..node };
        Ok(was)
    }

    /// Puts a node back, and drops what [`Inventory::refit`] added for it.
    pub(crate) fn put_back(&mut self, at: NodeIdx, was: Node) {
        self.devices.truncate(self.nodes[at.at()].devices.start);
        self.nodes[at.at()] = was;
    }
}
