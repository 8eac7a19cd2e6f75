//! Tasks that end: what a policy started can be given back, and capacity can be kept for a task that waits.

use hetero_core::Result;
use hetero_core::capacity::Capacity;
use hetero_core::hold::{Hold, HoldId};

/// What was taken, to be given back as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// What and where.
    pub(crate) hold: Hold,
    /// The class of the task; `None` for capacity that is only kept.
    pub(crate) class: Option<usize>,
    /// Its name in the fleet, for policies that place on one.
    pub(crate) id: Option<HoldId>,
}

/// A policy at work on a fleet where tasks come and go.
pub(crate) trait Occupancy {
    /// A task of a class comes, and will be tried.
    fn arrive(&mut self, _class: usize) -> Result<()> {
        Ok(())
    }

    /// Starts a task of a class where the policy wants it; `None` when it fits nowhere now.
    fn start(&mut self, class: usize) -> Result<Option<Taken>>;

    /// Places a task of a class that comes now, for good; false when it fits nowhere now.
    fn place(&mut self, class: usize) -> Result<bool> {
        self.arrive(class)?;
        self.start(class).map(|taken| taken.is_some())
    }

    /// Takes capacity that is free, for a task of a class or to keep it.
    fn take(&mut self, class: Option<usize>, hold: Hold) -> Result<Taken>;

    /// Gives back what was taken.
    fn give(&mut self, taken: Taken) -> Result<()>;

    /// What is free.
    fn capacity(&self) -> &Capacity;
}
