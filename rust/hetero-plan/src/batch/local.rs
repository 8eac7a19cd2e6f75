//! Large neighbourhood search: a few nodes are emptied and filled anew, and stay so where that is not worse.
//!
//! The rooms are dealt into parts, which are worked on beside each other and dealt anew; each part has its own share of
//! what waits. How many parts there are does not depend on the threads, so neither does the plan.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use rayon::prelude::*;

use crate::batch::control::Control;
use crate::batch::cost::Judge;
use crate::batch::field::Field;
use crate::batch::pool::Pool;
use crate::batch::room::Room;
use crate::generator::{Generator, Purpose};

/// Rooms of a part at least, and parts at most.
const ROOMS_OF_PART: usize = 64;
const MOST_PARTS: usize = 16;
/// Steps of a part before rooms and steps are dealt anew.
const STEPS_OF_ROUND: u64 = 2000;
/// The search ends after so many rounds in a row that gained nothing.
const IDLE_ROUNDS: usize = 40;
/// Rooms emptied at once.
const ROOMS_OF_STEP: std::ops::RangeInclusive<usize> = 2..=8;
/// Orders in which shapes are tried, drawn once a round.
const ORDERS: usize = 64;
/// By how much what a shape counts is blurred in an order, hundredths.
const BLUR_PERCENT: usize = 60;

/// When to stop.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub(crate) control: &'a Control<'a>,
    pub(crate) deadline: Duration,
    pub(crate) steps: u64,
}

/// Makes the rooms better until a limit is met; returns how many steps were made.
pub(crate) fn improve(field: &Field, judge: &Judge<'_>, rooms: &mut Vec<Room>, seed: u64, limits: Limits<'_>) -> u64 {
    let mut generator = Generator::new(seed, Purpose::Plan);
    let parts = (rooms.len() / ROOMS_OF_PART).clamp(1, MOST_PARTS);
    let (mut made, mut idle_rounds) = (0, 0);
    let can_gain = |rooms: &[Room]| {
        let pool = field.pool(rooms);
        !judge.is_blind() || (0..field.shapes.len()).any(|shape| pool.waiting(shape) > 0)
    };
    while made < limits.steps
        && idle_rounds < IDLE_ROUNDS
        && can_gain(rooms)
        && !field.shapes.is_empty()
        && !rooms.is_empty()
        && !limits.control.is_over(limits.deadline)
    {
        let dealt = deal(field, std::mem::take(rooms), parts, &mut generator);
        let each = (limits.steps - made).div_ceil(parts as u64).min(STEPS_OF_ROUND);
        let worked: Vec<(Vec<Room>, u64, bool)> = dealt
            .into_par_iter()
            .map(|mut part| {
                let made = part.work(field, judge, each, limits);
                (part.rooms, made, part.has_gained)
            })
            .collect();
        idle_rounds = if worked.iter().any(|part| part.2) { 0 } else { idle_rounds + 1 };
        for (part, steps, _) in worked {
            rooms.extend(part);
            made += steps;
        }
        rooms.sort_by_key(|room| room.node);
    }
    made
}

struct Part {
    rooms: Vec<Room>,
    pool: Pool,
    generator: Generator,
    has_gained: bool,
}

/// Deals rooms and what waits at random.
fn deal(field: &Field, mut rooms: Vec<Room>, parts: usize, generator: &mut Generator) -> Vec<Part> {
    let whole = field.pool(&rooms);
    generator.shuffle(&mut rooms);
    let size = rooms.len().div_ceil(parts);
    let mut dealt: Vec<Part> = Vec::with_capacity(parts);
    let empty = || Pool {
        levels: vec![Vec::new(); field.shapes.len()],
        placed: vec![0; field.shapes.len()],
        is_flat: whole.is_flat,
    };
    let mut next = vec![0; field.shapes.len()];
    while !rooms.is_empty() {
        let rest = rooms.split_off(size.min(rooms.len()));
        let part = std::mem::replace(&mut rooms, rest);
        let mut pool = empty();
        for item in part.iter().flat_map(|room| &room.items) {
            let shape = item.shape as usize;
            pool.levels[shape].push(whole.levels[shape][next[shape]]);
            pool.placed[shape] += 1;
            next[shape] += 1;
        }
        dealt.push(Part { rooms: part, pool, generator: generator.split(), has_gained: false });
    }
    let parts = dealt.len();
    for (shape, levels) in whole.levels.iter().enumerate() {
        let first = generator.below(parts);
        for (i, &level) in levels[next[shape]..].iter().enumerate() {
            dealt[(first + i) % parts].pool.levels[shape].push(level);
        }
    }
    dealt
}

impl Part {
    fn work(&mut self, field: &Field, judge: &Judge<'_>, steps: u64, limits: Limits<'_>) -> u64 {
        if self.rooms.is_empty() {
            return 0;
        }
        let orders: Vec<Vec<usize>> = (0..ORDERS).map(|_| order(field, &self.pool, &mut self.generator)).collect();
        let mut was: Vec<Room> = Vec::new();
        for made in 0..steps {
            if made % 8 == 0 && limits.control.is_over(limits.deadline) {
                return made;
            }
            let chosen = self.choose();
            let order = &orders[self.generator.below(ORDERS)];
            self.step(field, judge, &chosen, order, &mut was);
        }
        steps
    }

