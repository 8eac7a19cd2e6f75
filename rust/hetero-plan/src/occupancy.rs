//! Tasks that end: what a policy started can be given back, and capacity can be kept for a task that waits.

use hetero_core::capacity::Capacity;
use hetero_core::hold::{Hold, HoldId};
use hetero_core::place::choose;
use hetero_core::request::Choice;
use hetero_core::{Fleet, Question, Request, Result};

use crate::trace::Trace;
use crate::world::World;

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
    /// Starts a task of a class where the policy wants it; `None` when it fits nowhere now.
    fn start(&mut self, class: usize) -> Result<Option<Taken>>;

    /// Takes capacity that is free, for a task of a class or to keep it.
    fn take(&mut self, class: Option<usize>, hold: Hold) -> Result<Taken>;

    /// Gives back what was taken.
    fn give(&mut self, taken: Taken) -> Result<()>;

    /// What is free.
    fn capacity(&self) -> &Capacity;
}

/// The policy of hetero-core, as `place` decides.
pub(crate) struct Tenants {
    fleet: Fleet,
    requests: Vec<Request>,
    question: Question,
}

impl Tenants {
    pub(crate) fn new(world: &World, trace: &Trace, seed: u64) -> Result<Self> {
        let mut fleet = world.fleet.clone();
        fleet.set_mix(trace.whole_mix())?;
        let question = Question { seed, ..Question::default() };
        Ok(Self { fleet, requests: world.classes.iter().map(|class| request(&class.choice)).collect(), question })
    }
}

fn request(choice: &Choice) -> Request {
    Request { requirement: choice.label.clone(), team: None, choices: vec![choice.clone()] }
}

impl Occupancy for Tenants {
    fn start(&mut self, class: usize) -> Result<Option<Taken>> {
        let Some((choice, best)) = choose(&self.fleet, &self.requests[class], &self.question) else {
            return Ok(None);
        };
        let id = self.fleet.take_best(&choice, best, None)?;
        let hold = self.fleet.held(id).expect("just taken").clone();
        Ok(Some(Taken { hold, class: Some(class), id: Some(id) }))
    }

    fn take(&mut self, class: Option<usize>, hold: Hold) -> Result<Taken> {
        let id = self.fleet.take_hold(hold.clone())?;
        Ok(Taken { hold, class, id: Some(id) })
    }

    fn give(&mut self, taken: Taken) -> Result<()> {
        self.fleet.release(taken.id.expect("taken from a fleet"))
    }

    fn capacity(&self) -> &Capacity {
        self.fleet.capacity()
    }
}
