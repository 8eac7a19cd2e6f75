//! Spots: where a planner puts a request. Each is checked by the same rules as a decision before anything is taken.

use std::borrow::Cow;

use crate::decision::Placement;
use crate::error::{Error, Result};
use crate::filter;
use crate::fleet::Fleet;
use crate::hold::HoldId;
use crate::place::Question;
use crate::place::{self, Best, best_of_fleet, best_of_node, is_on_one_numa_node, largest_that_fits};
use crate::reason::refusal;
use crate::request::{Choice, Request};
use crate::score::{Candidate, values};
use crate::units::NodeIdx;

/// Where one of a request's choices goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Place of the choice.
    pub choice_index: usize,
    /// The node.
    pub node: NodeIdx,
    /// Devices, by their positions in the columns, sorted; none for a step that asks for CPU only.
    pub devices: Vec<usize>,
}

impl Spot {
    /// The choice with the number of devices that it gets.
    pub fn choice<'a>(&self, request: &'a Request) -> Cow<'a, Choice> {
        let choice = &request.choices[self.choice_index];
        match u32::try_from(self.devices.len()) {
            Ok(count) if choice.count_ceiling.is_some() => Cow::Owned(choice.with_count(count)),
            _ => Cow::Borrowed(choice),
        }
    }

    fn of(choice_index: usize, best: Best) -> Self {
        Self { choice_index, node: best.node, devices: best.devices }
    }
}

/// Where a request goes by the rules of [`place::place`], in the fleet as it is.
pub fn find(fleet: &Fleet, request: &Request, question: &Question) -> Option<Spot> {
    (0..request.choices.len()).find_map(|index| {
        let choice = largest_that_fits(fleet, request, index, question);
        let best = best_of_fleet(fleet, request, index, &choice, question).filter(|best| best.is_good(&choice))?;
        Some(Spot::of(index, best))
    })
}

/// The same where only some nodes may be taken: the first choice that fits on any of them, with the most devices of its
/// range.
pub fn find_on(fleet: &Fleet, request: &Request, question: &Question, nodes: &[NodeIdx]) -> Option<Spot> {
    let on_one = |index: usize, choice: &Choice| {
        let fit = filter::kinds_of(fleet, request, index, choice);
        let here = nodes.iter().filter(|&&node| filter::elsewhere(fleet.node(node), choice).is_none());
        let all = here.filter_map(|&node| best_of_node(fleet, node, choice, &fit, question));
        let good = all.filter(|best| best.is_good(choice));
        good.min_by(|a, b| a.order(b).then(a.node.cmp(&b.node))).map(|best| Spot::of(index, best))
    };
    let most = nodes.iter().flat_map(|&node| &fleet.node(node).kinds).map(|run| run.devices.len()).max().unwrap_or(0);
    (0..request.choices.len()).find_map(|index| {
        let choice = &request.choices[index];
        let Some(ceiling) = choice.count_ceiling else { return on_one(index, choice) };
        let most = u32::try_from(most).unwrap_or(u32::MAX).min(ceiling);
        (choice.count..=most).rev().find_map(|count| on_one(index, &choice.with_count(count)))
    })
}

/// What a spot scores; `None` when a rule of the request or of the fleet forbids it now.
fn judged(fleet: &Fleet, request: &Request, question: &Question, spot: &Spot) -> Option<Best> {
    let choice = &*spot.choice(request);
    let (inventory, node) = (fleet.inventory(), fleet.node(spot.node));
    let is_counted =
        spot.devices.len() == choice.count as usize && choice.count >= request.choices[spot.choice_index].count;
    let is_sorted = spot.devices.windows(2).all(|pair| pair[0] < pair[1]);
    let is_here = spot.devices.iter().all(|at| node.devices.contains(at));
    if !is_counted || !is_sorted || !is_here || filter::elsewhere(node, choice).is_some() {
        return None;
    }
    let fit = filter::kinds_of(fleet, request, spot.choice_index, choice);
    if refusal(fleet, spot.node, choice, &fit).is_some() {
        return None;
    }
    let free_milli = &fleet.capacity().free_milli;
    let share = |at: usize| inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
    if !choice.is_cpu_only() {
        let fit = filter::on_node(inventory, node, choice, &fit);
        let offered = filter::only_whole(inventory, node, choice, &fit, |at: usize| free_milli[at] >= share(at));
        let runs = if choice.count > 1 && choice.link.is_some() { &node.islands } else { &node.kinds };
        let is_run = |run: &crate::inventory::Run| {
            offered[run.kind.at()].is_none() && spot.devices.iter().all(|at| run.devices.contains(at))
        };
        let is_free = spot.devices.iter().all(|&at| free_milli[at] >= share(at));
        if !is_free || !runs.iter().any(is_run) || (choice.one_numa_node && !is_on_one_numa_node(fleet, &spot.devices))
        {
            return None;
        }
    }
    let candidate = Candidate { node: spot.node, devices: &spot.devices };
    let values = values(fleet, choice, candidate, fleet.worth(spot.node), question.policy);
    let free: u64 = fleet.free_milli(spot.node).iter().map(|&milli| u64::from(milli)).sum();
    let idle_milli = free - spot.devices.iter().map(|&at| u64::from(share(at))).sum::<u64>();
    let total = values.total(&question.weights);
    let best = Best { node: spot.node, devices: spot.devices.clone(), values, total, idle_milli };
    best.is_good(choice).then_some(best)
}

/// The placement that a spot is; `None` when a rule of the request or of the fleet forbids it now.
pub fn placement(fleet: &Fleet, request: &Request, question: &Question, spot: &Spot) -> Option<Placement> {
    let best = judged(fleet, request, question, spot)?;
    Some(place::placement(fleet, request, question, spot.choice_index, &spot.choice(request), &best, Vec::new()))
}

impl Fleet {
    /// Takes what a request asks at a spot of [`find`] or [`find_on`] in the present state, or that [`placement`] admits.
    pub fn take_spot(&mut self, request: &Request, spot: &Spot) -> Result<HoldId> {
        let choice = spot.choice(request);
        self.take_devices(&choice, (spot.node, spot.devices.clone()), request.team.clone())
    }

    /// Takes a spot that somebody else found, if every rule admits it now.
    pub fn try_spot(&mut self, request: &Request, question: &Question, spot: &Spot) -> Result<HoldId> {
        let refused = || Error::StalePlacement { what: self.node(spot.node).label.clone() };
        judged(self, request, question, spot).ok_or_else(refused)?;
        self.take_spot(request, spot)
    }
}
