//! One round: the steps one after the other, each as early as it fits.

use std::collections::BTreeMap;

use hetero_core::hold::Hold;
use hetero_core::units::NodeIdx;
use hetero_core::{Decision, Placement, Result};

use crate::dag::ask::Pipeline;
use crate::dag::board::Board;
use crate::dag::load::{Use, merged};
use crate::dag::near::Source;
use crate::dag::order::Order;
use crate::watch::Watch;

/// When a step runs and where.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Steps that it waits for beside those that it comes after: with one fewer it did not fit.
    pub(crate) waits_for: Vec<usize>,
    /// `None` for a step that does not fit even alone.
    pub(crate) placement: Option<Placement>,
    holds: Vec<Hold>,
}

/// What a round has to go by.
pub(crate) struct Ask<'a> {
    pub(crate) pipeline: &'a Pipeline,
    /// Whether every step says how long it runs.
    pub(crate) is_timed: bool,
    /// What comes before what, waiting apart.
    pub(crate) order: &'a Order,
    pub(crate) ticks: &'a [u64],
    /// What each step would get alone.
    pub(crate) alone: &'a [Decision],
    pub(crate) near_points: f64,
    pub(crate) watch: &'a Watch,
}

/// A plan in the making.
pub(crate) struct Schedule<'a> {
    ask: &'a Ask<'a>,
    /// By step; `None` until its turn.
    pub(crate) slots: Vec<Option<Slot>>,
    /// Which of the scheduled steps is over before which begins.
    pub(crate) order: Order,
}

impl<'a> Schedule<'a> {
    /// Schedules the steps in this sequence, in which every step comes after those before it.
    pub(crate) fn of(ask: &'a Ask<'a>, board: &mut Board, sequence: &[usize]) -> Result<Self> {
        let count = ask.ticks.len();
        let order = if ask.is_timed { Order::new(count) } else { ask.order.clone() };
        board.clear()?; // what steps hold together depends on their order
        let mut schedule = Self { ask, slots: vec![None; count], order };
        for &step in sequence {
            let slot = schedule.slot(board, step)?;
            schedule.add(step, slot);
        }
        Ok(schedule)
    }

    fn slot(&self, board: &mut Board, step: usize) -> Result<Slot> {
        let before = self.ask.pipeline.steps[step].after.iter();
        let ready = before.filter_map(|&other| Some(self.slots[other].as_ref()?.end)).max().unwrap_or(0);
        let slot = |start: u64| Slot {
            start,
            end: start + self.ask.ticks[step],
            waits_for: Vec::new(),
            placement: None,
            holds: Vec::new(),
        };
        if matches!(self.ask.alone[step], Decision::NoFit(_)) {
            return Ok(slot(ready));
        }
        // Without times nothing is over but what it comes after, or waits for.
        let first = if self.ask.is_timed { ready } else { 0 };
        let mut times: Vec<u64> = self.running().map(|(_, slot)| slot.end).filter(|&end| end > first).collect();
        times.push(first);
        times.sort_unstable();
        times.dedup();
        let Some((until, beside, placement)) = self.earliest(board, step, &times)? else { return Ok(slot(ready)) };
        let (placement, waits_for) = self.waits(board, step, (first, until), beside, placement)?;
        let holds = board.holds(&placement)?;
        Ok(Slot { waits_for, placement: Some(placement), holds, ..slot(until.max(ready)) })
    }

    /// The first of these times at which a step fits, with those beside it and where it goes.
    fn earliest(&self, board: &mut Board, step: usize, times: &[u64]) -> Result<Option<(u64, Vec<usize>, Placement)>> {
        // Without times fewer run beside it the longer it waits, and so the times can be halved; after the first, which
        // mostly does.
        let (mut from, mut to, mut found) = (0, times.len(), None);
        while from < to {
            let at = if self.ask.is_timed || from == 0 { from } else { from.midpoint(to) };
            let beside = self.beside(step, times[at]);
            match self.place(board, step, &beside)? {
                Some(placement) => {
                    found = Some((times[at], beside, placement));
                    to = at;
                }
                None => from = at + 1,
            }
        }
        Ok(found)
    }

    /// Scheduled steps that hold something.
    fn running(&self) -> impl Iterator<Item = (usize, &Slot)> {
        let slots = self.slots.iter().enumerate().filter_map(|(at, slot)| Some((at, slot.as_ref()?)));
        slots.filter(|(_, slot)| !slot.holds.is_empty())
    }

