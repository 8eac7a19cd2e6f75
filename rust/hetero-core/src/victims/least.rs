//! The least costly parties whose end makes room, out of those that could help.

use crate::victims::party::{Cost, Party};

/// Up to so many parties of one place every set that could be the least is tried.
pub(super) const MOST_TRIED: usize = 12;

/// The parties that may end, with what each could bring.
pub(super) struct Table<'a, 'b> {
    parties: &'b [&'a Party],
    /// Devices, or nodes, that each party could help to open.
    opens: &'b [usize],
    /// Devices, or nodes, that must open.
    missing: usize,
    /// No set that makes room costs less.
    bound: Cost,
    /// By party and by what must still open: the least that this party and those after it could cost.
    floors: Vec<Vec<Cost>>,
    /// Whether more that ends is never worse.
    is_monotone: bool,
}

/// How many questions a search may ask.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// To leave out what is not needed where more that ends may be worse; where they do not suffice, nothing is found.
    pub(super) sparing: usize,
    /// To walk through the sets that could cost less than what was found.
    pub(super) walking: usize,
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
    /// A table of what may end where so much is missing; `bound` is what is known of the least cost besides.
    pub(super) fn new(
        parties: &'b [&'a Party],
        (opens, missing): (&'b [usize], usize),
        bound: Cost,
        is_monotone: bool,
    ) -> Self {
        let mut last = vec![Cost::BEYOND; missing + 1];
        last[0] = Cost::default();
        let mut floors = vec![last];
        for (party, &opened) in parties.iter().zip(opens).rev() {
            let after = &floors[floors.len() - 1];
            let with = |need: usize| party.cost.plus(after[need.saturating_sub(opened)]);
            floors.push((0..=missing).map(|need| after[need].min(with(need))).collect());
        }
        floors.reverse();
        let cheapest = parties.iter().map(|party| party.cost).min().unwrap_or(Cost::BEYOND);
        let bound = floors[0][missing].max(cheapest).max(bound);
        Self { parties, opens, missing, bound, floors, is_monotone }
    }

    /// No set that makes room costs less.
    pub(super) fn bound(&self) -> Cost {
        self.bound
    }

    /// The least set within the limit for which `has_room` holds, of equal ones the first by places; and whether all sets
    /// that could cost less were ruled out.
    ///
    /// `first` may make room: it is tried, and unless it is proven to be the least, so are all parties. Then the sets that could cost
    /// less are walked through; what was found before stands where the questions do not suffice for that.
    pub(super) fn least(
        &self,
        first: Vec<usize>,
        effort: Effort,
        limit: Limit,
        has_room: &mut impl FnMut(&[&'a Party]) -> bool,
    ) -> (Option<Least>, bool) {
        let all: Vec<usize> = (0..self.parties.len()).collect();
        let has_room = &mut |chosen: &[usize]| {
            let parties: Vec<&Party> = chosen.iter().map(|&at| self.parties[at]).collect();
            !chosen.is_empty() && has_room(&parties)
        };
        let mut spare = |from| self.spare(from, effort.sparing, has_room);
        let covered = spare(first);
        let is_proven = covered.as_ref().is_some_and(|covered| covered.cost == self.bound);
        // Where each question is dear, all of many are only tried where nothing else is known.
        let is_dear = !self.is_monotone && covered.is_some() && self.parties.len() > MOST_TRIED;
        let spared = if is_proven || is_dear { None } else { spare(all) };
        let spared = covered.into_iter().chain(spared).min_by_key(|spared| spared.cost);
        let is_settled = is_proven && self.parties.len() > MOST_TRIED; // of many, which equal one comes first is not asked
        if effort.walking == 0 || is_settled || (spared.is_none() && self.is_monotone) {
            let is_least = spared.as_ref().map_or(self.is_monotone, |spared| spared.cost == self.bound);
            return (spared.filter(|spared| limit.admits(spared.cost)), is_least);
        }
        let within = match &spared {
            Some(spared) if limit.admits(spared.cost) => Limit { cost: spared.cost, is_included: true },
            _ => limit,
        };
        let mut walk =
            Walk { table: self, limit: within, has_room, left: effort.walking, best: None, chosen: Vec::new() };
        walk.from(0, self.missing, Cost::default(), false);
        let Walk { left, best, .. } = walk;
        let met = if left > 0 { best } else { best.and_then(|best| self.spare(best.chosen, effort.sparing, has_room)) };
        let met = met.or(spared.filter(|spared| limit.admits(spared.cost)));
        let is_least = left > 0 || met.as_ref().is_some_and(|met| met.cost == self.bound);
        (met, is_least)
    }

    /// Leaves out what is not needed, the dearest first; `None` where these make no room, or it takes too many questions.
    fn spare(&self, from: Vec<usize>, most_asked: usize, has_room: &mut impl FnMut(&[usize]) -> bool) -> Option<Least> {
        if !has_room(&from) {
            return None;
        }
        let mut left = if self.is_monotone { usize::MAX } else { most_asked };
        let mut asked = |mut chosen: Vec<usize>| {
            chosen.sort_unstable();
            left = left.checked_sub(1)?;
            Some(has_room(&chosen))
        };
        let mut rest = from;
        rest.sort_by_key(|&at| (self.parties[at].cost, at));
        let mut chosen = needed(rest.clone(), &mut asked)?;
        if !self.is_monotone {
            // What made room before some were left out need not do so after.
            let is_enough = asked(chosen.clone())?;
            chosen = one_by_one(if is_enough { chosen } else { rest }, &mut asked)?;
        }
        chosen.sort_unstable();
        Some(Least { cost: self.cost(&chosen), chosen })
    }

    fn cost(&self, chosen: &[usize]) -> Cost {
        chosen.iter().map(|&at| self.parties[at].cost).fold(Cost::default(), Cost::plus)
    }
}

/// What stays of a set that makes room when the last is left out again and again: each that stays is the last of the
/// fewest first ones that make room with those after it.
fn needed(mut rest: Vec<usize>, has_room: &mut impl FnMut(Vec<usize>) -> Option<bool>) -> Option<Vec<usize>> {
    let mut kept = Vec::new();
    loop {
        let (mut short, mut enough) = (0, rest.len());
        while short < enough {
            let middle = short + (enough - short) / 2;
            let is_enough = has_room(rest[..middle].iter().chain(&kept).copied().collect())?;
            if is_enough { enough = middle } else { short = middle + 1 }
        }
        rest.truncate(enough);
        let Some(last) = rest.pop() else { return Some(kept) };
        kept.push(last);
    }
}

/// The same where more that ends may be worse: until none can be left out alone.
fn one_by_one(mut rest: Vec<usize>, has_room: &mut impl FnMut(Vec<usize>) -> Option<bool>) -> Option<Vec<usize>> {
    let mut at = rest.len();
    while at > 0 {
        at -= 1;
        let mut without = rest.clone();
        without.remove(at);
        if has_room(without.clone())? {
            (at, rest) = (without.len(), without);
        }
    }
    Some(rest)
}

/// A walk through all sets, those with the first party first: of equal cost, the first by places is met first.
struct Walk<'a, 'b, F> {
    table: &'b Table<'a, 'b>,
    limit: Limit,
    has_room: &'b mut F,
    /// Questions that may still be asked.
    left: usize,
    best: Option<Least>,
    chosen: Vec<usize>,
}

impl<F: FnMut(&[usize]) -> bool> Walk<'_, '_, F> {
    fn from(&mut self, at: usize, need: usize, cost: Cost, is_new: bool) {
        if self.left == 0 || !self.limit.admits(cost.plus(self.table.floors[at][need])) {
            return;
        }
        if is_new && need == 0 && self.is_enough() {
            self.limit = Limit { cost, is_included: false };
            self.best = Some(Least { cost, chosen: self.chosen.clone() });
            return; // every party costs something, so more of them cost more
        }
        if at == self.table.parties.len() {
            return;
        }
        self.chosen.push(at);
        let with = cost.plus(self.table.parties[at].cost);
        self.from(at + 1, need.saturating_sub(self.table.opens[at]), with, true);
        self.chosen.pop();
        if self.could_without(at) {
            self.from(at + 1, need, cost, false);
        }
    }

    fn is_enough(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        (self.has_room)(&self.chosen)
    }

    /// Whether there could be room without a party, were all those after it to end.
    fn could_without(&mut self, at: usize) -> bool {
        if !self.table.is_monotone {
            return true;
        }
        let rest = at + 1..self.table.parties.len();
        let all: Vec<usize> = self.chosen.iter().copied().chain(rest).collect();
        self.left = self.left.saturating_sub(1);
        (self.has_room)(&all)
    }
}
