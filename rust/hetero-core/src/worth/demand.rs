//! The mix, arranged by what a node has to offer to each class.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::mix::TaskClass;
use crate::worth::Free;

/// Parts that a thousandth of a device is counted in where shares are balanced with CPU.
pub(crate) const PARTS: f64 = 1024.0;

/// Weights are multiplied by this before they are divided by shares: integers add up to the same in any order.
const MILLION: u128 = 1_000_000;

/// Count, whether linked, share taken of each kind.
type Key<'a> = (u32, bool, &'a [Option<u16>]);

/// The steps of a mix, ready to be asked what a node is good for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    shapes: Vec<Shape>,
    /// Per class, its part of all: (weight / share) over their sum. Classes that no device here can serve are left out.
    pub(crate) parts: Vec<f64>,
    /// CPU that comes with each thousandth of a device, thousandths of a core; `None` where no step asks for both.
    cpu_per_milli: Option<f64>,
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
}

/// What steps of one shape find on a node, whatever their CPU.
struct Room {
    usable_milli: u64,
    /// Steps that fit.
    slots: u64,
    /// What they take together.
    filled_milli: u64,
    /// The most that one takes.
    unit_milli: u64,
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
        for ((count, is_linked, taken), by_cpu) in by_shape {
            let (first, cpu_milli) = (this.parts.len(), by_cpu.keys().copied().collect());
            this.parts.extend(by_cpu.into_values().map(|weight| weight as f64 / all as f64));
            this.shapes.push(Shape { count: u64::from(count), is_linked, shares: taken.to_vec(), first, cpu_milli });
        }
        this.cpu_per_milli = (cpu > 0 && devices > 0).then(|| cpu as f64 / devices as f64);
        this
    }

    /// Calls `each` with every class of which a step fits on a node: its number, what is usable, what is fillable.
    pub(crate) fn for_each_class(&self, free: Free<'_>, mut each: impl FnMut(usize, u64, u64)) {
        for shape in &self.shapes {
            let room = shape.room(free);
            if room.slots == 0 {
                continue;
            }
            for (class, &cpu_milli) in (shape.first..).zip(&shape.cpu_milli) {
                let fillable = match free.cpu_milli {
                    Some(have) if have < cpu_milli => break, // the others ask for more
                    Some(have) if have / room.slots < cpu_milli => {
                        room.filled_milli.min(have / cpu_milli * room.unit_milli)
                    }
                    _ => room.filled_milli,
                };
                each(class, room.usable_milli, fillable);
            }
        }
    }

    /// What is balanced on a node, in 1/1024 of a thousandth.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most the shares of a node, and not negative
    pub(crate) fn balanced(&self, free: Free<'_>) -> u64 {
        let shares = free.total_milli() as f64;
        let (Some(cpu_per_milli), Some(cpu_milli)) = (self.cpu_per_milli, free.cpu_milli) else {
            return (shares * PARTS) as u64;
        };
        let lasts = cpu_milli as f64 / cpu_per_milli;
        if shares == 0.0 || lasts == 0.0 { 0 } else { (PARTS * (shares * lasts / (shares + lasts))) as u64 }
    }
}

impl Shape {
    fn room(&self, free: Free<'_>) -> Room {
        let node = free.node;
        let mut room = Room { usable_milli: 0, slots: 0, filled_milli: 0, unit_milli: 0 };
        for run in if self.is_linked { &node.islands } else { &node.kinds } {
            let Some(share) = self.shares[run.kind.at()] else { continue };
            let devices = run.devices.start - node.devices.start..run.devices.end - node.devices.start;
            let (mut count, mut usable_milli, mut slots) = (0, 0, 0);
            for &milli in free.milli[devices].iter().filter(|&&milli| milli >= share) {
                count += 1;
                usable_milli += u64::from(milli);
                slots += u64::from(milli / share);
            }
            if self.count > 1 {
                slots = count / self.count;
            }
            let unit_milli = self.count * u64::from(share);
            if slots > 0 {
                room.usable_milli += usable_milli;
                room.slots += slots;
                room.filled_milli += slots * unit_milli;
                room.unit_milli = room.unit_milli.max(unit_milli);
            }
        }
        room
    }
}
