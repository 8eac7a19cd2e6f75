//! What is remembered of choices between decisions, so that only what may be the best is scored again.
//!
//! A score depends on the state of its node and, through scarcity, on the whole fleet. [`Drift`] bounds how far scarcity
//! has fallen since, and so how good a state can have become at most. A decision scores states anew in the order of
//! these bounds and stops where the next is below the best score so far: it is the same decision as without. Of a state
//! that was never scored for a choice, what a smaller choice found there is a bound ([`kin`]): over the openb trace, with
//! its many rare choices, 44 % fewer states are scored.

mod bound;
mod front;
mod kin;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use crate::filter::Misfit;
use crate::inventory::Inventory;
use crate::request::Choice;
use crate::score::{Policy, Weights};
use crate::state::{StateKey, StateTable};
use crate::tie::Tie;
use crate::worth::{Drift, Worth};

use bound::{Bound, Scale};
use front::{Front, Open};
use kin::Ask;

/// Bounds that are kept at most, over all choices: 68 bytes each.
const MOST_BOUNDS: usize = 2_000_000;

/// Choices that are asked at most what they know of a state.
const MOST_KIN: usize = 32;

/// Who asks: everything that a score depends on beside the fleet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    pub(crate) choice: &'a Choice,
    pub(crate) fit: &'a [Option<Misfit>],
    pub(crate) policy: Policy,
    pub(crate) weights: Weights,
}

impl Asker<'_> {
    fn fingerprint(&self) -> u64 {
        let choice = self.choice;
        let mut hasher = DefaultHasher::new(); // only looked up, never walked
        (&choice.label, choice.count, choice.share_milli, choice.cpu_milli, choice.host_memory_mib).hash(&mut hasher);
        hasher.finish()
    }
}

/// The best score on a node in one state, and what can be said of all its candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outlook {
    /// The score.
    pub(crate) total: f64,
    /// What decides between the best candidate and others of its score.
    pub(crate) tie: Tie,
    /// The least of all candidates.
    pub(crate) least_tie: Tie,
    /// The most points that a candidate has beside those of fragmentation.
    pub(crate) other_points: f64,
    /// The least that a candidate costs the mix, part by part.
    pub(crate) lost: Worth,
}

impl Outlook {
    /// Of the candidates of both.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        let is_better = self.total.total_cmp(&other.total).then(other.tie.cmp(&self.tie)).is_ge();
        let best = if is_better { self } else { other };
        Self {
            least_tie: self.least_tie.min(other.least_tie),
            other_points: self.other_points.max(other.other_points),
            lost: self.lost.least(&other.lost),
            ..*best
        }
    }
}

/// Bounds of one asker.
#[derive(Debug)]
struct Ranking {
    fingerprint: u64,
    choice: Choice,
    fit: Vec<Option<Misfit>>,
    policy: Policy,
    weights: Weights,
    ask: Ask,
    /// See [`Rankings::family`].
    family: u64,
    /// See [`Rankings::kin`].
    kin: Vec<usize>,
    /// How many rankings had been made when these were found.
    kin_of: u64,
    /// By state.
    bounds: Vec<Bound>,
    epoch: u64,
    last_asked: u64,
}

/// Rankings of one fleet. A clone of the fleet starts without.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Rankings>);

#[derive(Debug, Default)]
struct Rankings {
    all: Vec<Ranking>,
    asked: u64,
    /// How many rankings were made so far.
    made: u64,
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Memory {
    /// Forgets everything: states have got other numbers.
    pub(crate) fn clear(&mut self) {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).all.clear();
    }

