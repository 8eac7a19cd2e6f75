//! When the tasks that run began.

use std::collections::{BTreeMap, BTreeSet};

use hetero_core::hold::Hold;
use hetero_core::units::NodeIdx;

/// Tasks by where they run, each with its beginning.
#[derive(Debug, Default)]
pub(super) struct Began {
    devices: BTreeMap<usize, BTreeSet<(u64, usize)>>,
    nodes: BTreeMap<NodeIdx, BTreeSet<(u64, usize)>>,
    tasks: BTreeMap<usize, u64>,
}

impl Began {
    pub(super) fn start(&mut self, hold: &Hold, task: usize, at: u64) {
        self.tasks.insert(task, at);
        self.nodes.entry(hold.node).or_default().insert((at, task));
        for &device in &hold.devices {
            self.devices.entry(device).or_default().insert((at, task));
        }
    }

    pub(super) fn end(&mut self, hold: &Hold, task: usize) {
        let Some(at) = self.tasks.remove(&task) else { return };
        self.nodes.entry(hold.node).or_default().remove(&(at, task));
        for &device in &hold.devices {
            self.devices.entry(device).or_default().remove(&(at, task));
        }
    }

    /// When the oldest task on a device began; `None` without any.
    pub(super) fn on_device(&self, device: usize) -> Option<u64> {
        self.devices.get(&device)?.first().map(|&(at, _)| at)
    }

    /// When the oldest task on a node began; `None` without any.
    pub(super) fn on_node(&self, node: NodeIdx) -> Option<u64> {
        self.nodes.get(&node)?.first().map(|&(at, _)| at)
    }
}
