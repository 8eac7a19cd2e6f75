//! Which devices of one node: every choice of devices that could score differently, and no other.
//!
//! Devices of a node that share kind, island, NUMA node, switch, free share and the power that a step would add are
//! interchangeable, so it is enough to choose how many of each such group to take; of a group the lowest ids go first. A
//! share that says what it is bound by also tells devices apart by what others of its kind have of them, and a step that
//! prefers network cards by these. One of several groups tells them apart by all that another group may ask of them.

use smallvec::{SmallVec, smallvec};

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

/// Most nodes have eight devices at most.
type Picked = SmallVec<[usize; 8]>;

/// Interchangeable devices.
#[derive(Clone, Debug)]
struct Group {
    members: Picked,
    /// The group before it differs only in its island and has the lower ids, pair by pair; each of the two is all of
    /// its island that is usable.
    is_twin_of_previous: bool,
    /// The next group is in another island.
    ends_island: bool,
}

/// What was taken so far, as far as it bounds what may be taken next.
#[derive(Clone, Copy, Debug)]
struct Taken {
    /// Of the group before.
    before: usize,
    /// Of the island.
    of_island: usize,
    /// Devices of a tensor parallel group: an island gives a multiple of it.
    ranks: usize,
}

/// Calls `each` with every distinct choice of devices for the request, as sorted positions in the device columns.
///
/// `power_of` tells devices apart by power: of two that are partly in use, one may have been read.
pub fn for_each_option(
    inventory: &Inventory,
    node: &Node,
    capacity: &Capacity,
    choice: &Choice,
    fit: &[Option<Misfit>],
    power_of: impl Fn(usize) -> (Option<u64>, Option<u64>),
    mut each: impl FnMut(&[usize]),
) {
    let count = choice.count as usize;
    let one_island = count > 1 && choice.link.is_some();
    let runs = if one_island { &node.islands } else { &node.kinds };
    let mut left = (MAX_PAIRS / (count * count)).clamp(1, MAX_OPTIONS);
    let mut picked = Picked::new();
    let share = |at: usize| inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
    let ranks = choice.tensor_ranks.unwrap_or(1) as usize;
    let is_placed = |at: usize| ranks == 1 || inventory.devices[at].island.is_some();
    let is_usable = |at: usize| capacity.free_for(at, choice, share(at)) >= share(at);
    let is_near = |at: usize| inventory.devices[at].is_near_enough(choice);
    let offered = only_whole(inventory, node, choice, fit, is_usable);
    for run in runs.iter().filter(|run| offered[run.kind.at()].is_none()) {
        let usable = run.devices.clone().filter(|&at| is_usable(at) && is_placed(at) && is_near(at));
        let groups = interchangeable(&inventory.devices, usable, capacity, &power_of, choice);
        let nothing = Taken { before: usize::MAX, of_island: 0, ranks };
        take(&groups, count, nothing, &mut picked, &mut left, &mut each);
    }
}

fn interchangeable(
    devices: &[Device],
    usable: impl Iterator<Item = usize>,
    capacity: &Capacity,
    power_of: impl Fn(usize) -> (Option<u64>, Option<u64>),
    choice: &Choice,
) -> SmallVec<[Group; 2]> {
    // What only tells how near devices are to each other tells one device apart from no other.
    let near = |device: &Device| {
        if choice.count > 1 || choice.is_of_groups { (device.switch, device.card) } else { (None, None) }
    };
    let key = |at: usize| {
        let asked = capacity.asked(at);
        let free = (capacity.free_milli[at], asked.mib, asked.milli, power_of(at));
        let tie = (capacity.alike_milli(at, choice), choice.prefers_nic && devices[at].is_near_nic);
        let to_others = choice.is_of_groups.then(|| (devices[at].is_near_nic, capacity.is_full(at)));
        (devices[at].island, devices[at].numa, (free, tie, to_others), near(&devices[at]))
    };
    let (mut groups, mut keys): (SmallVec<[Group; 2]>, SmallVec<[_; 2]>) = (SmallVec::new(), SmallVec::new());
    for at in usable {
        let here = key(at);
        if let Some(group) = keys.iter().position(|key| *key == here) {
            groups[group].members.push(at);
        } else {
            keys.push(here);
            groups.push(Group { members: smallvec![at], is_twin_of_previous: false, ends_island: true });
        }
    }
    let is_whole_island = |group: &Group, groups: &[Group]| {
        let island = devices[group.members[0]].island;
        island.is_some() && groups.iter().filter(|g| devices[g.members[0]].island == island).count() == 1
    };
    for i in 1..groups.len() {
        let island = |group: &Group| devices[group.members[0]].island;
        groups[i - 1].ends_island = island(&groups[i - 1]) != island(&groups[i]);
        let (a, b) = (&groups[i - 1], &groups[i]);
        let (ka, kb) = (keys[i - 1], keys[i]);
        let alike = (ka.1, ka.2, ka.3, a.members.len()) == (kb.1, kb.2, kb.3, b.members.len());
        let is_lower = a.members.iter().zip(&b.members).all(|(&a, &b)| devices[a].id < devices[b].id);
        groups[i].is_twin_of_previous = alike && is_lower && is_whole_island(a, &groups) && is_whole_island(b, &groups);
    }
    groups
}

/// Takes `count` more devices from `groups`, most from the first ones first.
fn take(
    groups: &[Group],
    count: usize,
    taken: Taken,
    picked: &mut Picked,
    left: &mut usize,
    each: &mut impl FnMut(&[usize]),
) {
    if *left == 0 {
        return;
    }
    if count == 0 {
        if !taken.of_island.is_multiple_of(taken.ranks) {
            return;
        }
        *left -= 1;
        if picked.is_sorted() {
            each(picked);
        } else {
            let mut option = picked.clone();
            option.sort_unstable();
            each(&option);
        }
        return;
    }
    let Some((group, rest)) = groups.split_first() else {
        return;
    };
    let later: usize = rest.iter().map(|group| group.members.len()).sum();
    let ceiling = if group.is_twin_of_previous { taken.before } else { usize::MAX };
    let most = count.min(group.members.len()).min(ceiling);
    let least = count.saturating_sub(later);
    if least > most {
        *left -= 1; // a dead end costs as much as an option
    }
    for n in (least..=most).rev() {
        let of_island = taken.of_island + n;
        if group.ends_island && !of_island.is_multiple_of(taken.ranks) {
            continue; // a tensor parallel group would be torn
        }
        let of_island = if group.ends_island { 0 } else { of_island };
        picked.extend_from_slice(&group.members[..n]);
        take(rest, count - n, Taken { before: n, of_island, ..taken }, picked, left, each);
        picked.truncate(picked.len() - n);
    }
}
