//! States in the order in which they are scored, and the best of them so far.

use std::cmp::Ordering;

use crate::ranking::Outlook;
use crate::state::StateKey;
use crate::tie::Tie;

/// A state that may be the best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) most_points: f64,
    pub(super) tie: Tie,
    pub(super) state: StateKey,
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
        self.most_points.total_cmp(&other.most_points).then(other.tie.cmp(&self.tie))
    }
}

/// The best states so far, all alike in score and in what decides between equal scores.
#[derive(Debug)]
pub(super) struct Front {
    pub(super) total: f64,
    tie: Tie,
    pub(super) states: Vec<usize>,
}

impl Front {
    pub(super) fn new() -> Self {
        Self { total: f64::NEG_INFINITY, tie: Tie::default(), states: Vec::new() }
    }

    /// Whether a state may be as good, or better.
    pub(super) fn may_be_joined_by(&self, open: &Open) -> bool {
        let order = self.total.total_cmp(&open.most_points).then(open.tie.cmp(&self.tie));
        order.is_le()
    }

    pub(super) fn add(&mut self, state: usize, outlook: &Outlook) {
        let order = self.total.total_cmp(&outlook.total).then(outlook.tie.cmp(&self.tie));
        if order.is_lt() {
            *self = Self { total: outlook.total, tie: outlook.tie, states: Vec::new() };
        }
        if order.is_le() {
            self.states.push(state);
        }
    }
}
