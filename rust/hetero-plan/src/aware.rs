//! The policy of hetero-core, as `place` decides.

use hetero_core::capacity::Capacity;
use hetero_core::place::choose;
use hetero_core::{Fleet, Question, Request, Result};

use crate::run::Placer;
use crate::trace::Trace;
use crate::world::World;

/// One run of [`choose`].
pub(crate) struct Aware {
    fleet: Fleet,
    requests: Vec<Request>,
    question: Question,
}

impl Aware {
    pub(crate) fn new(world: &World, trace: &Trace, seed: u64) -> Result<Self> {
        let mut fleet = world.fleet.clone();
        fleet.set_mix(trace.whole_mix())?;
        let request = |choice: &hetero_core::request::Choice| Request {
            requirement: choice.label.clone(),
            team: None,
            priority: None,
            choices: vec![choice.clone()],
        };
        Ok(Self {
            fleet,
            requests: world.classes.iter().map(|class| request(&class.choice)).collect(),
            question: Question { seed, ..Question::default() },
        })
    }
}

impl Placer for Aware {
    fn place(&mut self, class: usize) -> Result<bool> {
        let Some((choice, best)) = choose(&self.fleet, &self.requests[class], &self.question) else {
            return Ok(false);
        };
        self.fleet.take_best(&choice, best, None).map(|_| true)
    }

    fn capacity(&self) -> &Capacity {
        self.fleet.capacity()
    }
}
