//! Spots: where a planner puts a request. Each is checked by the same rules as a decision before anything is taken.

use crate::decision::Placement;
use crate::error::{Error, Result};
use crate::filter::{self, View};
use crate::fleet::Fleet;
use crate::hold::{Hold, HoldId};
use crate::place::{self, Best, Question, best_of_fleet, best_of_node, is_on_one_numa_node, largest_that_fits};
use crate::reason::usable_kinds;
use crate::request::{Choice, Request};
use crate::score::{Before, Candidate, Policy, values};
use crate::tie::Tie;
use crate::units::NodeIdx;
use crate::{gang, groups, power};

/// Where one of a request's choices goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Place of the choice.
    pub choice_index: usize,
    /// The node and what it gives: positions in the device columns, sorted; none for a step that asks for CPU only. Several
    /// for a step over several nodes, and one for each group of a step that has them.
    pub parts: Vec<(NodeIdx, Vec<usize>)>,
}

impl Spot {
    /// A spot on one node.
    pub fn on(choice_index: usize, node: NodeIdx, devices: Vec<usize>) -> Self {
        Self { choice_index, parts: vec![(node, devices)] }
    }

    /// Whether it has several parts, on several nodes or of several groups.
    pub fn is_gang(&self) -> bool {
        self.parts.len() > 1
    }

    /// The choice with the number of devices that it gets on each node.
    fn choice(&self, request: &Request) -> Choice {
        let choice = &request.choices[self.choice_index];
        let devices: usize = self.parts.iter().map(|(_, devices)| devices.len()).sum();
        let sized = match u32::try_from(devices) {
            Ok(count) if choice.count_ceiling.is_some() => choice.with_count(count),
            _ => choice.clone(),
        };
        let nodes = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        sized.part(nodes).unwrap_or(sized)
    }

    /// What each part is asked for.
    fn choices(&self, request: &Request) -> Vec<Choice> {
        let choice = &request.choices[self.choice_index];
        if choice.has_groups() {
            return groups::members(choice, Policy::Aware); // policies ask no other amounts
        }
        vec![self.choice(request); self.parts.len()]
    }

    fn of(choice_index: usize, best: Best) -> Self {
        Self::on(choice_index, best.node, best.devices)
    }
}

/// Where a request goes by the rules of [`place::place`], in the fleet as it is.
pub fn find(fleet: &Fleet, request: &Request, question: &Question) -> Option<Spot> {
    (0..request.choices.len()).find_map(|index| {
        let choice = largest_that_fits(fleet, request, index, question);
        if choice.has_groups() {
            let joint =
                groups::best(fleet, request, index, &choice, question).filter(|joint| joint.is_good(&choice))?;
            let parts = joint.parts.into_iter().map(|best| (best.node, best.devices)).collect();
            return Some(Spot { choice_index: index, parts });
        }
        if choice.peers > 0 {
            let gang =
                gang::best(fleet, request, index, &choice, question).gang.filter(|gang| gang.is_good(&choice))?;
            let parts = gang.parts.into_iter().map(|part| (part.best.node, part.best.devices)).collect();
            return Some(Spot { choice_index: index, parts });
        }
        let best = best_of_fleet(fleet, request, index, &choice, question).filter(|best| best.is_good(&choice))?;
        Some(Spot::of(index, best))
    })
}

/// The same where only some nodes may be taken: the first choice that fits on any of them, with the most devices of its
/// range. A choice that may go over several nodes, or has groups, may take any.
pub fn find_on(fleet: &Fleet, request: &Request, question: &Question, nodes: &[NodeIdx]) -> Option<Spot> {
    if request.choices.iter().any(|choice| choice.may_be_gang() || choice.has_groups()) {
        return find(fleet, request, question);
    }
    let on_one = |index: usize, choice: &Choice| {
        let fit = filter::kinds_of(fleet, request, index, choice);
        let here = nodes.iter().filter(|&&node| filter::elsewhere(fleet.node(node), choice).is_none());
        let all = here.filter_map(|&node| best_of_node(fleet, node, choice, &fit, question));
        let good = all.filter(|best| best.is_good(choice));
        good.min_by(|a, b| a.order(b).then(a.node.cmp(&b.node))).map(|best| Spot::of(index, best))
    };
    let most = nodes.iter().flat_map(|&node| &fleet.node(node).kinds).map(|run| run.devices.len()).max().unwrap_or(0);
    (0..request.choices.len()).find_map(|index| {
        let choice = gang::apart(fleet, request, &question.policy.judged(&request.choices[index]));
        let Some(ceiling) = choice.count_ceiling else { return on_one(index, &choice) };
        let most = u32::try_from(most).unwrap_or(u32::MAX).min(ceiling);
        (choice.count..=most).rev().find_map(|count| on_one(index, &choice.with_count(count)))
    })
}

