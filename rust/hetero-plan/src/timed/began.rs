//! When the tasks that run began.

use std::collections::{BTreeMap, BTreeSet};

use hetero_core::hold::Hold;
use hetero_core::units::NodeIdx;

/// Tasks by where they run, each with its beginning.
#[derive(Debug, Default)]
pub(super) struct Began {
    of_device: BTreeMap<usize, BTreeSet<(u64, usize)>>,
    of_node: BTreeMap<NodeIdx, BTreeSet<(u64, usize)>>,
    of_task: BTreeMap<usize, u64>,
}

impl Began {
    pub(super) fn start(&mut self, hold: &Hold, task: usize, at: u64) {
        self.of_task.insert(task, at);
        self.of_node.entry(hold.node).or_default().insert((at, task));
        for &device in &hold.devices {
            self.of_device.entry(device).or_default().insert((at, task));
        }
    }

    pub(super) fn end(&mut self, hold: &Hold, task: usize) {
        let Some(at) = self.of_task.remove(&task) else { return };
        self.of_node.entry(hold.node).or_default().remove(&(at, task));
        for &device in &hold.devices {
            self.of_device.entry(device).or_default().remove(&(at, task));
        }
    }

    /// When the oldest task on a device began; `None` without any.
    pub(super) fn on_device(&self, device: usize) -> Option<u64> {
        self.of_device.get(&device)?.first().map(|&(at, _)| at)
    }

    /// When the oldest task on a node began; `None` without any.
    pub(super) fn on_node(&self, node: NodeIdx) -> Option<u64> {
        self.of_node.get(&node)?.first().map(|&(at, _)| at)
    }
}
