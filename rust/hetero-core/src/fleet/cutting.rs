//! A device cut into partitions: for as long as something is tried, and for good.

use std::sync::Arc;

use super::Fleet;
use crate::decision::{Cut, Placement};
use crate::document::NodeDocument;
use crate::error::{Error, Result};
use crate::hold::HoldId;
use crate::partition::geometry::fit_together;
use crate::units::{NodeIdx, WHOLE_MILLI};

impl Fleet {
    /// A node as the document has it, with one of its devices cut.
    pub(crate) fn document_with_cut(&self, node: NodeIdx, cut: u32, parts: &[(&str, u32)]) -> NodeDocument {
        let this = self.node(node);
        let (cluster, at) = this.place;
        let document = &self.document.clusters[cluster].nodes[at];
        document.with_cut(&self.inventory.devices[this.devices.clone()], cut, parts)
    }

    /// Asks this trial as if a node of the fleet that it was made of were as `document` says, and of its devices only those
    /// were free that it did not have; afterwards all is as it was.
    pub(crate) fn with_refit<T>(
        &mut self,
        of: &Self,
        node: NodeIdx,
        document: &NodeDocument,
        ask: impl FnOnce(&Self) -> T,
    ) -> Result<T> {
        let was = Arc::make_mut(&mut self.inventory).refit(node, &of.document, document, &of.profiles)?;
        let (before, now) = (was.devices.clone(), self.node(node).devices.clone());
        let mut known = Vec::new();
        for at in now.clone() {
            let device = &self.inventory.devices[at];
            let like = before.clone().find(|&old| self.inventory.devices[old].id == device.id);
            self.capacity.add(like, self.inventory.kinds[device.kind.at()].usable_mib);
            known.extend(like.map(|_| at));
            if let Some(kept) = like.and_then(|like| self.readings.get(&like)).cloned() {
                self.readings.insert(at, kept);
            }
        }
        self.draws.update(&self.inventory, &self.capacity.free_milli, &self.readings, node);
        for at in known {
            self.capacity.close(at);
        }
        let answer = ask(self);
        Arc::make_mut(&mut self.inventory).put_back(node, was);
        self.capacity.truncate(now.start);
        self.readings.retain(|&at, _| at < now.start);
        self.draws.update(&self.inventory, &self.capacity.free_milli, &self.readings, node);
        Ok(answer)
    }

    /// Cuts a device for good and takes what the step has of it, or changes nothing.
    pub(super) fn commit_cut(&mut self, placement: &Placement, cut: &Cut) -> Result<HoldId> {
        let mut next = self.cut(cut)?;
        let hold = next.commit(&Placement { cut: None, ..placement.clone() })?;
        *self = next;
        Ok(hold)
    }

    /// The same fleet with a device cut. Refused when the device is not idle any more, or cannot be cut so.
    fn cut(&self, cut: &Cut) -> Result<Self> {
        let stale = || Error::StalePlacement { what: format!("device {} of {}", cut.device, cut.node) };
        let node = self.inventory.find_node(&cut.cluster, &cut.node).ok_or_else(stale)?;
        let at = self.inventory.find_device(node, cut.device).ok_or_else(stale)?;
        let device = &self.inventory.devices[at];
        if !device.may_be_cut || self.capacity.free_milli[at] < WHOLE_MILLI {
            return Err(stale());
        }
        let known = self.inventory.kinds[device.kind.at()].profile.as_ref().map_or(&[][..], |p| &p.partitions);
        let find = |name: &String| known.iter().find(|part| part.name == *name);
        let parts: Option<Vec<_>> = cut.parts.iter().map(|part| find(&part.partition)).collect();
        if !parts.is_some_and(|parts| !parts.is_empty() && fit_together(&parts)) {
            return Err(stale());
        }
        let named: Vec<(&str, u32)> = cut.parts.iter().map(|part| (part.partition.as_str(), part.id)).collect();
        let document = self.document_with_cut(node, cut.device, &named);
        // Only ids can be in the way: other devices of the node were cut since.
        self.with_node(node, document, cut.device).map_err(|_| stale())
    }
}