/// What a spot on one node scores; `None` when a rule of the request or of the fleet forbids it now.
fn judged(fleet: &Fleet, request: &Request, question: &Question, spot: &Spot) -> Option<Best> {
    let [(at, devices)] = spot.parts.as_slice() else { return None };
    let choice = &gang::apart(fleet, request, &question.policy.judged(&spot.choice(request)));
    let (inventory, node, capacity) = (fleet.inventory(), fleet.node(*at), fleet.capacity());
    let least = request.choices[spot.choice_index].count;
    let is_counted = devices.len() == choice.count as usize && choice.count >= least;
    let is_sorted = devices.windows(2).all(|pair| pair[0] < pair[1]);
    let is_here = devices.iter().all(|device| node.devices.contains(device));
    if !is_counted || !is_sorted || !is_here || filter::elsewhere(node, choice).is_some() {
        return None;
    }
    let fit = filter::kinds_of(fleet, request, spot.choice_index, choice);
    let fit = usable_kinds(fleet, *at, choice, &fit);
    let share = |device: usize| inventory.kinds[inventory.devices[device].kind.at()].share_for(choice);
    let view = View {
        free_milli: |device: usize| capacity.free_for(device, choice, share(device)),
        cpu_milli: capacity.free_cpu_milli[at.at()],
        memory_mib: capacity.free_memory_mib[at.at()],
    };
    let is_served = filter::serves_now(inventory, node, choice, &fit, &view);
    if !is_served || !(choice.is_cpu_only() || is_option(fleet, *at, choice, &fit, devices)) {
        return None;
    }
    let candidate = Candidate { node: *at, devices };
    if !power::is_within(fleet, choice, candidate) {
        return None;
    }
    let mut before = Before::of(fleet, *at);
    let values = values(fleet, choice, candidate, &mut before, question);
    let tie = Tie::of(fleet, choice, devices, &before);
    let total = values.total(&question.weights);
    let best = Best { node: *at, devices: devices.clone(), values, total, tie };
    best.is_good(choice).then_some(best)
}

/// Whether these devices can serve a choice together.
fn is_option(fleet: &Fleet, at: NodeIdx, choice: &Choice, fit: &[Option<filter::Misfit>], devices: &[usize]) -> bool {
    let (inventory, node, capacity) = (fleet.inventory(), fleet.node(at), fleet.capacity());
    let share = |device: usize| inventory.kinds[inventory.devices[device].kind.at()].share_for(choice);
    let is_free = |device: usize| capacity.free_for(device, choice, share(device)) >= share(device);
    let offered = filter::only_whole(inventory, node, choice, fit, is_free);
    let runs = if choice.count > 1 && choice.link.is_some() { &node.islands } else { &node.kinds };
    let is_run = |run: &crate::inventory::Run| {
        offered[run.kind.at()].is_none() && devices.iter().all(|device| run.devices.contains(device))
    };
    // Each island gives whole tensor parallel groups.
    let ranks = choice.tensor_ranks.unwrap_or(1) as usize;
    let of_island = |device: &usize| inventory.devices[*device].island;
    let in_same = |device: &usize| devices.iter().filter(|other| of_island(other) == of_island(device)).count();
    let is_grouped =
        ranks < 2 || devices.iter().all(|device| of_island(device).is_some() && in_same(device).is_multiple_of(ranks));
    devices.iter().all(|&device| is_free(device) && inventory.devices[device].is_near_enough(choice))
        && runs.iter().any(is_run)
        && is_grouped
        && (!choice.one_numa_node || is_on_one_numa_node(fleet, devices))
}

/// Whether every rule of the request and of the fleet admits a spot on one node now.
pub fn is_admitted(fleet: &Fleet, request: &Request, question: &Question, spot: &Spot) -> bool {
    judged(fleet, request, question, spot).is_some()
}

/// The placement that a spot on one node is; `None` when a rule of the request or of the fleet forbids it now.
pub fn placement(fleet: &Fleet, request: &Request, question: &Question, spot: &Spot) -> Option<Placement> {
    let best = judged(fleet, request, question, spot)?;
    let choice = spot.choice(request);
    Some(place::placement(fleet, request, question, spot.choice_index, &choice, &best, Vec::new()))
}

impl Fleet {
    /// Takes what a request asks at a spot of [`find`] or [`find_on`], or that [`placement`] admits; refused where that is
    /// not free.
    pub fn take_spot(&mut self, request: &Request, spot: &Spot) -> Result<HoldId> {
        let inventory = self.inventory();
        let choices = spot.choices(request);
        let hold = |((node, devices), choice): (&(NodeIdx, Vec<usize>), &Choice)| Hold {
            node: *node,
            share_milli: devices
                .first()
                .map_or(0, |&at| inventory.kinds[inventory.devices[at].kind.at()].share_for(choice)),
            share_memory_mib: choice.share_memory_mib,
            bound: choice.bound,
            devices: devices.clone(),
            cpu_milli: choice.cpu_milli,
            memory_mib: choice.host_memory_mib,
            team: request.team.clone(),
            pool: self.pools().charged(self.node(*node), choice),
        };
        let holds = spot.parts.iter().zip(&choices).map(hold).collect();
        self.take_next(holds)
    }

    /// Takes a spot that somebody else found: on one node if every rule admits it now, over several if all is free.
    pub fn try_spot(&mut self, request: &Request, question: &Question, spot: &Spot) -> Result<HoldId> {
        if !spot.is_gang() && judged(self, request, question, spot).is_none() {
            let node = spot.parts.first().map_or("", |(node, _)| &self.node(*node).label);
            return Err(Error::StalePlacement { what: node.to_owned() });
        }
        self.take_spot(request, spot)
    }
}
