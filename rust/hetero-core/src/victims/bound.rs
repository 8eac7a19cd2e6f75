//! What it costs at least to open devices, device by device: tells most nodes apart without trying a set.

use crate::victims::party::Cost;

/// Up to so many parties of one device with unequal shares every set of them is weighed.
const MOST_WEIGHED: usize = 6;

/// The cheapest devices to open.
#[derive(Debug)]
pub(super) struct Opening {
    /// What is held of devices that can be opened, by device and party.
    pub(super) held: Vec<Held>,
    /// The cheapest that are missing: what each costs at least, and its place among the devices that can be opened.
    cheapest: Vec<(Cost, usize)>,
    /// Devices that each party could help to open.
    pub(super) opens: Vec<usize>,
    /// No set of parties that opens so many devices costs less.
    pub(super) bound: Cost,
}

/// A device that is not free enough, as far as parties hold it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// The device.
    pub(super) at: usize,
    /// The place of the party among those of the node.
    pub(super) place: usize,
    pub(super) milli: u64,
    /// What must come free of the device.
    pub(super) need_milli: u64,
}

impl Opening {
    /// `None` where fewer than `missing` devices can be opened; `costs` are those of the parties.
    ///
    /// The cost of a party counts in equal parts, rounded down, for each device that it could help to open: so the parts
    /// of a set add up to at most what it costs.
    pub(super) fn of(costs: &[Cost], mut held: Vec<Held>, missing: usize) -> Option<Self> {
        held.sort_unstable_by_key(|held| (held.at, held.place));
        held.dedup_by(|next, first| {
            let is_same = (next.at, next.place) == (first.at, first.place);
            first.milli += if is_same { next.milli } else { 0 };
            is_same
        });
        let (mut opens, mut kept) = (vec![0; costs.len()], Vec::with_capacity(held.len()));
        for of_one in held.chunk_by(is_of_one) {
            if of_one.iter().map(|held| held.milli).sum::<u64>() >= of_one[0].need_milli {
                for held in of_one {
                    opens[held.place] += 1;
                }
                kept.extend_from_slice(of_one);
            }
        }
        let devices = kept.chunk_by(is_of_one).enumerate();
        let mut cheapest: Vec<(Cost, usize)> =
            devices.map(|(device, held)| (cheapest_parts(costs, &opens, held, |_| ()), device)).collect();
        if cheapest.len() < missing {
            return None;
        }
        cheapest.sort_unstable();
        cheapest.truncate(missing);
        let bound = cheapest.iter().map(|(cost, _)| *cost).fold(Cost::default(), Cost::plus);
        Some(Self { held: kept, cheapest, opens, bound })
    }

    /// Parties that open the missing devices, each once, in their order.
    pub(super) fn cover(&self, costs: &[Cost]) -> Vec<usize> {
        let devices: Vec<&[Held]> = self.held.chunk_by(is_of_one).collect();
        let mut cover = Vec::new();
        for &(_, device) in &self.cheapest {
            cheapest_parts(costs, &self.opens, devices[device], |place| cover.push(place));
        }
        cover.sort_unstable();
        cover.dedup();
        cover
    }
}

fn is_of_one(one: &Held, other: &Held) -> bool {
    one.at == other.at
}

/// A bound of what it costs to open a device; `take` is told of parties that do so: the cheapest, or all where there are
/// many.
fn cheapest_parts(costs: &[Cost], opens: &[usize], held: &[Held], mut take: impl FnMut(usize)) -> Cost {
    let part = |held: &Held| costs[held.place].part_of(opens[held.place]);
    if let [only] = held {
        take(only.place);
        return part(only);
    }
    let (first, need_milli) = (held[0].milli, held[0].need_milli);
    if held.iter().all(|held| held.milli == first) {
        let mut each: Vec<(Cost, usize)> = held.iter().map(|held| (part(held), held.place)).collect();
        each.sort_unstable();
        each.truncate(usize::try_from(need_milli.div_ceil(first.max(1))).unwrap_or(usize::MAX));
        for &(_, place) in &each {
            take(place);
        }
        return each.iter().map(|(cost, _)| *cost).fold(Cost::default(), Cost::plus);
    }
    if held.len() > MOST_WEIGHED {
        for held in held {
            take(held.place);
        }
        return held.iter().map(part).min().unwrap_or_default();
    }
    let those = |set: u32| held.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1).map(|(_, held)| held);
    let enough = (1..1u32 << held.len()).filter(|&set| those(set).map(|held| held.milli).sum::<u64>() >= need_milli);
    let weighed = enough.map(|set| (those(set).map(part).fold(Cost::default(), Cost::plus), set));
    let (cost, set) = weighed.min().unwrap_or_default();
    those(set).for_each(|held| take(held.place));
    cost
}
