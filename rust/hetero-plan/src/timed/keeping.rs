//! A node kept for a task that has waited long: what comes free there is not given to others until the task fits.

use hetero_core::Result;
use hetero_core::capacity::Capacity;
use hetero_core::hold::Hold;
use hetero_core::units::NodeIdx;

use super::queue::Key;
use crate::occupancy::{Occupancy, Taken};
use crate::world::World;

/// A node is left for another where what is in the way is so many times younger: what was kept so far is lost then.
const MUCH: u64 = 2;

/// What a task would take on a node, and how much of it is not free yet.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    node: NodeIdx,
    devices: Vec<usize>,
    missing: Missing,
}

/// What is in the way. Nobody knows how long tasks will run; those that have run for long tend to go on for long. So the
/// age of the oldest that is in the way counts first, then shares, then CPU, then memory: less is nearer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Missing {
    age_ms: u64,
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

/// The fleet as it is at a moment.
pub(super) struct Moment<'a> {
    pub(super) world: &'a World,
    /// What was free before anything arrived.
    pub(super) start: &'a Capacity,
    pub(super) at: u64,
    /// When the oldest task on each device began.
    pub(super) since: &'a dyn Fn(usize) -> Option<u64>,
    /// When the oldest task on each node began.
    pub(super) since_on: &'a dyn Fn(NodeIdx) -> Option<u64>,
}

impl Moment<'_> {
    /// How a class would run on a node that could take it at the start: on the devices of one kind that are nearest to free.
    ///
    /// `None` when it never could.
    fn plan(&self, now: &Capacity, class: usize, at: NodeIdx) -> Option<Plan> {
        let (world, start) = (self.world, self.start);
        let fit = world.fit(start, at, &world.classes[class])?;
        let (node, ask) = (world.fleet.node(at), world.classes[class].ask);
        let age = |since: Option<u64>| since.map_or(0, |since| self.at - since);
        let missing = |&device: &usize| match ask.share_milli.saturating_sub(now.free_milli[device]) {
            0 => (0, 0),
            share => (age((self.since)(device)), u64::from(share)),
        };
        let count = ask.count as usize;
        let runs = node.kinds.iter().filter(|run| fit[run.kind.at()].is_none());
        let of_run = runs.filter_map(|run| {
            let could = |&device: &usize| start.free_milli[device] >= ask.share_milli;
            let mut devices: Vec<usize> = run.devices.clone().filter(could).collect();
            devices.sort_by_key(missing); // stable: the first of several
            devices.truncate(count);
            let all = devices.iter().map(missing).fold((0, 0), |all, one| (all.0.max(one.0), all.1 + one.1));
            (devices.len() == count).then_some((all, devices))
        });
        let ((mut age_ms, share_milli), devices) = match count {
            0 => ((0, 0), Vec::new()),
            _ => of_run.min_by_key(|(missing, _)| *missing)?,
        };
        let choice = &world.classes[class].choice;
        let lacks = |want: u64, free: Option<u64>| want.saturating_sub(free.unwrap_or(0));
        let cpu_milli = lacks(choice.cpu_milli, now.free_cpu_milli[at.at()]);
        let memory_mib = lacks(choice.host_memory_mib, now.free_memory_mib[at.at()]);
        if cpu_milli > 0 || memory_mib > 0 {
            age_ms = age_ms.max(age((self.since_on)(at)));
        }
        Some(Plan { node: at, devices, missing: Missing { age_ms, share_milli, cpu_milli, memory_mib } })
    }
}

impl Kept {
    /// Keeps the node where least is missing, of those that `may` be kept; `None` when there is none.
    pub(super) fn new(
        moment: &Moment<'_>,
        occupancy: &mut dyn Occupancy,
        (key, class): (Key, usize),
        may: impl Fn(NodeIdx) -> bool,
    ) -> Result<Option<Self>> {
        let nodes = (0..moment.world.fleet.inventory().nodes.len()).map(NodeIdx::new).filter(|&node| may(node));
        let plans = nodes.filter_map(|node| moment.plan(occupancy.capacity(), class, node));
        let Some(plan) = plans.min_by_key(|plan| (plan.missing, plan.node)) else { return Ok(None) };
        let mut kept = Self { key, class, plan, taken: Vec::new() };
        kept.take(moment.world, occupancy)?;
        Ok(Some(kept))
    }

    pub(super) fn node(&self) -> NodeIdx {
        self.plan.node
    }

    /// Takes what has come free of what is needed; true when the task fits, and then nothing is held any more.
    pub(super) fn top_up(&mut self, moment: &Moment<'_>, occupancy: &mut dyn Occupancy) -> Result<bool> {
        self.give(occupancy)?;
        let (now, node) = (occupancy.capacity(), self.plan.node);
        let world = moment.world;
        if world.fit(now, node, &world.classes[self.class]).is_some() {
            return Ok(true);
        }
        self.plan = moment.plan(now, self.class, node).expect("it could be kept");
        self.take(world, occupancy)?;
        Ok(false)
    }

    /// Moves to another node when it is much nearer to free; true when it did.
    pub(super) fn move_to(
        &mut self,
        moment: &Moment<'_>,
        occupancy: &mut dyn Occupancy,
        node: NodeIdx,
    ) -> Result<bool> {
        let now = occupancy.capacity();
        let here = moment.plan(now, self.class, self.plan.node).expect("it could be kept").missing.age_ms;
        let there = moment.plan(now, self.class, node).filter(|plan| plan.missing.age_ms.saturating_mul(MUCH) < here);
        let Some(plan) = there else { return Ok(false) };
        self.give(occupancy)?;
        self.plan = plan;
        self.take(moment.world, occupancy)?;
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
        let empty = Hold {
            node,
            devices: Vec::new(),
            share_milli: 0,
            share_memory_mib: None,
            bound: None,
            cpu_milli: 0,
            memory_mib: 0,
            team: None,
            pool: world.fleet.pools().charged(world.fleet.node(node), choice),
        };
        let free = occupancy.capacity();
        let cpu_milli = choice.cpu_milli.min(free.free_cpu_milli[node.at()].unwrap_or(0));
        let memory_mib = choice.host_memory_mib.min(free.free_memory_mib[node.at()].unwrap_or(0));
        let mut holds = vec![Hold { cpu_milli, memory_mib, ..empty.clone() }];
        for &device in &self.plan.devices {
            let share_milli = choice.share_milli.min(free.free_milli[device]);
            holds.push(Hold { devices: vec![device], share_milli, ..empty.clone() });
        }
        for hold in holds {
            self.taken.push(occupancy.take(None, hold)?);
        }
        Ok(())
    }
}
