//! What is remembered of choices between decisions, so that only what may be the best is scored again.
//!
//! A score depends on the state of its node and, through scarcity, on the whole fleet. [`Drift`] bounds how far scarcity
//! has fallen since, and so how good a state can have become at most. A decision scores states anew in the order of
//! these bounds and stops where the next is below the best score so far: it is the same decision as without.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use crate::filter::Misfit;
use crate::request::Choice;
use crate::score::{Policy, Weights, fragmentation};
use crate::state::{StateKey, StateTable};
use crate::tie::Tie;
use crate::worth::{Drift, PARTS, Worth};

/// Bounds that are kept at most, over all choices: 56 bytes each.
const MOST_BOUNDS: usize = 2_000_000;
/// Points by which rounding may misjudge a bound.
const ROUNDING_POINTS: f64 = 1e-3;
/// Parts of a loss that are added side by side.
const LANES: usize = 4;

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
        let (other_points, lost) = (self.other_points.max(other.other_points), self.lost.least(&other.lost));
        Self { other_points, lost, ..*best }
    }
}

/// How good a state can be at most.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// NaN where the state was never scored, `-inf` where the choice does not fit.
    other_points: f32,
    /// Whose it is, of the states that have its number.
    generation: u32,
    /// What was lost, each part divided by how far its factors had fallen.
    lost: [f32; PARTS],
}

impl Bound {
    const UNKNOWN: Self = Self { other_points: f32::NAN, generation: 0, lost: [0.0; PARTS] };

    #[allow(clippy::cast_possible_truncation)] // the bound is wider than what is cut off
    fn of(outlook: Option<&Outlook>, generation: u32, now: &Drift) -> Self {
        let Some(outlook) = outlook else {
            return Self { other_points: f32::NEG_INFINITY, generation, ..Self::UNKNOWN };
        };
        let lost = |part: usize| (outlook.lost.0[part] as f64 / now.low[part]) as f32;
        Self { other_points: outlook.other_points as f32, generation, lost: std::array::from_fn(lost) }
    }

    fn most_points(&self, points_of_fragmentation: f64, low: &[f32; PARTS]) -> f64 {
        let mut lanes = [0.0f32; LANES]; // side by side: one after the other, floats may not be added in another order
        for part in 0..PARTS {
            lanes[part % LANES] += self.lost[part] * low[part];
        }
        let lost: f32 = lanes.iter().sum();
        let value = fragmentation::value(f64::from(lost));
        f64::from(self.other_points) + points_of_fragmentation * value + ROUNDING_POINTS
    }
}

/// A state that may be the best.
#[derive(Clone, Copy, Debug)]
struct Open {
    most_points: f64,
    state: StateKey,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.most_points.total_cmp(&other.most_points)
    }
}

/// The best states so far, all alike in score and in what decides between equal scores.
#[derive(Debug)]
struct Front {
    total: f64,
    tie: Tie,
    states: Vec<usize>,
}

impl Front {
    fn new() -> Self {
        Self { total: f64::NEG_INFINITY, tie: Tie::default(), states: Vec::new() }
    }

    fn add(&mut self, state: usize, outlook: &Outlook) {
        let order = self.total.total_cmp(&outlook.total).then(outlook.tie.cmp(&self.tie));
        if order.is_lt() {
            *self = Self { total: outlook.total, tie: outlook.tie, states: Vec::new() };
        }
        if order.is_le() {
            self.states.push(state);
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
        states: &StateTable,
        now: &Drift,
        score: impl Fn(usize) -> Option<Outlook>,
    ) -> Option<Vec<usize>> {
        let mut rankings = self.0.try_lock().ok()?;
        let bounds = &mut rankings.of(asker, states.len(), now.epoch).bounds;
        let mut best = Front::new();
        let rescore = |state: StateKey, bound: &mut Bound, best: &mut Front| {
            let outlook = score(state.number);
            *bound = Bound::of(outlook.as_ref(), state.generation, now);
            if let Some(outlook) = outlook {
                best.add(state.number, &outlook);
            }
        };
        let points = asker.weights.points_of_fragmentation(asker.choice);
        #[allow(clippy::cast_possible_truncation)] // the bound is wider than what is cut off
        let low = now.low.map(|low| low as f32);
        let mut open = Vec::new();
        for state in states.live() {
            let bound = &mut bounds[state.number];
            let most_points = bound.most_points(points, &low);
            if most_points.is_nan() || bound.generation != state.generation {
                rescore(state, bound, &mut best);
            } else if most_points >= best.total.max(0.0) {
                open.push(Open { most_points, state });
            }
        }
        let mut open = BinaryHeap::from(open);
        while let Some(Open { state, .. }) = open.pop().filter(|open| open.most_points >= best.total) {
            rescore(state, &mut bounds[state.number], &mut best);
        }
        Some(best.states)
    }
}

impl Rankings {
    fn of(&mut self, asker: Asker<'_>, states: usize, epoch: u64) -> &mut Ranking {
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
            self.all.push(Ranking {
                fingerprint,
                choice: asker.choice.clone(),
                fit: asker.fit.to_vec(),
                policy: asker.policy,
                weights: asker.weights,
                bounds: Vec::new(),
                epoch,
                last_asked: 0,
            });
            self.all.len() - 1
        });
        self.asked += 1;
        let ranking = &mut self.all[at];
        ranking.last_asked = self.asked;
        if ranking.epoch != epoch {
            ranking.bounds.clear();
            ranking.epoch = epoch;
        }
        ranking.bounds.resize(states, Bound::UNKNOWN);
        ranking
    }
}
