//! The mix, arranged by what a node has to offer to each class.

use std::collections::BTreeMap;
use std::ops::Range;

use indexmap::IndexMap;

use crate::mix::TaskClass;
use crate::units::WHOLE_MILLI;
use crate::worth::free::Alike;
use crate::worth::parts::Parts;
use crate::worth::singles::{LANES, Singles};
use crate::worth::{Find, Free, Scarcity, Worth};

/// Weights are multiplied by this before they are divided by shares: integers add up to the same in any order.
const MILLION: u128 = 1_000_000;

/// Count, whether linked, share taken of each kind.
type Key<'a> = (u32, bool, &'a [Option<u16>]);

/// The steps of a mix, ready to be asked what a node is good for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    /// Those that are looked at side by side first, eight by eight.
    shapes: Vec<Shape>,
    singles: Vec<Singles>,
    /// Per class, its part of all: (weight / share) over their sum. Classes that no device here can serve are left out.
    pub(crate) parts: Vec<f64>,
    /// CPU that comes with each thousandth of a device, thousandths of a core; `None` where no step asks for both.
    cpu_per_milli: Option<f64>,
    /// Per class: where what it can use and fill counts.
    pub(super) counted: Vec<Parts>,
}

/// Classes that differ in their CPU only.
#[derive(Clone, Debug)]
struct Shape {
    count: u64,
    is_linked: bool,
    /// Per kind: the share taken of each device.
    shares: Vec<Option<u16>>,
    /// Number of its first class.
    first: usize,
    /// CPU of each class, least first.
    cpu_milli: Vec<u64>,
    /// The last of these.
    most_cpu_milli: u64,
    cohorts: Vec<Cohort>,
}

/// Classes of one shape that count in the same parts.
#[derive(Clone, Debug)]
struct Cohort {
    classes: Range<usize>,
    parts: Parts,
}

/// What steps of one shape find on a node, whatever their CPU.
#[derive(Clone, Copy, Default)]
pub(super) struct Room {
    pub(super) usable_milli: u64,
    /// Steps that fit.
    pub(super) slots: u64,
    /// What they take together.
    pub(super) filled_milli: u64,
    /// The most that one takes.
    pub(super) unit_milli: u64,
}

impl Demand {
    /// `shares` are those of [`crate::mix::Mix`].
    pub(crate) fn new(classes: &[TaskClass], shares: &[Vec<Option<u16>>]) -> Self {
        let mut by_shape: IndexMap<Key, BTreeMap<u64, u128>> = IndexMap::new();
        let (mut cpu, mut devices) = (0u128, 0u128);
        for (class, shares) in classes.iter().zip(shares) {
            let (choice, weight) = (&class.choice, u128::from(class.weight));
            let smallest = shares.iter().flatten().min();
            if choice.count == 0 || smallest.is_some() {
                cpu += weight * u128::from(choice.cpu_milli);
            }
            let Some(&share) = smallest.filter(|_| choice.count > 0) else { continue };
            devices += weight * u128::from(choice.count) * u128::from(share);
            let is_linked = choice.count > 1 && choice.link.is_some();
            let of_shape = by_shape.entry((choice.count, is_linked, shares)).or_default();
            *of_shape.entry(choice.cpu_milli).or_default() += weight * MILLION / u128::from(share);
        }
        let all: u128 = by_shape.values().flat_map(BTreeMap::values).sum();
        let mut this = Self::default();
        this.cpu_per_milli = (cpu > 0 && devices > 0).then(|| cpu as f64 / devices as f64);
        for ((count, is_linked, taken), by_cpu) in by_shape {
            let (first, cpu_milli) = (this.parts.len(), by_cpu.keys().copied().collect::<Vec<u64>>());
            this.parts.extend(by_cpu.into_values().map(|weight| weight as f64 / all as f64));
            let share = taken.iter().flatten().min().copied().unwrap_or(WHOLE_MILLI);
            this.counted.extend(cpu_milli.iter().map(|&cpu| Parts::of(count, share, cpu, this.cpu_per_milli)));
            this.shapes.push(Shape {
                count: u64::from(count),
                is_linked,
                shares: taken.to_vec(),
                first,
                most_cpu_milli: cpu_milli.last().copied().unwrap_or(0),
                cpu_milli,
                cohorts: cohorts(first, &this.counted[first..]),
            });
        }
        this.shapes.sort_by_key(|shape| shape.count > 1); // stable
        let singles = this.shapes.iter().take_while(|shape| shape.count == 1).map(|shape| shape.shares.as_slice());
        this.singles = singles.collect::<Vec<_>>().chunks(LANES).map(Singles::new).collect();
        this
    }

