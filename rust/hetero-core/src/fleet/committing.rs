//! Capacity taken and given back.

use super::Fleet;
use crate::decision::{Grant, GroupGrant, Placement};
use crate::error::{Error, Result};
use crate::hold::{Hold, HoldId};
use crate::place::Best;
use crate::request::Choice;
use crate::units::NodeIdx;

impl Fleet {
    /// Takes the capacity of a placement, of all its nodes or of none. Refused when a device it names changed since.
    ///
    /// A device that the placement says is to be cut is cut.
    pub fn commit(&mut self, placement: &Placement) -> Result<HoldId> {
        if let Some(cut) = &placement.cut {
            return self.commit_cut(placement, cut);
        }
        self.take_next(self.holds_for(placement)?)
    }

    /// What a placement would take, node by node. Refused as a commit is; a device that has to be cut first is not there.
    pub(super) fn holds_for(&self, placement: &Placement) -> Result<Vec<Hold>> {
        let holds: Vec<Hold> = if placement.groups.is_empty() {
            placement.nodes.iter().map(|name| self.hold_on(placement, name)).collect::<Result<_>>()?
        } else {
            placement.groups.iter().map(|group| self.hold_of(placement, group)).collect::<Result<_>>()?
        };
        let granted: usize = holds.iter().map(|hold| hold.devices.len()).sum();
        if holds.is_empty() || granted != placement.devices.len() {
            return Err(Error::StalePlacement {
                what: "a device of a node that the placement does not list".to_owned(),
            });
        }
        Ok(holds)
    }

    /// What a placement takes on one of its nodes.
    fn hold_on(&self, placement: &Placement, name: &str) -> Result<Hold> {
        let (node, devices) = self.free_still(placement, name, placement.devices.iter().filter(|d| d.node == name))?;
        let (share_milli, share_memory_mib) = (placement.share_milli(), placement.share_memory_mib);
        let (cpu_milli, memory_mib) = (placement.cpu_milli, placement.memory_mib);
        let (bound, team) = (placement.bound, placement.team.clone());
        let pool = self.pool_named(node, placement.pool.as_ref());
        Ok(Hold { node, devices, share_milli, share_memory_mib, bound, cpu_milli, memory_mib, team, pool })
    }

    /// What one group of a placement takes.
    fn hold_of(&self, placement: &Placement, group: &GroupGrant) -> Result<Hold> {
        let (node, devices) = self.free_still(placement, &group.node, group.devices.iter())?;
        let share_milli = group.devices.first().map_or(0, |grant| grant.share_milli);
        let (cpu_milli, memory_mib, share_memory_mib) = (group.cpu_milli, group.memory_mib, group.share_memory_mib);
        let (bound, team) = (group.bound, placement.team.clone());
        let pool = self.pool_named(node, group.pool.as_ref());
        Ok(Hold { node, devices, share_milli, share_memory_mib, bound, cpu_milli, memory_mib, team, pool })
    }

    /// The pool of this name in the cluster of a node.
    pub(super) fn pool_named(&self, node: NodeIdx, name: Option<&String>) -> Option<u16> {
        self.pools.find(self.node(node), name?)
    }

    /// A node and granted devices of it, of which as much is free as when the decision was made.
    fn free_still<'a>(
        &self,
        placement: &Placement,
        name: &str,
        granted: impl Iterator<Item = &'a Grant>,
    ) -> Result<(NodeIdx, Vec<usize>)> {
        let stale = |what: &str| Error::StalePlacement { what: what.to_owned() };
        let node = self.inventory.find_node(&placement.cluster, name).ok_or_else(|| stale(name))?;
        let find = |grant: &Grant| {
            let at = self.inventory.find_device(node, grant.id);
            at.filter(|&at| self.capacity.free_milli[at] == grant.free_milli)
                .ok_or_else(|| stale(&format!("device {} of {name}", grant.id)))
        };
        Ok((node, granted.map(find).collect::<Result<_>>()?))
    }

    /// Takes the capacity of what [`crate::place::choose`] found in the present state.
    pub fn take_best(&mut self, choice: &Choice, best: Best, team: Option<String>) -> Result<HoldId> {
        let share = |&at: &usize| self.inventory.kinds[self.inventory.devices[at].kind.at()].share_for(choice);
        let share_milli = best.devices.first().map_or(0, share);
        let (cpu_milli, memory_mib) = (choice.cpu_milli, choice.host_memory_mib);
        let (node, devices) = (best.node, best.devices);
        let (share_memory_mib, bound) = (choice.share_memory_mib, choice.bound);
        let pool = self.pools.charged(self.node(node), choice);
        self.take_hold(Hold { node, devices, share_milli, share_memory_mib, bound, cpu_milli, memory_mib, team, pool })
    }

    /// Takes capacity as stated, whatever a choice would make of it; refused when there is less.
    pub fn take_hold(&mut self, hold: Hold) -> Result<HoldId> {
        self.take_next(vec![hold])
    }

    /// What was taken together, one part a node; nothing for an unknown id.
    pub fn held(&self, id: HoldId) -> &[Hold] {
        self.holds.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Gives the capacity of a hold back.
    pub fn release(&mut self, id: HoldId) -> Result<()> {
        let holds = self.holds.shift_remove(&id).ok_or(Error::UnknownHold { hold: id })?;
        for hold in holds {
            self.node_changes(hold.node);
            self.capacity.give(&hold).expect("what a hold took can be given back");
            self.quotas.give(&hold, &self.inventory);
            self.pools.give(&hold, &self.inventory);
            self.capacity.settle();
            self.node_changed(hold.node);
        }
        Ok(())
    }

    pub(crate) fn take_next(&mut self, holds: Vec<Hold>) -> Result<HoldId> {
        let id = HoldId(self.next_hold);
        self.take(id, holds)?;
        self.next_hold += 1;
        Ok(id)
    }

    /// Takes holds, all or none.
    pub(super) fn take(&mut self, id: HoldId, holds: Vec<Hold>) -> Result<()> {
        let start = self.capacity.checkpoint();
        for hold in &holds {
            if self.capacity.take(hold).is_err() {
                self.capacity.rollback(start);
                return Err(Error::StalePlacement { what: self.node(hold.node).name.clone() });
            }
        }
        // The sums are kept node by node: each is counted out as it was, and in as it is.
        self.capacity.rollback(start);
        for hold in &holds {
            self.node_changes(hold.node);
            self.capacity.take(hold).expect("it was there to take");
            self.capacity.settle();
            self.node_changed(hold.node);
            self.quotas.take(hold, &self.inventory);
            self.pools.take(hold, &self.inventory);
        }
        self.holds.insert(id, holds);
        Ok(())
    }
}
