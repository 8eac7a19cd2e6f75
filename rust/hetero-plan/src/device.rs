//! Devices of a node: which a task may take, and which it takes.

use hetero_core::filter::Misfit;
use hetero_core::inventory::{Inventory, Node};

use crate::generator::Generator;
use crate::score::Ask;

/// Fills `usable` with the devices that a task may take on a node where it fits, by their place on the node.
///
/// Several devices are of one kind: the first that has enough.
pub(crate) fn usable(
    inventory: &Inventory,
    node: &Node,
    fit: &[Option<Misfit>],
    free_milli: &[u16],
    ask: Ask,
    usable: &mut Vec<usize>,
) {
    usable.clear();
    if ask.count == 0 {
        return;
    }
    let (first, count) = (node.devices.start, ask.count as usize);
    for run in node.kinds.iter().filter(|run| fit[run.kind.at()].is_none()) {
        let is_opaque = inventory.kinds[run.kind.at()].is_opaque();
        if is_opaque && run.devices.len() != count {
            continue; // handed out by whole nodes only
        }
        let here = run.devices.clone().map(|at| at - first).filter(|&at| free_milli[at] >= ask.share_milli);
        if count == 1 {
            usable.extend(here);
            continue;
        }
        usable.extend(here);
        if usable.len() >= count {
            return;
        }
        usable.clear();
    }
}

/// The fullest device that holds a share, the first of several; for whole devices the first ones.
pub(crate) fn tightest(free_milli: &[u16], usable: &[usize], ask: Ask) -> Vec<usize> {
    match usable.iter().min_by_key(|&&at| free_milli[at]) {
        Some(&at) if ask.group() == Some(0) => vec![at],
        _ => first(usable, ask),
    }
}

/// The emptiest device, the first of several; for whole devices the first ones.
pub(crate) fn emptiest(free_milli: &[u16], usable: &[usize], ask: Ask) -> Vec<usize> {
    match usable.iter().min_by_key(|&&at| std::cmp::Reverse(free_milli[at])) {
        Some(&at) if ask.group() == Some(0) => vec![at],
        _ => first(usable, ask),
    }
}

/// Any device that holds a share; for whole devices the first ones.
pub(crate) fn any(usable: &[usize], ask: Ask, generator: &mut Generator) -> Vec<usize> {
    if ask.group() == Some(0) { vec![usable[generator.below(usable.len())]] } else { first(usable, ask) }
}

/// The first devices.
pub(crate) fn first(usable: &[usize], ask: Ask) -> Vec<usize> {
    usable.iter().copied().take(ask.count as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_goes_to_the_fullest_device_and_whole_ones_to_the_first() {
        let share = Ask { count: 1, share_milli: 300, cpu_milli: 0 };
        assert_eq!(tightest(&[1000, 400, 300, 300, 100], &[0, 1, 2, 3], share), [2]);
        assert_eq!(emptiest(&[400, 800, 300, 800, 100], &[0, 1, 2, 3], share), [1]);
        let pair = Ask { count: 2, share_milli: 1000, cpu_milli: 0 };
        assert_eq!(tightest(&[400, 1000, 1000, 1000], &[1, 2, 3], pair), [1, 2]);
        let none = Ask { count: 0, share_milli: 1000, cpu_milli: 0 };
        assert_eq!(tightest(&[400], &[], none), [0; 0]);
    }
}
