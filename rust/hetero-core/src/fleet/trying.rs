//! What would be, were something given back: on a copy that answers for free capacity and nothing else.

use std::collections::BTreeSet;

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
            pools: self.pools.clone(),
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
        self.pools.take(hold, &self.inventory);
        self.draws.update(&self.inventory, &self.capacity.free_milli, &self.readings, hold.node);
        let answer = ask(self);
        self.capacity.rollback(start);
        self.quotas.give(hold, &self.inventory);
        self.pools.give(hold, &self.inventory);
        self.draws.update(&self.inventory, &self.capacity.free_milli, &self.readings, hold.node);
        Some(answer)
    }

    /// A copy to try on that also knows states, which follow what is given back.
    pub(crate) fn trial_with_states(&self) -> Self {
        Self { states: self.states.clone(), ..self.trial() }
    }

    /// Asks as if holds were given back; afterwards all is as it was.
    pub(crate) fn with_given<T>(&mut self, holds: &[Hold], ask: impl FnOnce(&mut Self) -> T) -> T {
        let start = self.capacity.checkpoint();
        for hold in holds {
            self.capacity.give(hold).expect("what the document says is in use was taken");
        }
        let nodes: BTreeSet<NodeIdx> = holds.iter().map(|hold| hold.node).collect();
        self.follow(&nodes);
        let answer = ask(self);
        self.capacity.rollback(start);
        self.follow(&nodes);
        answer
    }

    /// Counts what nodes draw anew, and their states where they are known.
    fn follow(&mut self, nodes: &BTreeSet<NodeIdx>) {
        for &node in nodes {
            self.draws.update(&self.inventory, &self.capacity.free_milli, &self.readings, node);
        }
        if !self.states.is_empty() {
            let near: BTreeSet<NodeIdx> = nodes.iter().flat_map(|&node| self.in_rack(node)).collect();
            for node in near {
                self.update_state(node);
            }
        }
    }
}
