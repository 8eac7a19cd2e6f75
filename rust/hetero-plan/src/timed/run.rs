//! One run: what happens at each moment, one moment after the other.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::time::Duration;

use hetero_core::Result;
use hetero_core::capacity::Capacity;
use hetero_core::units::NodeIdx;

use super::began::Began;
use super::keeping::{Kept, Moment};
use super::queue::{Key, Order, Queue};
use super::report::Outcome;
use crate::occupancy::{Occupancy, Taken};
use crate::watch::Watch;
use crate::world::World;

/// Devices that may be kept at the same time, one in so many; one task may always keep what it needs.
const KEPT_OF: u64 = 10;

/// A task of the trace that ran.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) class: usize,
    pub(super) arrives_ms: u64,
    pub(super) lasts_ms: u64,
    pub(super) priority: u8,
}

/// What all runs share.
pub(super) struct Rules<'a> {
    pub(super) world: &'a World,
    pub(super) tasks: &'a [Task],
    pub(super) patience_ms: u64,
}

/// The state of a run.
pub(super) struct Run<'a> {
    rules: &'a Rules<'a>,
    order: Order,
    occupancy: Box<dyn Occupancy + 'a>,
    /// What was free before anything arrived.
    start: Capacity,
    /// Per class, once asked: whether such a task could ever run.
    is_possible: Vec<Option<bool>>,
    queue: Queue,
    kept: Vec<Kept>,
    running: BinaryHeap<Reverse<(u64, usize)>>,
    taken: Vec<Option<Taken>>,
    began: Began,
    was_tried: Vec<bool>,
    outcome: Outcome,
}

impl<'a> Run<'a> {
    pub(super) fn new(rules: &'a Rules<'a>, occupancy: Box<dyn Occupancy + 'a>, order: Order) -> Self {
        let (classes, tasks) = (rules.world.classes.len(), rules.tasks.len());
        let start = occupancy.capacity().clone();
        let free: u64 = start.free_milli.iter().map(|&milli| u64::from(milli)).sum();
        let span = (rules.tasks[0].arrives_ms, rules.tasks[tasks - 1].arrives_ms);
        let capacity_milli = rules.world.capacity_milli;
        Self {
            outcome: Outcome::new(order, span, (capacity_milli - free, capacity_milli)),
            rules,
            order,
            occupancy,
            start,
            is_possible: vec![None; classes],
            queue: Queue::new(classes),
            kept: Vec::new(),
            running: BinaryHeap::new(),
            taken: vec![None; tasks],
            began: Began::default(),
            was_tried: vec![false; tasks],
        }
    }

    /// Goes from moment to moment until nothing comes, runs or waits any more.
    pub(super) fn replay(mut self, watch: &Watch, now: &(dyn Fn() -> Duration + Sync)) -> Result<Outcome> {
        let mut coming = (0..self.rules.tasks.len()).peekable();
        loop {
            let arrival = coming.peek().map(|&task| self.rules.tasks[task].arrives_ms);
            let end = self.running.peek().map(|&Reverse((at, _))| at);
            let Some(at) = arrival.into_iter().chain(end).min() else { break };
            self.outcome.clock(at);
            self.end(at)?;
            while let Some(task) = coming.next_if(|&task| self.rules.tasks[task].arrives_ms == at) {
                watch.tick()?;
                self.arrive(task)?;
            }
            if self.order == Order::Backfill {
                self.keep(at)?;
            }
            self.start_who_fits(at, watch, now)?;
        }
        debug_assert!(self.queue.is_empty() && self.kept.is_empty(), "who could run has run");
        debug_assert_eq!(self.occupancy.capacity(), &self.start, "all was given back");
        Ok(self.outcome)
    }

    /// Tasks end, and others may fit where they ran.
    fn end(&mut self, at: u64) -> Result<()> {
        let mut touched = BTreeSet::new();
        while let Some(&Reverse((_, task))) = self.running.peek().filter(|&&Reverse((end, _))| end == at) {
            self.running.pop();
            let taken = self.taken[task].take().expect("it runs");
            touched.insert(taken.hold.node);
            self.began.end(&taken.hold, task);
            self.outcome.allocated_milli -= self.rules.world.demand_milli(self.rules.tasks[task].class);
            self.occupancy.give(taken)?;
        }
        self.serve_kept(at, &mut touched)?;
        self.reconsider(&touched);
        Ok(())
    }

    /// What came free goes to those it is kept for; the others may find that a touched node is nearer to what they need.
    fn serve_kept(&mut self, at: u64, touched: &mut BTreeSet<NodeIdx>) -> Result<()> {
        let mut index = 0;
        while index < self.kept.len() {
            if !self.serve(at, index, touched)? {
                index += 1;
                continue;
            }
            let kept = self.kept.remove(index);
            let (key, class) = (kept.key, kept.class);
            let taken = kept.start(self.rules.world, self.occupancy.as_mut())?;
            self.started(at, key, class, taken);
        }
        Ok(())
    }