    /// The states with the best score, all alike in that and in what decides between equal scores; none where the choice fits nowhere.
    ///
    /// `score` says how a state is now. `None` when another thread is at it.
    pub(crate) fn best(
        &self,
        asker: Asker<'_>,
        inventory: &Inventory,
        states: &StateTable,
        now: &Drift,
        score: impl Fn(usize) -> Option<Outlook>,
    ) -> Option<Vec<usize>> {
        let mut rankings = self.0.try_lock().ok()?;
        let at = rankings.of(asker, inventory, states.len(), now.epoch);
        let mut bounds = std::mem::take(&mut rankings.all[at].bounds);
        let mut best = Front::new();
        let rescore = |state: StateKey, bound: &mut Bound, best: &mut Front| {
            let outlook = score(state.number);
            *bound = Bound::of(outlook.as_ref(), state.generation, now);
            if let Some(outlook) = outlook {
                best.add(state.number, &outlook);
            }
        };
        let scale = Scale::new(asker.weights.points_of_fragmentation(asker.choice), now);
        let mut open = Vec::with_capacity(states.len());
        for state in states.live() {
            let bound = &mut bounds[state.number];
            if !bound.is_of(state) {
                let Some(of_kin) = rankings.bound_of_kin(at, state) else {
                    rescore(state, bound, &mut best);
                    continue;
                };
                *bound = of_kin;
            }
            let most_points = bound.most_points(&scale);
            open.extend(most_points.map(|most_points| Open { most_points, tie: bound.tie, state }));
        }
        if let Some(first) = open.iter().max().filter(|first| best.may_be_joined_by(first)) {
            let state = first.state;
            rescore(state, &mut bounds[state.number], &mut best);
            open.retain(|open| open.state != state && best.may_be_joined_by(open));
        }
        let mut open = BinaryHeap::from(open);
        while let Some(Open { state, .. }) = open.pop().filter(|open| best.may_be_joined_by(open)) {
            rescore(state, &mut bounds[state.number], &mut best);
        }
        rankings.all[at].bounds = bounds;
        Some(best.states)
    }
}

impl Rankings {
    /// The ranking of an asker.
    fn of(&mut self, asker: Asker<'_>, inventory: &Inventory, states: usize, epoch: u64) -> usize {
        let fingerprint = asker.fingerprint();
        let is_this = |ranking: &Ranking| {
            let is_alike = ranking.fingerprint == fingerprint && ranking.choice == *asker.choice;
            is_alike && (ranking.policy, ranking.weights) == (asker.policy, asker.weights) && ranking.fit == asker.fit
        };
        let at = self.all.iter().position(is_this).unwrap_or_else(|| {
            while (self.all.len() + 1) * states > MOST_BOUNDS && !self.all.is_empty() {
                let oldest = (0..self.all.len()).min_by_key(|&at| self.all[at].last_asked).unwrap_or(0);
                self.all.swap_remove(oldest);
            }
            let ask = Ask::of(&asker, inventory);
            let family = self.family(&asker, &ask);
            self.made += 1;
            self.all.push(Ranking {
                fingerprint,
                choice: asker.choice.clone(),
                fit: asker.fit.to_vec(),
                policy: asker.policy,
                weights: asker.weights,
                ask,
                family,
                kin: Vec::new(),
                kin_of: 0,
                bounds: Vec::new(),
                epoch,
                last_asked: 0,
            });
            self.all.len() - 1
        });
        if self.all[at].kin_of != self.made {
            (self.all[at].kin, self.all[at].kin_of) = (self.kin(at), self.made);
        }
        self.asked += 1;
        let ranking = &mut self.all[at];
        ranking.last_asked = self.asked;
        if ranking.epoch != epoch {
            ranking.bounds.clear();
            ranking.epoch = epoch;
        }
        ranking.bounds.resize(states, Bound::UNKNOWN);
        at
    }

    /// What is known of a state by a choice that asks no more than that of a ranking.
    fn bound_of_kin(&self, at: usize, state: StateKey) -> Option<Bound> {
        let this = &self.all[at];
        let mut kin = this.kin.iter().map(|&other| &self.all[other]).filter(|other| other.epoch == this.epoch);
        kin.find_map(|other| this.ask.bound_from(&other.ask, other.bounds.get(state.number)?, state))
    }

    /// Rankings of choices that ask no more, the nearest first.
    fn kin(&self, at: usize) -> Vec<usize> {
        let this = &self.all[at];
        let is_kin = |&other: &usize| {
            other != at && self.all[other].family == this.family && this.ask.is_at_least(&self.all[other].ask)
        };
        let mut kin: Vec<usize> = (0..self.all.len()).filter(is_kin).collect();
        kin.sort_by_key(|&other| Reverse(self.all[other].ask.size()));
        kin.truncate(MOST_KIN);
        kin
    }

    /// The family of an asker: rankings that are judged alike and ask for the same but for amounts.
    fn family(&self, asker: &Asker<'_>, ask: &Ask) -> u64 {
        let is_judged_alike = |other: &&Ranking| (other.policy, other.weights) == (asker.policy, asker.weights);
        let relative = self.all.iter().filter(is_judged_alike).find(|other| other.ask.is_related(ask));
        relative.map_or(self.made, |relative| relative.family)
    }
}
