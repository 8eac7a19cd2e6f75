//! Tensor parallel groups against the islands of a node: each group lies in one.

use std::collections::BTreeMap;

use crate::codes::Code;
use crate::filter::Misfit;
use crate::inventory::{Inventory, Node};
use crate::request::Choice;

/// Why the groups do not find islands; `fit` is that of the kinds that are offered whole.
pub(crate) fn misfit(
    inventory: &Inventory,
    node: &Node,
    choice: &Choice,
    fit: &[Option<Misfit>],
    usable: impl Fn(usize) -> bool,
) -> Option<Misfit> {
    let ranks = u64::from(choice.tensor_ranks.filter(|&ranks| ranks > 1)?);
    let mut by_island: BTreeMap<(usize, Option<u16>, Option<u16>), u64> = BTreeMap::new();
    for run in node.islands.iter().filter(|run| fit[run.kind.at()].is_none()) {
        for at in run.devices.clone().filter(|&at| usable(at)) {
            let device = &inventory.devices[at];
            let numa = device.numa.filter(|_| choice.one_numa_node);
            if numa.is_some() || !choice.one_numa_node {
                *by_island.entry((run.kind.at(), numa, device.island)).or_default() += 1;
            }
        }
    }
    let mut in_groups: BTreeMap<(usize, Option<u16>), u64> = BTreeMap::new();
    for ((kind, numa, _), devices) in by_island {
        *in_groups.entry((kind, numa)).or_default() += devices / ranks * ranks;
    }
    let (have, want) = (in_groups.into_values().max().unwrap_or(0), u64::from(choice.count));
    (have < want).then(|| Misfit::numbers(Code::NotOneIsland, Some(have), want))
}
