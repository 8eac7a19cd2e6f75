//! What would be, were something given back: on a copy that answers for free capacity and nothing else.

use super::Fleet;
use crate::document::FleetDocument;
use crate::hold::Hold;
use crate::ranking::Memory;
use crate::state::StateTable;
use crate::units::NodeIdx;

impl Fleet {
    /// A copy to try on: it has the inventory and what is free, but neither states nor anything that is held.
    pub(crate) fn trial(&self) -> Self {
        Self {
            document: FleetDocument::default(),
            profiles: self.profiles.clone(),
            inventory: self.inventory.clone(),
            capacity: self.capacity.clone(),
            quotas: self.quotas.clone(),
            measured: self.measured.clone(),
            readings: self.readings.clone(),
            draws: self.draws.clone(),
            mix: self.mix.clone(),
            scarcity: self.scarcity.clone(),
            offers: Vec::new(),
            states: StateTable::default(),
            memory: Memory::default(),
            digest: 0,
            holds: indexmap::IndexMap::new(),
            next_hold: self.next_hold,
        }
    }

    /// Asks as if a hold were taken; afterwards all is as it was. `None` where there is less.
    pub(crate) fn with_taken<T>(&mut self, hold: &Hold, ask: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let start = self.capacity.checkpoint();
        self.capacity.take(hold).ok()?;
        self.quotas.take(hold, &self.inventory);
        self.draws.update(&self.inventory, &self.capacity.free_milli, &self.readings, hold.node);
        let answer = ask(self);
        self.capacity.rollback(start);
        self.quotas.give(hold, &self.inventory);
        self.draws.update(&self.inventory, &self.capacity.free_milli, &self.readings, hold.node);
        Some(answer)
    }

    /// Asks as if holds on a node were given back; afterwards all is as it was.
    pub(crate) fn with_given<T>(&mut self, node: NodeIdx, holds: &[Hold], ask: impl FnOnce(&Self) -> T) -> T {
        let start = self.capacity.checkpoint();
        for hold in holds {
            self.capacity.give(hold).expect("what the document says is in use was taken");
        }
        self.draws.update(&self.inventory, &self.capacity.free_milli, &self.readings, node);
        let answer = ask(self);
        self.capacity.rollback(start);
        self.draws.update(&self.inventory, &self.capacity.free_milli, &self.readings, node);
        answer
    }
}
