//! What each cluster has for a choice: how much of it is free, and from what price.
//!
//! Devices are asked, not nodes: a cluster whose nodes are each too small is tried in vain.

use crate::cluster::term::MILLI;
use crate::document::NodeState;
use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::inventory::Cluster;
use crate::place::Question;
use crate::request::{Choice, Request};
use crate::units::{KindIdx, NodeIdx};
use crate::{gang, groups, partition, work};

/// A cluster with devices that could serve a choice if they were idle.
#[derive(Clone, Debug)]
pub(super) struct Able<'a> {
    pub(super) cluster: &'a Cluster,
    /// Free shares of these devices, or free cores of a choice that takes none.
    pub(super) free_milli: u64,
    /// All of them.
    pub(super) all_milli: u64,
    /// The least that the choice costs here an hour; `None` where no price is stated.
    pub(super) price_milli: Option<u64>,
}

/// What one node, or some, have for one group of a choice, all in thousandths.
#[derive(Clone, Copy, Debug)]
struct Offer {
    free: u64,
    all: u64,
    price: Option<u64>,
}

impl Offer {
    fn with(self, other: Self) -> Self {
        let price = self.price.into_iter().chain(other.price).min();
        Self { free: self.free + other.free, all: self.all + other.all, price }
    }
}

/// A choice of one count, with the verdict on the kinds.
struct Ask {
    choice: Choice,
    fit: Vec<Option<Misfit>>,
}

/// The clusters with devices for every group of a choice, by name.
pub(super) fn offers<'a>(fleet: &'a Fleet, request: &Request, index: usize, question: &Question) -> Vec<Able<'a>> {
    let choice = gang::apart(fleet, request, &question.policy.judged(&request.choices[index]));
    let members = if choice.has_groups() { groups::members(&choice, question.policy) } else { vec![choice.clone()] };
    let ask = |choice: Choice| Ask { fit: filter::kinds_of(fleet, request, index, &choice), choice };
    let members: Vec<Vec<Ask>> =
        members.iter().map(|member| counts(fleet, member).into_iter().map(ask).collect()).collect();
    let states = fleet.states();
    let mut by_state: Vec<Option<Vec<Option<Offer>>>> = vec![None; states.len()];
    let mut able = Vec::new();
    for cluster in &fleet.inventory().clusters {
        let mut of_members: Vec<Option<Offer>> = vec![None; members.len()];
        let nodes = cluster.nodes.clone().map(NodeIdx::new);
        let could =
            |&node: &NodeIdx| filter::elsewhere(fleet.node(node), &choice).is_none_or(|misfit| misfit.is_passing);
        for node in nodes.filter(could) {
            let of_state = &mut by_state[states.index(node)];
            let here = of_state.get_or_insert_with(|| members.iter().map(|asks| of_node(fleet, node, asks)).collect());
            for (sum, here) in of_members.iter_mut().zip(here) {
                *sum = sum.zip(*here).map(|(sum, here)| sum.with(here)).or(*sum).or(*here);
            }
        }
        let Some(of_members) = of_members.into_iter().collect::<Option<Vec<Offer>>>() else { continue };
        able.push(Able {
            cluster,
            free_milli: of_members.iter().map(|offer| offer.free).sum(),
            all_milli: of_members.iter().map(|offer| offer.all).sum(),
            price_milli: of_members.iter().map(|offer| offer.price).sum(),
        });
    }
    able
}

/// A choice with each count at which other kinds might serve it: the least and the most, or by kind what does the work.
fn counts(fleet: &Fleet, choice: &Choice) -> Vec<Choice> {
    if choice.units_milli.is_some() {
        return work::parts(fleet, choice).collect();
    }
    let ends = std::iter::once(choice.count).chain(choice.count_ceiling);
    ends.map(|count| choice.with_count(count)).collect()
}

/// `None` where a node has nothing that could serve.
fn of_node(fleet: &Fleet, at: NodeIdx, asks: &[Ask]) -> Option<Offer> {
    if asks.iter().any(|ask| ask.choice.is_cpu_only()) {
        return of_cores(fleet, at);
    }
    let (inventory, node) = (fleet.inventory(), fleet.node(at));
    let is_open = node.state == NodeState::Active;
    let mut found: Option<Offer> = None;
    for run in &node.kinds {
        let (of_whole, of_parts) =
            (price_of_whole(fleet, at, run.kind, asks), price_of_parts(fleet, at, run.kind, asks));
        for device in run.devices.clone() {
            let of_parts = of_parts.filter(|_| inventory.devices[device].may_be_cut);
            let Some(price) = cheaper(of_whole, of_parts) else { continue };
            let free = if is_open { fleet.capacity().free_milli[device] } else { 0 };
            let here = Offer { free: u64::from(free), all: MILLI, price };
            found = Some(found.map_or(here, |found| found.with(here)));
        }
    }
    found
}

/// A price is that of devices.
fn of_cores(fleet: &Fleet, at: NodeIdx) -> Option<Offer> {
    let node = fleet.node(at);
    let free = fleet.capacity().free_cpu_milli[at.at()].filter(|_| node.state == NodeState::Active);
    let offer = Offer { free: free.unwrap_or(0), all: node.cpu_milli.unwrap_or(0), price: Some(0) };
    node.taints.is_empty().then_some(offer)
}

/// Whether it can be had, and from what price where that is stated.
type Price = Option<Option<u64>>;

fn cheaper(one: Price, other: Price) -> Price {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.into_iter().chain(other).min()),
        _ => one.or(other),
    }
}

/// Of devices of a kind on a node, as they are.
fn price_of_whole(fleet: &Fleet, at: NodeIdx, kind: KindIdx, asks: &[Ask]) -> Price {
    let (inventory, node) = (fleet.inventory(), fleet.node(at));
    let is_fit = |ask: &&Ask| {
        let fit = filter::on_node(inventory, node, &ask.choice, &ask.fit);
        fit[kind.at()].is_none_or(|misfit| misfit.is_passing)
    };
    let prices =
        asks.iter().filter(is_fit).map(|ask| filter::cost_milli(&inventory.kinds[kind.at()], node, &ask.choice));
    prices.map(Some).reduce(cheaper).flatten()
}

/// Of the partitions that they could be cut into.
fn price_of_parts(fleet: &Fleet, at: NodeIdx, kind: KindIdx, asks: &[Ask]) -> Price {
    let inventory = fleet.inventory();
    let parts = inventory.cuts.get(&kind).map_or(&[][..], Vec::as_slice).iter().map(|part| &inventory.kinds[part.at()]);
    let asks = || asks.iter().map(|ask| &ask.choice).filter(|choice| partition::is_for_partitions(choice));
    let fitting = parts.flat_map(|part| {
        asks().filter(|choice| filter::kind_misfit(part, choice).is_none()).map(move |choice| (part, choice))
    });
    let prices = fitting.map(|(part, choice)| filter::cost_milli(part, fleet.node(at), choice));
    prices.map(Some).reduce(cheaper).flatten()
}