    /// A few rooms, the first with something idle where a few tries find one; often all of one sort.
    fn choose(&mut self) -> Vec<usize> {
        let most = (*ROOMS_OF_STEP.end()).min(self.rooms.len());
        let least = (*ROOMS_OF_STEP.start()).min(most);
        let size = least + self.generator.below(most - least + 1);
        let mut chosen = Vec::with_capacity(size);
        let mut first = self.generator.below(self.rooms.len());
        for _ in 0..32 {
            if self.rooms[first].has_idle() {
                break;
            }
            first = self.generator.below(self.rooms.len());
        }
        chosen.push(first);
        let same_sort = self.generator.below(2) == 0;
        for _ in 0..8 * size {
            if chosen.len() == size {
                break;
            }
            let at = self.generator.below(self.rooms.len());
            if !chosen.contains(&at) && (!same_sort || self.rooms[at].sort == self.rooms[first].sort) {
                chosen.push(at);
            }
        }
        chosen
    }

    fn step(&mut self, field: &Field, judge: &Judge<'_>, chosen: &[usize], order: &[usize], was: &mut Vec<Room>) {
        while was.len() < chosen.len() {
            was.push(self.rooms[0].clone());
        }
        let mut before: Vec<(usize, usize)> = Vec::with_capacity(64);
        for (saved, &at) in was.iter_mut().zip(chosen) {
            saved.clone_from(&self.rooms[at]);
            for item in &saved.items {
                note(&mut before, item.shape as usize, &self.pool);
                self.pool.placed[item.shape as usize] -= 1;
            }
            self.rooms[at].empty(&field.sorts[saved.sort]);
        }
        fill(field, &mut self.rooms, chosen, &mut self.pool, order, &mut before);
        let order = self.pool.compare(&field.shapes, &before);
        let order =
            order.then_with(|| judge.compare(chosen.iter().map(|&at| &self.rooms[at]), was[..chosen.len()].iter()));
        self.has_gained |= order.is_gt();
        if order.is_lt() {
            for (saved, &at) in was.iter().zip(chosen) {
                self.rooms[at].clone_from(saved);
            }
            for (shape, placed) in before {
                self.pool.placed[shape] = placed;
            }
        }
    }
}

/// Remembers how many of a shape were placed before anything changed.
fn note(before: &mut Vec<(usize, usize)>, shape: usize, pool: &Pool) {
    if !before.iter().any(|(other, _)| *other == shape) {
        before.push((shape, pool.placed[shape]));
    }
}

/// The shapes of which any wait or are placed, by what they count, blurred; several devices before all else, none after it.
pub(crate) fn order(field: &Field, pool: &Pool, generator: &mut Generator) -> Vec<usize> {
    let mut keyed: Vec<(Reverse<usize>, Reverse<u64>, usize)> = Vec::new();
    for (at, shape) in field.shapes.iter().enumerate().filter(|(at, _)| !pool.levels[*at].is_empty()) {
        let blur = 100 + generator.below(BLUR_PERCENT + 1);
        let value = u64::try_from(shape.value).unwrap_or(0).saturating_mul(blur as u64);
        keyed.push((Reverse(shape.count.min(2)), Reverse(value), at));
    }
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, at)| at).collect()
}

/// Fills some rooms with what waits: on one level in the given order, else by level.
pub(crate) fn fill(
    field: &Field,
    rooms: &mut [Room],
    chosen: &[usize],
    pool: &mut Pool,
    order: &[usize],
    before: &mut Vec<(usize, usize)>,
) {
    if pool.is_flat {
        for &shape in order {
            while pool.waiting(shape) > 0 && place(field, rooms, chosen, pool, shape, before) {}
        }
        return;
    }
    let next = |pool: &Pool, rank: usize| pool.next_level(order[rank]).map(|level| Reverse((level, rank)));
    let mut queue: BinaryHeap<_> = (0..order.len()).filter_map(|rank| next(pool, rank)).collect();
    while let Some(Reverse((_, rank))) = queue.pop() {
        if place(field, rooms, chosen, pool, order[rank], before) {
            queue.extend(next(pool, rank));
        }
    }
}

/// Fills all rooms with what waits.
pub(crate) fn fill_all(field: &Field, rooms: &mut [Room], seed: u64) {
    let mut pool = field.pool(rooms);
    let order = order(field, &pool, &mut Generator::new(seed, Purpose::Plan));
    let all: Vec<usize> = (0..rooms.len()).collect();
    fill(field, rooms, &all, &mut pool, &order, &mut Vec::new());
}

/// Places one step of a shape where that is tightest; false where none of the rooms takes it.
fn place(
    field: &Field,
    rooms: &mut [Room],
    chosen: &[usize],
    pool: &mut Pool,
    at: usize,
    before: &mut Vec<(usize, usize)>,
) -> bool {
    let shape = &field.shapes[at];
    let fit = |&room: &usize| {
        let (tightness, devices) = rooms[room].fit(shape, &field.sorts[rooms[room].sort].offers[at])?;
        Some((tightness, room, devices))
    };
    let Some((_, room, devices)) = chosen.iter().filter_map(fit).min() else { return false };
    let room = &mut rooms[room];
    room.take(at, shape, &field.sorts[room.sort].offers[at], devices);
    note(before, at, pool);
    pool.placed[at] += 1;
    true
}
