//! What all runs share: the fleet before anything arrives, and the classes of tasks made ready for it.

use hetero_core::capacity::Capacity;
use hetero_core::document::NodeState;
use hetero_core::filter::{self, Misfit, View};
use hetero_core::fragmentation::weighted_unusable;
use hetero_core::hold::Hold;
use hetero_core::power::in_use_mw;
use hetero_core::request::Choice;
use hetero_core::units::{NodeIdx, WHOLE_MILLI};
use hetero_core::{Fleet, Result};

use crate::device;
use crate::score::Ask;
use crate::trace::{Trace, refuse};

/// A class of tasks, made ready for a fleet.
#[derive(Debug)]
pub(crate) struct Class {
    /// All that it asks.
    pub(crate) choice: Choice,
    /// The part that policies score.
    pub(crate) ask: Ask,
    fit: Vec<Option<Misfit>>,
}

/// The fleet and the classes of tasks.
#[derive(Debug)]
pub(crate) struct World {
    /// The fleet with the mix of the trace.
    pub(crate) fleet: Fleet,
    /// By their place in the trace.
    pub(crate) classes: Vec<Class>,
    /// The healthy devices, thousandths of one.
    pub(crate) capacity_milli: u64,
}

impl World {
    pub(crate) fn new(fleet: &Fleet, trace: &Trace) -> Result<Self> {
        let mut fleet = fleet.clone();
        fleet.set_mix(trace.mix.clone())?;
        let inventory = fleet.inventory();
        let healthy = inventory.devices.iter().filter(|device| device.is_healthy).count() as u64;
        if healthy == 0 {
            return Err(refuse("the fleet has no healthy device to place tasks on".to_owned()));
        }
        let class = |choice: &Choice| Class {
            ask: Ask { count: choice.count, share_milli: choice.share_milli, cpu_milli: choice.cpu_milli },
            fit: filter::kinds(inventory, choice),
            choice: choice.clone(),
        };
        let classes = trace.classes.iter().map(class).collect();
        Ok(Self { classes, capacity_milli: healthy * u64::from(WHOLE_MILLI), fleet })
    }

    /// What is free on a node when a task of a class fits there now: which kinds it may take. `None` when it does not fit.
    pub(crate) fn fit(&self, capacity: &Capacity, at: NodeIdx, class: &Class) -> Option<Vec<Option<Misfit>>> {
        let (inventory, node) = (self.fleet.inventory(), self.fleet.node(at));
        let fit = filter::on_node(inventory, node, &class.choice, &class.fit);
        let view = View {
            free_milli: |at: usize| capacity.free_milli[at],
            cpu_milli: capacity.free_cpu_milli[at.at()],
            memory_mib: capacity.free_memory_mib[at.at()],
        };
        let fits = filter::elsewhere(node, &class.choice).is_none()
            && filter::never(inventory, node, &class.choice, &fit).is_none()
            && filter::not_now(inventory, node, &class.choice, &fit, &view).is_none();
        fits.then(|| fit.into_owned())
    }

    /// What a task of a class takes of devices, thousandths of one.
    pub(crate) fn demand_milli(&self, class: usize) -> u64 {
        let ask = self.classes[class].ask;
        u64::from(ask.count) * u64::from(ask.share_milli)
    }

    /// What a task of a class takes on a node, of these devices by their positions in the columns.
    pub(crate) fn hold(&self, class: usize, node: NodeIdx, devices: Vec<usize>) -> Hold {
        let choice = &self.classes[class].choice;
        let (share_milli, cpu_milli, memory_mib) = (choice.share_milli, choice.cpu_milli, choice.host_memory_mib);
        let (share_memory_mib, bound, team) = (None, choice.bound, None);
        let pool = self.fleet.pools().charged(self.fleet.node(node), choice);
        Hold { node, devices, share_milli, share_memory_mib, bound, cpu_milli, memory_mib, team, pool }
    }

    /// The first devices that a task of a class may take on a node where it fits, by their positions in the columns.
    pub(crate) fn first_devices(&self, capacity: &Capacity, class: usize, at: NodeIdx) -> Vec<usize> {
        let (node, ask, mut usable) = (self.fleet.node(at), self.classes[class].ask, Vec::new());
        let fit = self.fit(capacity, at, &self.classes[class]).expect("the task fits there");
        let milli = &capacity.free_milli[node.devices.clone()];
        device::usable(self.fleet.inventory(), node, &fit, milli, ask, &mut usable);
        device::tightest(milli, &usable, ask).into_iter().map(|device| device + node.devices.start).collect()
    }

    /// Nodes where a task of a class fits when so much is free, in their order.
    pub(crate) fn fitting(&self, capacity: &Capacity, class: usize) -> impl Iterator<Item = NodeIdx> {
        let class = &self.classes[class];
        let nodes = (0..self.fleet.inventory().nodes.len()).map(NodeIdx::new);
        nodes.filter(move |&at| self.fit(capacity, at, class).is_some())
    }

    /// What the devices in use draw at their TDP, watt.
    pub(crate) fn draw_w(&self, capacity: &Capacity) -> Option<f64> {
        in_use_mw(self.fleet.inventory(), &capacity.free_milli).map(|mw| mw as f64 / 1000.0)
    }

    /// See [`weighted_unusable`].
    pub(crate) fn unusable(&self, capacity: &Capacity, at: NodeIdx) -> u64 {
        let node = self.fleet.node(at);
        let free = &capacity.free_milli[node.devices.clone()];
        weighted_unusable(node, free, capacity.free_cpu_milli[at.at()], self.fleet.mix())
    }

    /// The part of what is free that the mix cannot use, over the nodes that take work; `None` when nothing is free.
    pub(crate) fn fragmentation_ratio(&self, capacity: &Capacity) -> Option<f64> {
        let (mut free, mut unusable) = (0u64, 0u128);
        for at in (0..self.fleet.inventory().nodes.len()).map(NodeIdx::new) {
            let node = self.fleet.node(at);
            if node.state == NodeState::Active {
                free += capacity.free_milli[node.devices.clone()].iter().map(|&milli| u64::from(milli)).sum::<u64>();
                unusable += u128::from(self.unusable(capacity, at));
            }
        }
        let weight = self.fleet.mix().total_weight.max(1);
        (free > 0).then(|| unusable as f64 / weight as f64 / free as f64)
    }
}
