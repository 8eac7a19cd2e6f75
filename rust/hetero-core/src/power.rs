//! Power of nodes and racks: what their devices draw, and whether a step stays inside what they may.
//!
//! A device that was read since steps last came or went draws what was read. Otherwise it is an estimate: one of which
//! anything is taken counts with the highest normal power of its board (TDP), an idle one with nothing. Hosts do not count.

use std::borrow::Cow;

use crate::codes::Code;
use crate::filter::Misfit;
use crate::fleet::Fleet;
use crate::inventory::{Inventory, Node};
use crate::kind::Kind;
use crate::reading::Readings;
use crate::request::Choice;
use crate::score::Candidate;
use crate::units::{NodeIdx, WHOLE_MILLI};

/// What nodes and racks draw now, for those that have a budget; `None` where the TDP of a device in use is unknown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draws {
    nodes: Vec<Option<u64>>,
    racks: Vec<Option<u64>>,
}

/// A budget that a node is under: its own, or that of its rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// The rack, by its place in the inventory; `None` is the node's own.
    pub(crate) rack: Option<usize>,
    /// What may be drawn.
    pub(crate) most_mw: u64,
    /// What is drawn now; `None` is unknown.
    pub(crate) draw_mw: Option<u64>,
}

impl Draws {
    /// What is drawn by all nodes.
    pub(crate) fn of(inventory: &Inventory, free_milli: &[u16], readings: &Readings) -> Self {
        let is_counted = inventory.nodes.iter().any(Node::is_under_budget);
        if !is_counted {
            return Self::default();
        }
        let mut draws = Self { nodes: vec![None; inventory.nodes.len()], racks: vec![None; inventory.racks.len()] };
        for node in (0..inventory.nodes.len()).map(NodeIdx::new) {
            draws.nodes[node.at()] = node_draw(inventory, free_milli, readings, node);
        }
        for rack in 0..inventory.racks.len() {
            draws.add_up(inventory, rack);
        }
        draws
    }

    /// Counts a node anew, and its rack.
    pub(crate) fn update(&mut self, inventory: &Inventory, free_milli: &[u16], readings: &Readings, node: NodeIdx) {
        if self.nodes.is_empty() || !inventory.nodes[node.at()].is_under_budget() {
            return;
        }
        self.nodes[node.at()] = node_draw(inventory, free_milli, readings, node);
        if let Some(rack) = inventory.nodes[node.at()].rack {
            self.add_up(inventory, rack);
        }
    }

    fn add_up(&mut self, inventory: &Inventory, rack: usize) {
        let nodes = inventory.racks[rack].nodes.iter();
        self.racks[rack] = nodes.map(|node| self.nodes[node.at()]).sum();
    }

    /// What the rack of a node draws; `None` is unknown or no rack with a budget.
    pub(crate) fn of_rack(&self, rack: usize) -> Option<u64> {
        self.racks.get(rack).copied().flatten()
    }
}

/// The budgets that a node is under.
pub(crate) fn budgets(fleet: &Fleet, node: NodeIdx) -> impl Iterator<Item = Budget> {
    let (this, draws) = (fleet.node(node), fleet.draws());
    let own = this.power_budget_mw.map(|most_mw| {
        let draw_mw = draws.nodes.get(node.at()).copied().flatten();
        Budget { rack: None, most_mw, draw_mw }
    });
    let of_rack = this.rack.map(|rack| {
        let most_mw = fleet.inventory().racks[rack].power_budget_mw;
        Budget { rack: Some(rack), most_mw, draw_mw: draws.of_rack(rack) }
    });
    own.into_iter().chain(of_rack)
}

/// What a candidate's devices draw more than now once it runs; `None` where a TDP is unknown.
pub(crate) fn added_mw(fleet: &Fleet, devices: &[usize]) -> Option<u64> {
    devices.iter().map(|&at| added_by(fleet, at)).sum()
}

/// What devices of which anything is taken draw, at their TDP; `None` where one is unknown. Idle devices count nothing.
pub fn in_use_mw(inventory: &Inventory, free_milli: &[u16]) -> Option<u64> {
    let in_use = inventory.devices.iter().zip(free_milli).filter(|&(_, &free)| free < WHOLE_MILLI);
    in_use.map(|(device, _)| tdp(&inventory.kinds[device.kind.at()])).sum()
}

/// Whether a candidate stays inside the budgets of its node; what is not known is inside.
pub(crate) fn is_within(fleet: &Fleet, choice: &Choice, candidate: Candidate<'_>) -> bool {
    if choice.may_cap_power || candidate.devices.is_empty() || !fleet.node(candidate.node).is_under_budget() {
        return true;
    }
    let Some(added) = added_mw(fleet, candidate.devices) else { return true };
    budgets(fleet, candidate.node).all(|budget| budget.draw_mw.is_none_or(|draw| draw + added <= budget.most_mw))
}

