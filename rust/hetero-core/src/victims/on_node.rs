//! What would have to end so that a choice fits on one node.

use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::reason::refusal;
use crate::request::Choice;
use crate::units::NodeIdx;
use crate::victims::bound::{Held, Opening};
use crate::victims::least::{Effort, Least, Limit, MOST_TRIED, Table};
use crate::victims::party::{Cost, Party};
use crate::victims::{Ask, Best, Rank, freed};

/// A node with what may end on it.
pub(super) struct Site<'a> {
    pub(super) node: NodeIdx,
    pub(super) parties: Vec<&'a Party>,
    pub(super) opening: Opening,
    /// Devices that must come free.
    pub(super) missing: usize,
}

/// A choice and the verdict on the kinds for it.
#[derive(Clone, Copy)]
pub(super) struct Sought<'b> {
    pub(super) choice: &'b Choice,
    pub(super) fit: &'b [Option<Misfit>],
}

/// Looks at every node where something may end.
pub(super) fn search<'a>(ask: Ask<'a>, choice: &Choice, trial: &mut Fleet, best: &mut Best<'a>) {
    let sought = Sought { choice, fit: &filter::kinds_of(ask.fleet, ask.request, ask.index, choice) };
    let below = ask.fleet.inventory().parties().below(ask.priority);
    let sites = below.filter_map(|(node, here)| Site::of(ask.fleet, node, here, sought));
    let mut sites: Vec<(Cost, Site<'_>)> = sites.map(|site| (site.bound(), site)).collect();
    sites.sort_by_key(|(bound, site)| (*bound, site.node));
    for (bound, site) in sites {
        let rank = Rank { index: ask.index, peers: 0, number: site.node.at() };
        let limit = best.limit(rank);
        if limit.admits(bound) {
            let (least, is_least) = site.least(limit, sought, trial);
            best.take(rank, bound, &site.parties, least.map(|least| (least, vec![site.node])), is_least);
        }
    }
}

impl<'a> Site<'a> {
    /// What may end on a node; `None` where the choice is for other nodes, or too few devices could open.
    pub(super) fn of(fleet: &Fleet, node: NodeIdx, parties: Vec<&'a Party>, sought: Sought<'_>) -> Option<Self> {
        let Sought { choice, fit } = sought;
        let (inventory, capacity, this) = (fleet.inventory(), fleet.capacity(), fleet.node(node));
        if filter::elsewhere(this, choice).is_some() {
            return None;
        }
        let suits = |at: usize| fit[inventory.devices[at].kind.at()].is_none();
        let share = |at: usize| inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
        let is_open = |at: usize| capacity.free_for(at, choice, share(at)) >= share(at);
        // Where only memory is short, something of the device must end all the same.
        let need_milli = |at: usize| u64::from(share(at).saturating_sub(capacity.free_milli[at]).max(1));
        let open = this.devices.clone().filter(|&at| suits(at) && is_open(at)).count();
        let missing = (choice.count as usize).saturating_sub(open);
        let mut held = Vec::new();
        for (place, party) in parties.iter().enumerate() {
            for hold in party.entries.iter().map(|entry| &entry.hold).filter(|hold| hold.node == node) {
                let closed = hold.devices.iter().filter(|&&at| suits(at) && !is_open(at));
                held.extend(closed.map(|&at| Held {
                    at,
                    place,
                    milli: u64::from(hold.share_milli),
                    need_milli: need_milli(at),
                }));
            }
        }
        let costs: Vec<Cost> = parties.iter().map(|party| party.cost).collect();
        let opening = Opening::of(&costs, held, missing)?;
        Some(Self { node, parties, opening, missing })
    }

    /// No set that makes room costs less.
    fn bound(&self) -> Cost {
        self.parties.iter().map(|party| party.cost).min().map_or(Cost::BEYOND, |least| least.max(self.opening.bound))
    }

    /// The least that makes room for the choice here, and whether all that could cost less was ruled out.
    pub(super) fn least(&self, limit: Limit, sought: Sought<'_>, trial: &mut Fleet) -> (Option<Least>, bool) {
        let costs: Vec<Cost> = self.parties.iter().map(|party| party.cost).collect();
        // Under a budget more that ends may be worse: a draw that was read, or unknown and so passed over, is then estimated.
        let is_monotone = !trial.node(self.node).is_under_budget();
        let table = Table::new(&self.parties, (&self.opening.opens, self.missing), self.opening.bound, is_monotone);
        let walking = if self.parties.len() <= MOST_TRIED { usize::MAX } else { 0 };
        let effort = Effort { sparing: usize::MAX, walking };
        table.least(self.opening.cover(&costs), effort, limit, &mut |ending| takes(trial, self.node, ending, sought))
    }
}

/// Whether a node takes a choice once parties ended.
pub(super) fn takes(trial: &mut Fleet, node: NodeIdx, ending: &[&Party], sought: Sought<'_>) -> bool {
    let given = freed::on(trial, node, ending);
    trial.with_given(&given, |trial| refusal(trial, node, sought.choice, sought.fit).is_none())
}
