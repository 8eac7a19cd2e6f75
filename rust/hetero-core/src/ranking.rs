//! What is remembered of choices between decisions, so that only what changed is scored again.
//!
//! A score depends on the state of its node and, through scarcity, on the whole fleet. Scarcity moves little from one
//! decision to the next, and [`Drift`] bounds by how much. So every state keeps the score that it had, and when; a
//! decision scores only those states anew that may be the best for all that is known. It is the same decision as without.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use crate::filter::Misfit;
use crate::request::Choice;
use crate::score::{Policy, Weights};
use crate::worth::Drift;

/// Scores that are kept at most, over all choices: 24 bytes each.
const MOST_SCORES: usize = 4_000_000;

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

/// The best score on a node in one state, and what it leaves idle there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score {
    /// `-inf` where it does not fit.
    pub(crate) total: f64,
    pub(crate) idle_milli: u64,
    /// When it was so.
    drift: f64,
}

/// Scores of one asker.
#[derive(Debug)]
struct Ranking {
    fingerprint: u64,
    choice: Choice,
    fit: Vec<Option<Misfit>>,
    policy: Policy,
    weights: Weights,
    /// By state; NaN where it was never asked.
    scores: Vec<Score>,
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

    /// The states with the best score of `live`, all alike in score and idle share; none where the choice fits nowhere.
    ///
    /// `score` says what is so now: total and idle share of a state. `None` when another thread is at it.
    pub(crate) fn best(
        &self,
        asker: Asker<'_>,
        live: impl Iterator<Item = usize> + Clone,
        states: usize,
        now: Drift,
        score: impl Fn(usize) -> Option<(f64, u64)>,
    ) -> Option<Vec<usize>> {
        let mut rankings = self.0.try_lock().ok()?;
        let ranking = rankings.of(asker, states, now.epoch);
        let scored = |state: usize| match score(state) {
            Some((total, idle_milli)) => Score { total, idle_milli, drift: now.sum },
            None => Score { total: f64::NEG_INFINITY, idle_milli: 0, drift: now.sum },
        };
        let points = asker.weights.points_of_fragmentation();
        let mut surely = f64::NEG_INFINITY;
        for state in live.clone() {
            if ranking.scores[state].total.is_nan() {
                ranking.scores[state] = scored(state);
            }
            surely = surely.max(ranking.scores[state].total - ranking.scores[state].slack(points, now));
        }
        let mut best: Vec<usize> = Vec::new();
        if surely == f64::NEG_INFINITY {
            return Some(best);
        }
        let order = |a: Score, b: Score| b.total.total_cmp(&a.total).then(a.idle_milli.cmp(&b.idle_milli));
        for state in live {
            let here = &mut ranking.scores[state];
            if here.total + here.slack(points, now) < surely {
                continue;
            }
            if here.drift < now.sum {
                *here = scored(state);
            }
            let here = *here;
            let is_ahead = best.first().map_or(std::cmp::Ordering::Less, |&first| order(here, ranking.scores[first]));
            if is_ahead.is_lt() {
                best.clear();
            }
            if is_ahead.is_le() {
                best.push(state);
            }
        }
        Some(best)
    }
}

impl Score {
    /// Points by which it may have moved since.
    fn slack(&self, points: f64, now: Drift) -> f64 {
        points * now.most_of_value(self.drift)
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
            while (self.all.len() + 1) * states > MOST_SCORES && !self.all.is_empty() {
                let oldest = (0..self.all.len()).min_by_key(|&at| self.all[at].last_asked).unwrap_or(0);
                self.all.swap_remove(oldest);
            }
            self.all.push(Ranking {
                fingerprint,
                choice: asker.choice.clone(),
                fit: asker.fit.to_vec(),
                policy: asker.policy,
                weights: asker.weights,
                scores: Vec::new(),
                epoch,
                last_asked: 0,
            });
            self.all.len() - 1
        });
        self.asked += 1;
        let ranking = &mut self.all[at];
        ranking.last_asked = self.asked;
        if ranking.epoch != epoch {
            ranking.scores.clear();
            ranking.epoch = epoch;
        }
        ranking.scores.resize(states, Score { total: f64::NAN, idle_milli: 0, drift: 0.0 });
        ranking
    }
}
