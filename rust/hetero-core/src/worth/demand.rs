//! The mix, arranged by what a node has to offer to each class.

use std::collections::BTreeMap;

use crate::mix::TaskClass;
use crate::worth::Free;
use crate::worth::parts::{Parts, Segment, segments};
use crate::worth::several::Several;
use crate::worth::singles::{LANES, Singles};

/// Weights are multiplied by this before they are divided by shares: integers add up to the same in any order.
const MILLION: u128 = 1_000_000;

/// The classes of a mix, ready to be asked what a node is good for. Classes that no device here can serve are left out.
///
/// They are numbered so that those of one device come first, to be looked at side by side, and that those that count in the
/// same parts lie together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    singles: Vec<Singles>,
    several: Vec<Several>,
    /// Per class, its part of all: (weight / share) over their sum.
    pub(super) portions: Vec<f64>,
    pub(super) segments: Vec<Segment>,
    /// CPU that comes with each thousandth of a device, thousandths of a core; `None` where no step asks for both.
    cpu_per_milli: Option<f64>,
}

/// What tells classes apart; in their order those that differ in their CPU only lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class<'a> {
    /// Devices that a step takes.
    pub(super) count: u32,
    /// Whether these have to be in one island.
    pub(super) is_linked: bool,
    /// Per kind: the share taken of each; `None` where the kind is not taken.
    pub(super) shares: &'a [Option<u16>],
    /// CPU of a step.
    pub(super) cpu_milli: u64,
}

/// What a class finds on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) usable_milli: u32,
    pub(super) fillable_milli: u32,
}

impl Class<'_> {
    /// Whether they differ in their CPU only.
    fn is_like(&self, other: &Self) -> bool {
        (self.count, self.is_linked, self.shares) == (other.count, other.is_linked, other.shares)
    }
}

impl Demand {
    /// `shares` are those of [`crate::mix::Mix`].
    pub(crate) fn new(classes: &[TaskClass], shares: &[Vec<Option<u16>>]) -> Self {
        let mut weights: BTreeMap<Class, u128> = BTreeMap::new();
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
            let class = Class { count: choice.count, is_linked, shares, cpu_milli: choice.cpu_milli };
            *weights.entry(class).or_default() += weight * MILLION / u128::from(share);
        }
        let cpu_per_milli = (cpu > 0 && devices > 0).then(|| cpu as f64 / devices as f64);
        let mut by_parts: BTreeMap<(bool, Parts), Vec<Class>> = BTreeMap::new();
        for class in weights.keys() {
            by_parts.entry((class.count > 1, Parts::of(class, cpu_per_milli))).or_default().push(*class);
        }
        let all: u128 = weights.values().sum();
        let classes: Vec<Class> = by_parts.values().flatten().copied().collect();
        let (singles, several) = classes.split_at(classes.partition_point(|class| class.count == 1));
        Self {
            singles: singles.chunks(LANES).map(Singles::new).collect(),
            several: several.chunk_by(Class::is_like).map(Several::new).collect(),
            portions: classes.iter().map(|class| weights[class] as f64 / all as f64).collect(),
            segments: segments(by_parts.iter().map(|((_, parts), classes)| (*parts, classes.len()))),
            cpu_per_milli,
        }
    }

    /// What every class finds on a node, in place of what is there.
    pub(super) fn find(&self, free: &Free, found: &mut Vec<Found>) {
        found.resize(self.portions.len(), Found::default());
        let mut rest = found.as_mut_slice();
        for singles in &self.singles {
            let (here, others) = rest.split_at_mut(singles.len);
            singles.find(free, here);
            rest = others;
        }
        for several in &self.several {
            let (here, others) = rest.split_at_mut(several.len());
            several.find(free, here);
            rest = others;
        }
    }

    /// The free shares of a node for which its CPU lasts, were it used as the mix does on average.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative; what is too much saturates
    pub(super) fn fed(&self, free: &Free) -> u64 {
        match (self.cpu_per_milli, free.cpu_milli) {
            (Some(cpu_per_milli), Some(cpu_milli)) => free.total_milli.min((cpu_milli as f64 / cpu_per_milli) as u64),
            _ => free.total_milli,
        }
    }
}
