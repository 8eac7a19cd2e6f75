//! Nodes as small arrays, for what most steps ask: so many devices of one run, a share of each, CPU and host memory.
//!
//! Nodes that offer the same and have the same free are of one *sort*; steps that ask the same are one *shape*. Rules that
//! do not change while a plan is made (names, drivers, taints, labels and the like) are in the *offer* of a sort to a shape.
//! What asks for more (islands, ranges, alternatives, quotas) does not come here.

use hetero_core::units::NodeIdx;

/// Devices of a node that have bits in a set.
pub(crate) const MOST_DEVICES: usize = 128;

/// Steps that ask the same.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// What they ask.
    pub(crate) request: usize,
    /// Devices of each.
    pub(crate) count: usize,
    pub(crate) cpu_milli: u64,
    pub(crate) memory_mib: u64,
    /// What one of them counts.
    pub(crate) value: i64,
    /// The steps, first those that go first.
    pub(crate) tasks: Vec<usize>,
}

/// Devices of a node that a shape may take, and how much of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) share_milli: u16,
}

/// What a sort of node offers to a shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Offer {
    pub(crate) is_admitted: bool,
    pub(crate) runs: Vec<Run>,
}

/// Nodes that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sort {
    /// By shape.
    pub(crate) offers: Vec<Offer>,
    pub(crate) cpu_milli: u64,
    pub(crate) memory_mib: u64,
    /// By device.
    pub(crate) free_milli: Vec<u16>,
}

/// A step in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) shape: u32,
    /// Its devices, one bit each.
    pub(crate) devices: u128,
}

/// One node.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) node: NodeIdx,
    pub(crate) sort: usize,
    pub(crate) cpu_milli: u64,
    pub(crate) memory_mib: u64,
    pub(crate) free_milli: Vec<u16>,
    pub(crate) items: Vec<Item>,
}

impl Clone for Room {
    fn clone(&self) -> Self {
        Self { free_milli: self.free_milli.clone(), items: self.items.clone(), ..*self }
    }

    /// Keeps the memory of the two lists: the search saves and restores rooms all the time.
    fn clone_from(&mut self, from: &Self) {
        self.free_milli.clone_from(&from.free_milli);
        self.items.clone_from(&from.items);
        (self.node, self.sort, self.cpu_milli, self.memory_mib) =
            (from.node, from.sort, from.cpu_milli, from.memory_mib);
    }
}

/// A way to take devices: lower is tighter.
type Tightness = (u32, u64);

impl Room {
    /// A node with nothing of the plan in it.
    pub(crate) fn new(node: NodeIdx, sort: usize, of: &Sort) -> Self {
        Self {
            node,
            sort,
            cpu_milli: of.cpu_milli,
            memory_mib: of.memory_mib,
            free_milli: of.free_milli.clone(),
            items: Vec::new(),
        }
    }

    /// Takes everything of the plan out.
    pub(crate) fn empty(&mut self, of: &Sort) {
        (self.cpu_milli, self.memory_mib) = (of.cpu_milli, of.memory_mib);
        self.free_milli.copy_from_slice(&of.free_milli);
        self.items.clear();
    }

    /// Whether any device has something free.
    pub(crate) fn has_idle(&self) -> bool {
        self.free_milli.iter().any(|&free| free > 0)
    }

    /// The tightest way to take a shape in, and which devices that takes.
    pub(crate) fn fit(&self, shape: &Shape, offer: &Offer) -> Option<(Tightness, u128)> {
        if self.cpu_milli < shape.cpu_milli || self.memory_mib < shape.memory_mib || !offer.is_admitted {
            return None;
        }
        let cpu_left = self.cpu_milli - shape.cpu_milli;
        if shape.count == 0 {
            return Some(((0, cpu_left), 0));
        }
        self.tightest(shape.count, offer).map(|(left, devices)| ((left, cpu_left), devices))
    }

    fn tightest(&self, count: usize, offer: &Offer) -> Option<(u32, u128)> {
        offer.runs.iter().filter_map(|run| self.fit_in(run, count)).min()
    }

    fn fit_in(&self, run: &Run, count: usize) -> Option<(u32, u128)> {
        let free = &self.free_milli[run.start..run.end];
        if count == 1 {
            let usable = free.iter().enumerate().filter(|(_, free)| **free >= run.share_milli);
            let (at, &tightest) = usable.min_by_key(|(_, free)| **free)?;
            // Of equally full devices on several nodes, that on the node with fewer others that could serve.
            let others = free.iter().filter(|free| **free >= run.share_milli).count();
            let left = u32::from(tightest - run.share_milli) << 8;
            return Some((left + u32::try_from(others).unwrap_or(u32::MAX >> 1), 1 << (run.start + at)));
        }
        let usable = || free.iter().enumerate().filter(|(_, free)| **free >= run.share_milli);
        let all = usable().count();
        if all < count {
            return None;
        }
        let mut chosen: Vec<(u16, usize)> = usable().map(|(at, &free)| (free, at)).collect();
        chosen.sort_unstable();
        let devices = chosen[..count].iter().fold(0, |devices, (_, at)| devices | 1 << (run.start + at));
        Some((u32::try_from(all - count).unwrap_or(u32::MAX), devices))
    }

    /// Takes a shape in on devices that [`Room::fit`] named.
    pub(crate) fn take(&mut self, at: usize, shape: &Shape, offer: &Offer, devices: u128) {
        self.cpu_milli -= shape.cpu_milli;
        self.memory_mib -= shape.memory_mib;
        for device in bits(devices) {
            let run = offer.runs.iter().find(|run| (run.start..run.end).contains(&device)).expect("of the offer");
            self.free_milli[device] -= run.share_milli;
        }
        self.items.push(Item { shape: u32::try_from(at).expect("fewer shapes than 2^32"), devices });
    }
}

/// The devices of a set, in order.
pub(crate) fn bits(mut devices: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (devices != 0).then(|| {
            let at = devices.trailing_zeros() as usize;
            devices &= devices - 1;
            at
        })
    })
}
