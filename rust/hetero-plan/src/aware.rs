//! The policy of hetero-core, as `place` answers and `commit` takes.

use hetero_core::capacity::Capacity;
use hetero_core::{Decision, Fleet, Question, Request, Result, place};

use crate::run::Placer;
use crate::world::World;

/// One run of [`hetero_core::place`].
pub(crate) struct Aware {
    fleet: Fleet,
    requests: Vec<Request>,
    question: Question,
}

impl Aware {
    pub(crate) fn new(world: &World, seed: u64) -> Self {
        let request = |choice: &hetero_core::request::Choice| Request {
            requirement: choice.label.clone(),
            team: None,
            choices: vec![choice.clone()],
        };
        Self {
            fleet: world.fleet.clone(),
            requests: world.classes.iter().map(|class| request(&class.choice)).collect(),
            question: Question { seed, ..Question::default() },
        }
    }
}

impl Placer for Aware {
    fn place(&mut self, class: usize) -> Result<bool> {
        match place(&self.fleet, &self.requests[class], &self.question)? {
            Decision::Placement(placement) => self.fleet.commit(&placement).map(|_| true),
            Decision::NoFit(_) => Ok(false),
        }
    }

    fn capacity(&self) -> &Capacity {
        self.fleet.capacity()
    }
}