    fn holds(&self, step: usize) -> &[Hold] {
        self.slots[step].as_ref().map_or(&[], |slot| &slot.holds)
    }

    /// Those that may run together with a step that waits for all that end until then.
    fn beside(&self, step: usize, until: u64) -> Vec<usize> {
        let end = until + self.ask.ticks[step];
        let is_beside = |at: usize, slot: &Slot| {
            let begins_before = !self.ask.is_timed || slot.start < end;
            slot.end > until && begins_before && !self.order.is_before(at, step)
        };
        self.running().filter(|(at, slot)| is_beside(*at, slot)).map(|(at, _)| at).collect()
    }

    fn place(&self, board: &mut Board, step: usize, beside: &[usize]) -> Result<Option<Placement>> {
        self.ask.watch.check()?;
        let placed = |&at: &usize| Some(Source::of(at, self.slots[at].as_ref()?.placement.as_ref()?));
        let sources: Vec<Source<'_>> = self.ask.pipeline.steps[step].near.iter().filter_map(placed).collect();
        let mut by_node: BTreeMap<NodeIdx, Vec<usize>> = BTreeMap::new();
        for &at in beside {
            for hold in self.holds(at) {
                by_node.entry(hold.node).or_default().push(at);
            }
        }
        for steps in by_node.values_mut() {
            steps.sort_unstable();
        }
        board.hold(by_node, |inventory, node, steps| {
            let here = |&at: &usize| self.holds(at).iter().filter(|hold| hold.node == node).map(move |hold| (at, hold));
            merged(inventory, &self.order, node, &steps.iter().flat_map(here).collect::<Vec<Use<'_>>>())
        })?;
        board.place(&self.ask.pipeline.requests[step], &sources, self.ask.near_points)
    }

    /// Of the steps that end until then, those without whose end it would not fit on this choice; and where it goes
    /// beside all others.
    fn waits(
        &self,
        board: &mut Board,
        step: usize,
        (first, until): (u64, u64),
        mut beside: Vec<usize>,
        mut placement: Placement,
    ) -> Result<(Placement, Vec<usize>)> {
        let is_over = |at: usize, slot: &Slot| slot.end > first && slot.end <= until && !self.order.is_before(at, step);
        let mut over: Vec<(u64, usize)> =
            self.running().filter(|(at, slot)| is_over(*at, slot)).map(|(at, slot)| (slot.end, at)).collect();
        if over.is_empty() {
            return Ok((placement, Vec::new()));
        }
        let choice_index = placement.choice_index;
        let is_same = |other: &Placement| other.choice_index == choice_index;
        // Whoever holds nothing on its nodes is hardly in its way: they are tried all at once.
        let nodes: Vec<NodeIdx> = board.nodes(&placement);
        let is_here = |at: usize| self.holds(at).iter().any(|hold| nodes.contains(&hold.node));
        let there: Vec<usize> = over.iter().map(|&(_, at)| at).filter(|&at| !is_here(at)).collect();
        let with_all: Vec<usize> = beside.iter().copied().chain(there).collect();
        if let Some(other) = self.place(board, step, &with_all)?.filter(is_same) {
            placement = other;
            beside = with_all;
            over.retain(|&(_, at)| is_here(at));
        }
        over.sort_unstable_by_key(|&(end, at)| (std::cmp::Reverse(end), at));
        let mut waits_for: Vec<usize> = Vec::new();
        for (_, at) in over {
            if waits_for.iter().any(|&later| self.order.is_before(at, later)) {
                continue; // it is over by then
            }
            beside.push(at);
            if let Some(other) = self.place(board, step, &beside)?.filter(is_same) {
                placement = other;
            } else {
                beside.pop();
                waits_for.push(at);
            }
        }
        waits_for.sort_unstable();
        self.place(board, step, &beside)?; // what is beside it is held again: the placement is taken from there
        Ok((placement, waits_for))
    }

    fn add(&mut self, step: usize, slot: Slot) {
        if self.ask.is_timed {
            for (at, other) in self.slots.iter().enumerate().filter_map(|(at, slot)| Some((at, slot.as_ref()?))) {
                self.order.set(at, step, other.end <= slot.start);
                self.order.set(step, at, slot.end <= other.start);
            }
        } else {
            for &at in &slot.waits_for {
                self.order.put(at, step);
            }
        }
        self.slots[step] = Some(slot);
    }
}
