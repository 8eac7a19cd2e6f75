//! The least costly parties of one node whose end makes room there.

use crate::victims::bound::Opening;
use crate::victims::party::{Cost, Party};

/// Up to so many parties of one node every set that could be the least is tried.
pub(super) const MOST_TRIED: usize = 12;

/// The parties of one node that may end, with what each could bring.
pub(super) struct Table<'a, 'b> {
    parties: &'b [&'a Party],
    /// Suitable devices on this node that are not free enough now, and what it costs to open as many as are missing.
    opening: &'b Opening,
    /// Devices that must open.
    missing: usize,
    /// By party and by devices that must still open: the least that this party and those after it could cost.
    floors: Vec<Vec<Cost>>,
    /// Whether more that ends is never worse.
    is_monotone: bool,
}

/// A set of parties by their places in the table, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Least {
    pub(super) cost: Cost,
    pub(super) chosen: Vec<usize>,
}

/// What a set may cost at most.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub(super) cost: Cost,
    /// Whether as much is admitted.
    pub(super) is_included: bool,
}

impl Limit {
    pub(super) fn admits(self, cost: Cost) -> bool {
        cost < self.cost || (self.is_included && cost == self.cost)
    }
}

impl<'a, 'b> Table<'a, 'b> {
    /// A table of what may end on a node where so many devices are missing.
    pub(super) fn new(parties: &'b [&'a Party], opening: &'b Opening, missing: usize, is_monotone: bool) -> Self {
        let mut last = vec![Cost::BEYOND; missing + 1];
        last[0] = Cost::default();
        let mut floors = vec![last];
        for (party, &opened) in parties.iter().zip(&opening.opens).rev() {
            let after = &floors[floors.len() - 1];
            let with = |need: usize| party.cost.plus(after[need.saturating_sub(opened)]);
            floors.push((0..=missing).map(|need| after[need].min(with(need))).collect());
        }
        floors.reverse();
        Self { parties, opening, missing, floors, is_monotone }
    }

    /// No set that makes room costs less.
    fn bound(&self) -> Cost {
        let cheapest = self.parties.iter().map(|party| party.cost).min().unwrap_or(Cost::BEYOND);
        self.floors[0][self.missing].max(cheapest).max(self.opening.bound)
    }

    /// The least set within the limit for which `has_room` holds, of equal ones the first by places; and whether all sets
    /// that could cost less were tried.
    pub(super) fn least(&self, limit: Limit, has_room: &mut impl FnMut(&[&'a Party]) -> bool) -> (Option<Least>, bool) {
        let all: Vec<usize> = (0..self.parties.len()).collect();
        let few = self.parties.len() <= MOST_TRIED;
        let has_room = &mut |chosen: &[usize]| {
            let parties: Vec<&Party> = chosen.iter().map(|&at| self.parties[at]).collect();
            has_room(&parties)
        };
        let cover = self.opening.cover(self.parties);
        let covered = (!cover.is_empty() && has_room(&cover)).then(|| self.spare(cover, has_room));
        let is_proven = covered.as_ref().is_some_and(|covered| covered.cost == self.bound());
        let spared = (!is_proven && has_room(&all)).then(|| self.spare(all, has_room));
        let spared = covered.into_iter().chain(spared).min_by_key(|spared| spared.cost);
        if !few || (spared.is_none() && self.is_monotone) {
            let is_least = spared.as_ref().map_or(self.is_monotone, |spared| spared.cost == self.bound());
            return (spared.filter(|spared| limit.admits(spared.cost)), is_least);
        }
        let limit = match spared {
            Some(spared) if limit.admits(spared.cost) => Limit { cost: spared.cost, is_included: true },
            _ => limit,
        };
        let mut walk = Walk { table: self, limit, has_room, best: None, chosen: Vec::new() };
        walk.from(0, self.missing, Cost::default(), false);
        (walk.best, true)
    }

    /// Leaves out what is not needed, the dearest first.
    fn spare(&self, all: Vec<usize>, has_room: &mut impl FnMut(&[usize]) -> bool) -> Least {
        let mut dearest = all.clone();
        dearest.sort_by_key(|&at| std::cmp::Reverse((self.parties[at].cost, at)));
        let mut chosen = all;
        for at in dearest {
            let without: Vec<usize> = chosen.iter().copied().filter(|&other| other != at).collect();
            if !without.is_empty() && has_room(&without) {
                chosen = without;
            }
        }
        Least { cost: self.cost(&chosen), chosen }
    }

    fn cost(&self, chosen: &[usize]) -> Cost {
        chosen.iter().map(|&at| self.parties[at].cost).fold(Cost::default(), Cost::plus)
    }
}

/// A walk through all sets, those with the first party first: of equal cost, the first by places is met first.
struct Walk<'a, 'b, F> {
    table: &'b Table<'a, 'b>,
    limit: Limit,
    has_room: &'b mut F,
    best: Option<Least>,
    chosen: Vec<usize>,
}

impl<F: FnMut(&[usize]) -> bool> Walk<'_, '_, F> {
    fn from(&mut self, at: usize, need: usize, cost: Cost, is_new: bool) {
        if !self.limit.admits(cost.plus(self.table.floors[at][need])) {
            return;
        }
        if is_new && need == 0 && (self.has_room)(&self.chosen) {
            self.limit = Limit { cost, is_included: false };
            self.best = Some(Least { cost, chosen: self.chosen.clone() });
            return; // every party costs something, so more of them cost more
        }
        if at == self.table.parties.len() {
            return;
        }
        self.chosen.push(at);
        let with = cost.plus(self.table.parties[at].cost);
        self.from(at + 1, need.saturating_sub(self.table.opening.opens[at]), with, true);
        self.chosen.pop();
        if self.could_without(at) {
            self.from(at + 1, need, cost, false);
        }
    }

    /// Whether there could be room without a party, were all those after it to end.
    fn could_without(&mut self, at: usize) -> bool {
        if !self.table.is_monotone {
            return true;
        }
        let rest = at + 1..self.table.parties.len();
        let all: Vec<usize> = self.chosen.iter().copied().chain(rest).collect();
        (self.has_room)(&all)
    }
}