/// The verdict on the kinds without those whose devices would take a node or its rack over budget.
///
/// A step that may run with its power capped passes.
pub(crate) fn on_node<'a>(
    fleet: &Fleet,
    node: NodeIdx,
    choice: &Choice,
    fit: Cow<'a, [Option<Misfit>]>,
) -> Cow<'a, [Option<Misfit>]> {
    let (inventory, this) = (fleet.inventory(), fleet.node(node));
    if choice.may_cap_power || choice.is_cpu_only() || !this.is_under_budget() {
        return fit;
    }
    let mut fit = fit;
    for run in &this.kinds {
        let at = run.kind.at();
        let known = fit[at];
        if known.is_some_and(|misfit| !misfit.is_passing) {
            continue;
        }
        let Some(tdp_mw) = tdp(&inventory.kinds[at]) else { continue };
        let alone = tdp_mw.saturating_mul(u64::from(choice.count));
        let share = inventory.kinds[at].share_for(choice);
        let usable = || run.devices.clone().filter(|&at| fleet.capacity().free_for(at, choice, share) >= share);
        let added = if share < WHOLE_MILLI { usable().filter_map(|at| added_by(fleet, at)).min() } else { Some(alone) };
        for budget in budgets(fleet, node) {
            let over = |draw: u64, is_passing: bool| {
                let misfit = Misfit { have: Some(draw), want: Some(budget.most_mw), ..Misfit::of(Code::PowerBudget) };
                (draw > budget.most_mw).then_some(Misfit { is_passing, ..misfit })
            };
            let with_others =
                budget.draw_mw.zip(added).and_then(|(draw, added)| over(draw.saturating_add(added), true));
            if let Some(misfit) = over(alone, false) {
                fit.to_mut()[at] = Some(misfit);
                break;
            }
            if fit[at].is_none() && with_others.is_some() {
                fit.to_mut()[at] = with_others;
            }
        }
    }
    fit
}

/// TDP of a kind's board; that of a partition is unknown.
fn tdp(kind: &Kind) -> Option<u64> {
    kind.profile.as_ref().filter(|_| kind.partition.is_none())?.tdp_mw
}

/// What tells devices of one kind apart: what a step would add, and to the groups after it what they draw now.
pub(crate) fn told_apart(fleet: &Fleet, choice: &Choice, at: usize) -> (Option<u64>, Option<u64>) {
    let free = &fleet.capacity().free_milli;
    let drawn = || device_draw(fleet.inventory(), free, fleet.kept_readings(), at);
    (added_by(fleet, at), choice.is_of_groups.then(drawn).flatten())
}

/// What one device draws more than now once anything more runs on it; `None` where a TDP is unknown.
fn added_by(fleet: &Fleet, at: usize) -> Option<u64> {
    let (inventory, free) = (fleet.inventory(), &fleet.capacity().free_milli);
    let tdp_mw = tdp(&inventory.kinds[inventory.devices[at].kind.at()])?;
    if free[at] == WHOLE_MILLI {
        return Some(tdp_mw);
    }
    Some(tdp_mw.saturating_sub(device_draw(inventory, free, fleet.kept_readings(), at)?))
}

fn node_draw(inventory: &Inventory, free_milli: &[u16], readings: &Readings, node: NodeIdx) -> Option<u64> {
    let devices = inventory.nodes[node.at()].devices.clone();
    devices.map(|at| device_draw(inventory, free_milli, readings, at)).sum()
}

fn device_draw(inventory: &Inventory, free_milli: &[u16], readings: &Readings, at: usize) -> Option<u64> {
    let device = &inventory.devices[at];
    if let Some(read) = is_read(free_milli, readings, at) {
        return Some(read);
    }
    if !device.is_healthy || free_milli[at] == WHOLE_MILLI { Some(0) } else { tdp(&inventory.kinds[device.kind.at()]) }
}

/// What was read of a device, where that still tells something.
fn is_read(free_milli: &[u16], readings: &Readings, at: usize) -> Option<u64> {
    readings.get(&at).filter(|kept| kept.free_milli == free_milli[at]).and_then(|kept| kept.reading.power_mw)
}

/// How many of a node's or rack's devices in use count with a reading, and how many are in use.
pub(crate) fn read_of_used(fleet: &Fleet, node: NodeIdx, rack: Option<usize>) -> (usize, usize) {
    let (inventory, free) = (fleet.inventory(), &fleet.capacity().free_milli);
    let alone = [node];
    let nodes = rack.map_or(&alone[..], |rack| &inventory.racks[rack].nodes);
    let devices = nodes.iter().flat_map(|node| inventory.nodes[node.at()].devices.clone());
    let used = devices.filter(|&at| inventory.devices[at].is_healthy && free[at] < WHOLE_MILLI);
    used.fold((0, 0), |(read, all), at| {
        (read + usize::from(is_read(free, fleet.kept_readings(), at).is_some()), all + 1)
    })
}
