//! The fleet as it is while some steps run.

use std::collections::BTreeMap;

use hetero_core::hold::Hold;
use hetero_core::inventory::Inventory;
use hetero_core::units::NodeIdx;
use hetero_core::{Decision, Fleet, HoldId, Placement, Question, Request, Result, place_uncut, spot};

use crate::dag::near::{Source, nearer};

/// A copy of the fleet, and by node which steps hold something there, and what they hold together.
pub(crate) struct Board {
    pub(crate) fleet: Fleet,
    held: BTreeMap<NodeIdx, (Vec<usize>, Vec<HoldId>)>,
}

impl Board {
    pub(crate) fn new(fleet: &Fleet) -> Self {
        Self { fleet: fleet.clone(), held: BTreeMap::new() }
    }

    /// Holds what these steps hold by node, and nothing else beside what the fleet came with; nodes with the same steps as
    /// before are left alone.
    pub(crate) fn hold(
        &mut self,
        wanted: BTreeMap<NodeIdx, Vec<usize>>,
        merged: impl Fn(&Inventory, NodeIdx, &[usize]) -> Vec<Hold>,
    ) -> Result<()> {
        let stays = |node: &NodeIdx, steps: &Vec<usize>| wanted.get(node) == Some(steps);
        let gone: Vec<NodeIdx> =
            self.held.iter().filter(|(node, (steps, _))| !stays(node, steps)).map(|(node, _)| *node).collect();
        for node in gone {
            let (_, ids) = self.held.remove(&node).unwrap_or_default();
            ids.into_iter().try_for_each(|id| self.fleet.release(id))?;
        }
        for (node, steps) in wanted {
            if !self.held.contains_key(&node) {
                let holds = merged(self.fleet.inventory(), node, &steps);
                let ids = holds.into_iter().map(|hold| self.fleet.take_hold(hold)).collect::<Result<_>>()?;
                self.held.insert(node, (steps, ids));
            }
        }
        Ok(())
    }

    /// Gives back all that steps hold.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.hold(BTreeMap::new(), |_, _, _| Vec::new())
    }

    /// Where a request goes now, as near to its sources as so many points allow; `None` when it does not fit.
    pub(crate) fn place(&self, request: &Request, sources: &[Source<'_>], points: f64) -> Result<Option<Placement>> {
        let question = Question::default();
        if spot::find(&self.fleet, request, &question).is_none() {
            return Ok(None); // without the words of a refusal, which take long
        }
        match place_uncut(&self.fleet, request, &question)? {
            Decision::Placement(best) => nearer(&self.fleet, request, &question, sources, points, *best).map(Some),
            Decision::NoFit(_) => Ok(None),
        }
    }

    /// The nodes of a placement.
    pub(crate) fn nodes(&self, placement: &Placement) -> Vec<NodeIdx> {
        let find = |name: &String| self.fleet.inventory().find_node(&placement.cluster, name);
        placement.nodes.iter().filter_map(find).collect()
    }

    /// What a placement takes.
    pub(crate) fn holds(&mut self, placement: &Placement) -> Result<Vec<Hold>> {
        let id = self.fleet.commit(placement)?;
        let holds = self.fleet.held(id).to_vec();
        self.fleet.release(id)?;
        Ok(holds)
    }
}
