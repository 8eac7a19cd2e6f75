//! What is free on one node, devices that are alike counted together.

use smallvec::SmallVec;

use crate::inventory::{Node, Run};
use crate::units::KindIdx;

/// Most nodes have a run or two, with few different shares free.
type AllAlike = SmallVec<[Alike; 4]>;

/// What is free on one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Free {
    /// By run of one kind.
    kinds: AllAlike,
    /// By run of one kind and island.
    islands: AllAlike,
    /// All free shares.
    pub(crate) total_milli: u64,
    /// Free CPU; `None`, unknown, counts as enough.
    pub(crate) cpu_milli: Option<u64>,
}

/// Devices of one run with the same share free; those of a run lie together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alike {
    /// Position of the run among those of its node.
    pub(crate) run: u16,
    /// Their kind.
    pub(crate) kind: KindIdx,
    /// The share that is free on each.
    pub(crate) milli: u16,
    /// How many they are.
    pub(crate) count: u16,
}

impl Free {
    /// Of a node, by the free shares of its devices alone.
    pub(crate) fn new(node: &Node, milli: &[u16], cpu_milli: Option<u64>) -> Self {
        let gathered = |runs: &[Run]| {
            let mut all = AllAlike::new();
            for (run, Run { kind, devices }) in (0..).zip(runs) {
                for &milli in &milli[devices.start - node.devices.start..devices.end - node.devices.start] {
                    put(&mut all, Alike { run, kind: *kind, milli, count: 1 });
                }
            }
            all
        };
        let total_milli = milli.iter().map(|&milli| u64::from(milli)).sum();
        Self { kinds: gathered(&node.kinds), islands: gathered(&node.islands), total_milli, cpu_milli }
    }

    /// The runs that a step has to fit in one of.
    pub(crate) fn runs(&self, is_linked: bool) -> &[Alike] {
        if is_linked { &self.islands } else { &self.kinds }
    }

    /// Takes a share of a device, given by its position in the device columns, of which so much is free.
    pub(crate) fn take(&mut self, node: &Node, at: usize, milli: u16, share: u16) {
        self.total_milli -= u64::from(share);
        for (runs, all) in [(&node.kinds, &mut self.kinds), (&node.islands, &mut self.islands)] {
            let Some((run, _)) = (0..).zip(runs).find(|(_, run)| run.devices.contains(&at)) else { continue };
            let is_there = |alike: &Alike| (alike.run, alike.milli) == (run, milli);
            let there = all.iter().position(is_there).expect("a device of which something is free is counted");
            all[there].count -= 1;
            let left = Alike { milli: milli - share, count: 1, ..all[there] };
            if all[there].count == 0 {
                all.remove(there);
            }
            put(all, left);
        }
    }
}

fn put(all: &mut AllAlike, one: Alike) {
    if one.milli == 0 {
        return;
    }
    let is_like = |alike: &&mut Alike| (alike.run, alike.milli) == (one.run, one.milli);
    if let Some(alike) = all.iter_mut().find(is_like) {
        alike.count += one.count;
        return;
    }
    let end = all.iter().rposition(|alike| alike.run <= one.run).map_or(0, |last| last + 1);
    all.insert(end, one);
}
