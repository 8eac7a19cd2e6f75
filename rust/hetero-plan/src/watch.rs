//! What an onlooker of a long replay may do: see how far it is, and stop it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hetero_core::{Error, Result};

/// Shared by the threads of a replay and who waits for it. Whatever it says changes no result.
#[derive(Debug, Default)]
pub struct Watch {
    decided: AtomicU64,
    expected: AtomicU64,
    is_stopped: AtomicBool,
}

impl Watch {
    /// Makes the replay end with [`Error::Interrupted`] before its next decision.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Decisions taken so far, of how many in all; 0 of 0 while it is not yet known.
    pub fn progress(&self) -> (u64, u64) {
        (self.decided.load(Ordering::Relaxed), self.expected.load(Ordering::Relaxed))
    }

    /// So many decisions are to come.
    pub(crate) fn expect(&self, decisions: usize) {
        self.expected.fetch_add(decisions as u64, Ordering::Relaxed);
    }

    /// One decision less to come.
    pub(crate) fn tick(&self) -> Result<()> {
        self.decided.fetch_add(1, Ordering::Relaxed);
        self.check()
    }

    /// Goes on, unless stopped.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_stopped.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}
