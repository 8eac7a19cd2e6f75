//! Which devices of one node: every choice of devices that could score differently, and no other.
//!
//! Devices of a node that share kind, island, NUMA node and free share are interchangeable, so it is enough to choose
//! how many of each such group to take; of a group the lowest ids go first.

use crate::capacity::Capacity;
use crate::device::Device;
use crate::filter::{Misfit, only_whole};
use crate::inventory::{Inventory, Node};
use crate::request::Choice;

/// Options per node at most, and fewer for steps of many devices, whose options cost more to score. Reached only by nodes
/// with dozens of islands; the first options, which take most from the first groups, stand.
const MAX_OPTIONS: usize = 4096;
/// Pairs of devices that the options of a node may have in all.
const MAX_PAIRS: usize = 1 << 20;

/// Interchangeable devices.
#[derive(Clone, Debug)]
struct Group {
    members: Vec<usize>,
    /// The group before it differs only in its island and has the lower ids, pair by pair; each of the two is all of
    /// its island that is usable.
    is_twin_of_previous: bool,
}

/// Calls `each` with every distinct choice of devices for the request, as sorted positions in the device columns.
pub fn for_each_option(
    inventory: &Inventory,
    node: &Node,
    capacity: &Capacity,
    choice: &Choice,
    fit: &[Option<Misfit>],
    mut each: impl FnMut(&[usize]),
) {
    let count = choice.count as usize;
    let one_island = count > 1 && choice.link.is_some();
    let runs = if one_island { &node.islands } else { &node.kinds };
    let mut left = (MAX_PAIRS / (count * count)).clamp(1, MAX_OPTIONS);
    let mut picked = Vec::with_capacity(count);
    let share = |at: usize| inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
    let is_usable = |at: usize| capacity.free_for(at, choice, share(at)) >= share(at);
    let offered = only_whole(inventory, node, choice, fit, is_usable);
    for run in runs.iter().filter(|run| offered[run.kind.at()].is_none()) {
        let usable = run.devices.clone().filter(|&at| is_usable(at));
        let groups = interchangeable(&inventory.devices, usable, capacity);
        take(&groups, count, usize::MAX, &mut picked, &mut left, &mut each);
    }
}

fn interchangeable(devices: &[Device], usable: impl Iterator<Item = usize>, capacity: &Capacity) -> Vec<Group> {
    let key = |at: usize| {
        let asked = capacity.asked(at);
        (devices[at].island, devices[at].numa, (capacity.free_milli[at], asked.mib, asked.milli))
    };
    let mut groups: Vec<Group> = Vec::new();
    for at in usable {
        match groups.iter_mut().find(|group| key(group.members[0]) == key(at)) {
            Some(group) => group.members.push(at),
            None => groups.push(Group { members: vec![at], is_twin_of_previous: false }),
        }
    }
    let is_whole_island = |group: &Group, groups: &[Group]| {
        let island = devices[group.members[0]].island;
        island.is_some() && groups.iter().filter(|g| devices[g.members[0]].island == island).count() == 1
    };
    for i in 1..groups.len() {
        let (a, b) = (&groups[i - 1], &groups[i]);
        let (ka, kb) = (key(a.members[0]), key(b.members[0]));
        let alike = (ka.1, ka.2, a.members.len()) == (kb.1, kb.2, b.members.len());
        let is_lower = a.members.iter().zip(&b.members).all(|(&a, &b)| devices[a].id < devices[b].id);
        groups[i].is_twin_of_previous = alike && is_lower && is_whole_island(a, &groups) && is_whole_island(b, &groups);
    }
    groups
}

/// Takes `count` more devices from `groups`, most from the first ones first.
fn take(
    groups: &[Group],
    count: usize,
    before: usize,
    picked: &mut Vec<usize>,
    left: &mut usize,
    each: &mut impl FnMut(&[usize]),
) {
    if *left == 0 {
        return;
    }
    if count == 0 {
        *left -= 1;
        let mut option = picked.clone();
        option.sort_unstable();
        each(&option);
        return;
    }
    let Some((group, rest)) = groups.split_first() else {
        return;
    };
    let later: usize = rest.iter().map(|group| group.members.len()).sum();
    let ceiling = if group.is_twin_of_previous { before } else { usize::MAX };
    let most = count.min(group.members.len()).min(ceiling);
    let least = count.saturating_sub(later);
    if least > most {
        *left -= 1; // a dead end costs as much as an option
    }
    for n in (least..=most).rev() {
        picked.extend(&group.members[..n]);
        take(rest, count - n, n, picked, left, each);
        picked.truncate(picked.len() - n);
    }
}
