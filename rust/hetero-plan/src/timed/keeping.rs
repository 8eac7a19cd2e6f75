//! A node kept for a task that has waited long: what comes free there is not given to others until the task fits.

use hetero_core::Result;
use hetero_core::capacity::Capacity;
use hetero_core::hold::Hold;
use hetero_core::units::NodeIdx;

use super::queue::Key;
use crate::occupancy::{Occupancy, Taken};
use crate::world::World;

/// What a task would take on a node, and how much of it is not free yet.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    node: NodeIdx,
    devices: Vec<usize>,
    missing: Missing,
}

/// Shares, then CPU, then memory: less is nearer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Missing {
    share_milli: u64,
    cpu_milli: u64,
    memory_mib: u64,
}

/// A task with a node that is kept for it.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) key: Key,
    pub(super) class: usize,
    plan: Plan,
    taken: Vec<Taken>,
}

/// How a class would run on a node that could take it at the start: the devices with most free of one kind.
///
/// `None` when it never could.
pub(super) fn plan(world: &World, start: &Capacity, now: &Capacity, class: usize, at: NodeIdx) -> Option<Plan> {
    let fit = world.fit(start, at, &world.classes[class])?;
    let (node, ask) = (world.fleet.node(at), world.classes[class].ask);
    let missing = |&device: &usize| u64::from(ask.share_milli.saturating_sub(now.free_milli[device]));
    let count = ask.count as usize;
    let runs = node.kinds.iter().filter(|run| fit[run.kind.at()].is_none());
    let nearest = runs.filter_map(|run| {
        let could = |&device: &usize| start.free_milli[device] >= ask.share_milli;
        let mut devices: Vec<usize> = run.devices.clone().filter(could).collect();
        devices.sort_by_key(missing); // stable: the first of several
        devices.truncate(count);
        (devices.len() == count).then_some(devices)
    });
    let devices = match count {
        0 => Vec::new(),
        _ => nearest.min_by_key(|devices| devices.iter().map(missing).sum::<u64>())?,
    };
    let choice = &world.classes[class].choice;
    let lacks = |want: u64, free: Option<u64>| want.saturating_sub(free.unwrap_or(0));
    let missing = Missing {
        share_milli: devices.iter().map(missing).sum(),
        cpu_milli: lacks(choice.cpu_milli, now.free_cpu_milli[at.at()]),
        memory_mib: lacks(choice.host_memory_mib, now.free_memory_mib[at.at()]),
    };
    Some(Plan { node: at, devices, missing })
}

impl Kept {
    /// Keeps the node where least is missing, of those that `may` be kept; `None` when there is none.
    pub(super) fn new(
        world: &World,
        start: &Capacity,
        occupancy: &mut dyn Occupancy,
        (key, class): (Key, usize),
        may: impl Fn(NodeIdx) -> bool,
    ) -> Result<Option<Self>> {
        let nodes = (0..world.fleet.inventory().nodes.len()).map(NodeIdx::new).filter(|&node| may(node));
        let plans = nodes.filter_map(|node| plan(world, start, occupancy.capacity(), class, node));
        let Some(plan) = plans.min_by_key(|plan| (plan.missing, plan.node)) else { return Ok(None) };
        let mut kept = Self { key, class, plan, taken: Vec::new() };
        kept.take(world, occupancy)?;
        Ok(Some(kept))
    }

    pub(super) fn node(&self) -> NodeIdx {
        self.plan.node
    }

    /// Takes what has come free of what is needed; true when the task fits, and then nothing is held any more.
    pub(super) fn top_up(&mut self, world: &World, start: &Capacity, occupancy: &mut dyn Occupancy) -> Result<bool> {
        self.give(occupancy)?;
        let (now, node) = (occupancy.capacity(), self.plan.node);
        if world.fit(now, node, &world.classes[self.class]).is_some() {
            return Ok(true);
        }
        self.plan = plan(world, start, now, self.class, node).expect("it could be kept");
        self.take(world, occupancy)?;
        Ok(false)
    }

    /// Moves to another node when less is missing there; true when it did.
    pub(super) fn move_to(
        &mut self,
        world: &World,
        start: &Capacity,
        occupancy: &mut dyn Occupancy,
        node: NodeIdx,
    ) -> Result<bool> {
        let plan = plan(world, start, occupancy.capacity(), self.class, node);
        let Some(plan) = plan.filter(|plan| plan.missing < self.plan.missing) else { return Ok(false) };
        self.give(occupancy)?;
        self.plan = plan;
        self.take(world, occupancy)?;
        Ok(true)
    }

    /// Gives back what was kept.
    pub(super) fn give(&mut self, occupancy: &mut dyn Occupancy) -> Result<()> {
        self.taken.drain(..).try_for_each(|taken| occupancy.give(taken))
    }

    /// Starts the task where it fits now.
    pub(super) fn start(self, world: &World, occupancy: &mut dyn Occupancy) -> Result<Taken> {
        let devices = world.first_devices(occupancy.capacity(), self.class, self.plan.node);
        occupancy.take(Some(self.class), world.hold(self.class, self.plan.node, devices))
    }

    fn take(&mut self, world: &World, occupancy: &mut dyn Occupancy) -> Result<()> {
        let (node, choice) = (self.plan.node, &world.classes[self.class].choice);
        let none = Hold { node, devices: Vec::new(), share_milli: 0, cpu_milli: 0, memory_mib: 0, team: None };
        let free = occupancy.capacity();
        let cpu_milli = choice.cpu_milli.min(free.free_cpu_milli[node.at()].unwrap_or(0));
        let memory_mib = choice.host_memory_mib.min(free.free_memory_mib[node.at()].unwrap_or(0));
        let mut holds = vec![Hold { cpu_milli, memory_mib, ..none.clone() }];
        for &device in &self.plan.devices {
            let share_milli = choice.share_milli.min(free.free_milli[device]);
            holds.push(Hold { devices: vec![device], share_milli, ..none.clone() });
        }
        for hold in holds {
            self.taken.push(occupancy.take(None, hold)?);
        }
        Ok(())
    }
}