    /// Calls `each` with what classes find on a node.
    pub(super) fn for_each_find(&self, free: &Free, mut each: impl FnMut(Find)) {
        self.for_each_room(free, |shape, room| shape.for_each_find(free, &room, &mut each));
    }

    /// The worth of what is free on a node, part by part.
    pub(crate) fn worth(&self, free: &Free, scarcity: &Scarcity) -> Worth {
        let mut worth = Worth::of_fed(self.fed(free), scarcity);
        self.for_each_find(free, |find| worth.add(&find, scarcity));
        worth
    }

    /// Calls `each` with every shape of which a step fits on a node.
    fn for_each_room(&self, free: &Free, mut each: impl FnMut(&Shape, Room)) {
        let mut rest = self.shapes.as_slice();
        for singles in &self.singles {
            let (shapes, others) = rest.split_at(singles.len);
            for (shape, room) in shapes.iter().zip(singles.rooms(free.runs(false))) {
                if room.slots > 0 {
                    each(shape, room);
                }
            }
            rest = others;
        }
        for shape in rest {
            let room = shape.room(free.runs(shape.is_linked));
            if room.slots > 0 {
                each(shape, room);
            }
        }
    }

    /// The free shares of a node for which its CPU lasts, were it used as the mix does on average.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative; what is too much saturates
    pub(crate) fn fed(&self, free: &Free) -> u64 {
        match (self.cpu_per_milli, free.cpu_milli) {
            (Some(cpu_per_milli), Some(cpu_milli)) => free.total_milli.min((cpu_milli as f64 / cpu_per_milli) as u64),
            _ => free.total_milli,
        }
    }
}

/// The classes from `first` on, those that count in the same parts and lie side by side together.
fn cohorts(first: usize, counted: &[Parts]) -> Vec<Cohort> {
    let mut start = first;
    let alike = counted.chunk_by(|a, b| a == b);
    alike
        .map(|alike| {
            let classes = start..start + alike.len();
            start = classes.end;
            Cohort { classes, parts: alike[0] }
        })
        .collect()
}

impl Shape {
    /// Of steps of several devices.
    fn room(&self, runs: &[Alike]) -> Room {
        let mut room = Room::default();
        let mut rest = runs;
        while let Some(first) = rest.first() {
            let end = rest.iter().take_while(|alike| alike.run == first.run).count();
            let (run, others) = rest.split_at(end);
            rest = others;
            let Some(share) = self.shares[first.kind.at()] else { continue };
            let (mut count, mut usable_milli) = (0, 0);
            for alike in run.iter().filter(|alike| alike.milli >= share) {
                count += u64::from(alike.count);
                usable_milli += u64::from(alike.count) * u64::from(alike.milli);
            }
            let slots = count / self.count;
            if slots > 0 {
                let unit_milli = self.count * u64::from(share);
                room.usable_milli += usable_milli;
                room.slots += slots;
                room.filled_milli += slots * unit_milli;
                room.unit_milli = room.unit_milli.max(unit_milli);
            }
        }
        room
    }

    /// Calls `each` with what its classes find, from the one that asks least CPU on: those of which equally many fit are
    /// taken together.
    fn for_each_find(&self, free: &Free, room: &Room, mut each: impl FnMut(Find)) {
        let have = free.cpu_milli.unwrap_or(u64::MAX);
        if room.slots * self.most_cpu_milli <= have {
            for Cohort { classes, parts } in &self.cohorts {
                let (usable_milli, fillable_milli) = (room.usable_milli, room.filled_milli);
                each(Find { classes: classes.clone(), parts: *parts, usable_milli, fillable_milli });
            }
            return;
        }
        let (mut class, mut steps) = (0, room.slots);
        while steps > 0 {
            let end = class + self.cpu_milli[class..].partition_point(|&cpu_milli| steps * cpu_milli <= have);
            let (from, to) = (self.first + class, self.first + end);
            for Cohort { classes, parts } in &self.cohorts {
                let classes = classes.start.max(from)..classes.end.min(to);
                if classes.is_empty() {
                    continue;
                }
                let fillable_milli = room.filled_milli.min(steps * room.unit_milli);
                each(Find { classes, parts: *parts, usable_milli: room.usable_milli, fillable_milli });
            }
            class = end;
            steps = self.cpu_milli.get(class).map_or(0, |cpu_milli| have / cpu_milli);
        }
    }
}
