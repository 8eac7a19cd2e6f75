//! The policy of hetero-core: as it is, where tasks end, with other weights, or with a mix that is learned.

use hetero_core::capacity::Capacity;
use hetero_core::hold::Hold;
use hetero_core::place::choose;
use hetero_core::request::Choice;
use hetero_core::score::Weights;
use hetero_core::{Fleet, Policy, Question, Request, Result};

use crate::learned::Learned;
use crate::occupancy::{Occupancy, Taken};
use crate::trace::Trace;
use crate::world::World;

/// One run of [`choose`].
pub(crate) struct Tenants {
    fleet: Fleet,
    requests: Vec<Request>,
    question: Question,
    learned: Option<Learned>,
}

impl Tenants {
    pub(crate) fn new(
        world: &World,
        trace: &Trace,
        seed: u64,
        weights: Option<Weights>,
        is_learned: bool,
    ) -> Result<Self> {
        let mut fleet = world.fleet.clone();
        let learned = is_learned.then(|| Learned::new(fleet.inventory(), trace));
        fleet.set_mix(learned.as_ref().map_or_else(|| trace.whole_mix(), Learned::mix))?;
        let weights = weights.unwrap_or(Policy::Aware.weights());
        let request = |choice: &Choice| Request {
            requirement: choice.label.clone(),
            team: None,
            priority: None,
            checkpoint: None,
            choices: vec![choice.clone()],
        };
        Ok(Self {
            fleet,
            requests: world.classes.iter().map(|class| request(&class.choice)).collect(),
            question: Question { seed, weights, ..Question::default() },
            learned,
        })
    }
}

impl Occupancy for Tenants {
    fn arrive(&mut self, class: usize) -> Result<()> {
        if let Some(learned) = &mut self.learned
            && learned.see(class)
        {
            self.fleet.set_mix(learned.mix())?;
        }
        Ok(())
    }

    fn start(&mut self, class: usize) -> Result<Option<Taken>> {
        let Some((choice, best)) = choose(&self.fleet, &self.requests[class], &self.question) else {
            return Ok(None);
        };
        let id = self.fleet.take_best(&choice, best, None)?;
        let hold = self.fleet.held(id)[0].clone();
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
