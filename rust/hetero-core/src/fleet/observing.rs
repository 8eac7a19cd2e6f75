//! Readings of devices, applied.

use super::Fleet;
use crate::error::Result;
use crate::reading::{Kept, Reading, located};

impl Fleet {
    /// Takes readings into account from now on, all or none; one of a device replaces the last one of it.
    pub fn observe(&mut self, readings: Vec<Reading>) -> Result<()> {
        for (node, at, reading) in located(self, readings)? {
            self.node_changes(node);
            let cluster = Some(self.node(node).cluster.clone());
            let kept = Kept { free_milli: self.capacity.free_milli[at], reading: Reading { cluster, ..reading } };
            let kind = &self.inventory.kinds[self.inventory.devices[at].kind.at()];
            self.capacity.set_full(at, kind.is_full_at(kept.reading.memory_used_mib));
            self.readings.insert(at, kept);
            self.node_changed(node);
        }
        self.readings.sort_unstable_keys();
        Ok(())
    }

    /// The last readings, in the order of clusters, nodes and devices. Those that steps outdated are left out.
    pub fn readings(&self) -> Vec<Reading> {
        let kept = self.readings.iter().filter(|(at, kept)| kept.free_milli == self.capacity.free_milli[**at]);
        kept.map(|(_, kept)| kept.reading.clone()).collect()
    }
}
