//! When to stop: the time limit, a person's interrupt.

use std::time::Duration;

use crate::watch::Watch;

/// What every loop of a solver asks.
pub struct Control<'a> {
    /// A clock that never goes back; it stood at 0 when planning began.
    pub now: &'a (dyn Fn() -> Duration + Sync),
    /// Who may stop it.
    pub watch: &'a Watch,
}

impl Control<'_> {
    /// Whether a person asked for what there is.
    pub(crate) fn is_stopped(&self) -> bool {
        self.watch.check().is_err()
    }

    /// Whether the best so far is to be taken.
    pub(crate) fn is_over(&self, deadline: Duration) -> bool {
        self.is_stopped() || (self.now)() >= deadline
    }
}