    /// True when the task can start.
    fn serve(&mut self, at: u64, index: usize, touched: &mut BTreeSet<NodeIdx>) -> Result<bool> {
        let others: BTreeSet<NodeIdx> = self.kept.iter().map(Kept::node).collect();
        let (running, occupancy) = (&self.began, self.occupancy.as_mut());
        let (since, since_on) = (|device| running.on_device(device), |node| running.on_node(node));
        let moment = Moment { world: self.rules.world, start: &self.start, at, since: &since, since_on: &since_on };
        let kept = &mut self.kept[index];
        if touched.contains(&kept.node()) && kept.top_up(&moment, occupancy)? {
            return Ok(true);
        }
        for node in touched.clone().difference(&others) {
            let was = kept.node();
            if kept.move_to(&moment, occupancy, *node)? {
                touched.insert(was);
                return kept.top_up(&moment, occupancy);
            }
        }
        Ok(false)
    }

    /// Classes that fit on a node which changed are tried again.
    fn reconsider(&mut self, touched: &BTreeSet<NodeIdx>) {
        let (world, capacity) = (self.rules.world, self.occupancy.capacity());
        let fits =
            |&class: &usize| touched.iter().any(|&node| world.fit(capacity, node, &world.classes[class]).is_some());
        let again: Vec<usize> = self.queue.blocked().filter(fits).collect();
        for class in again {
            self.queue.block(class, false);
        }
    }

    fn arrive(&mut self, task: usize) -> Result<()> {
        let (rules, start) = (self.rules, &self.start);
        let Task { class, arrives_ms, priority, .. } = rules.tasks[task];
        let is_possible =
            self.is_possible[class].get_or_insert_with(|| rules.world.fitting(start, class).next().is_some());
        if *is_possible {
            self.queue.push(self.order.key(priority, arrives_ms, rules.world.demand_milli(class), task), class);
        } else {
            self.outcome.never_started += 1;
        }
        self.occupancy.arrive(class)
    }

    fn start_who_fits(&mut self, at: u64, watch: &Watch, now: &(dyn Fn() -> Duration + Sync)) -> Result<()> {
        while let Some((key, class)) = self.queue.first(self.order) {
            watch.check()?;
            let begin = now();
            let taken = self.occupancy.start(class)?;
            self.outcome.times.push(now().saturating_sub(begin));
            if std::mem::replace(&mut self.was_tried[key.task()], true) {
                self.outcome.retries += 1;
            }
            let Some(taken) = taken else {
                self.queue.block(class, true);
                continue;
            };
            self.started(at, key, class, taken);
            if let Some(index) = self.kept.iter().position(|kept| kept.key == key) {
                let mut kept = self.kept.remove(index);
                kept.give(self.occupancy.as_mut())?;
                let mut touched = BTreeSet::from([kept.node()]);
                self.serve_kept(at, &mut touched)?;
                self.reconsider(&touched);
            }
        }
        Ok(())
    }

    fn started(&mut self, at: u64, key: Key, class: usize, taken: Taken) {
        self.queue.remove(key, class);
        self.began.start(&taken.hold, key.task(), at);
        self.taken[key.task()] = Some(taken);
        self.running.push(Reverse((at.saturating_add(self.rules.tasks[key.task()].lasts_ms), key.task())));
        self.outcome.allocated_milli += self.rules.world.demand_milli(class);
        self.outcome.waited(self.rules.world.classes[class].ask.count, at - key.arrives_ms());
    }

    /// Who has waited long, and fits nowhere, gets a node kept, in order, while not too much is kept already.
    fn keep(&mut self, at: u64) -> Result<()> {
        let rules = self.rules;
        let most = rules.world.capacity_milli / KEPT_OF;
        let mut kept_milli: u64 = self.kept.iter().map(|kept| rules.world.demand_milli(kept.class)).sum();
        if kept_milli >= most && !self.kept.is_empty() {
            return Ok(());
        }
        let is_kept = |key: Key, kept: &[Kept]| kept.iter().any(|kept| kept.key == key);
        let has_waited =
            |(key, class): (Key, usize)| at - key.arrives_ms() >= rules.patience_ms && self.queue.is_blocked(class);
        let waiting: Vec<(Key, usize)> = self.queue.iter().filter(|&waits| has_waited(waits)).collect();
        for (key, class) in waiting {
            let demand = rules.world.demand_milli(class);
            if is_kept(key, &self.kept) || (kept_milli + demand > most && !self.kept.is_empty()) {
                continue;
            }
            let others: Vec<NodeIdx> = self.kept.iter().map(Kept::node).collect();
            let may = |node| !others.contains(&node);
            let (began, start) = (&self.began, &self.start);
            let (since, since_on) = (|device| began.on_device(device), |node| began.on_node(node));
            let moment = Moment { world: rules.world, start, at, since: &since, since_on: &since_on };
            let kept = Kept::new(&moment, self.occupancy.as_mut(), (key, class), may)?;
            let Some(kept) = kept else { continue };
            self.outcome.kept += 1;
            kept_milli += demand;
            self.kept.push(kept);
        }
        Ok(())
    }
}
