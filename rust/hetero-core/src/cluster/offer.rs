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
use crate::units::NodeIdx;
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

/// What one node, or some, have for one group of a choice.
#[derive(Clone, Copy, Debug)]
struct Offer {
    free_milli: u64,
    all_milli: u64,
    price_milli: Option<u64>,
}

impl Offer {
    fn with(self, other: Self) -> Self {
        Self {
            free_milli: self.free_milli + other.free_milli,
            all_milli: self.all_milli + other.all_milli,
            price_milli: self.price_milli.into_iter().chain(other.price_milli).min(),
        }
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
    let members =
        if choice.has_groups() { groups::members(&choice, question.policy) } else { vec![choice.clone()] };
    let ask = |choice: Choice| Ask { fit: filter::kinds_of(fleet, request, index, &choice), choice };
    let members: Vec<Vec<Ask>> =
        members.iter().map(|member| counts(fleet, member).into_iter().map(ask).collect()).collect();
    let states = fleet.states();
    let mut by_state: Vec<Option<Vec<Option<Offer>>>> = vec![None; states.len()];
    let mut able = Vec::new();
    for cluster in &fleet.inventory().clusters {
        let mut of_members: Vec<Option<Offer>> = vec![None; members.len()];
        let nodes = cluster.nodes.clone().map(NodeIdx::new);
        let could = |&node: &NodeIdx| filter::elsewhere(fleet.node(node), &choice).is_none_or(|misfit| misfit.is_passing);
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
            free_milli: of_members.iter().map(|offer| offer.free_milli).sum(),
            all_milli: of_members.iter().map(|offer| offer.all_milli).sum(),
            price_milli: of_members.iter().map(|offer| offer.price_milli).sum(),
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
    let (inventory, node) = (fleet.inventory(), fleet.node(at));
    let is_open = node.state == NodeState::Active;
    if asks.iter().any(|ask| ask.choice.is_cpu_only()) {
        let free = fleet.capacity().free_cpu_milli[at.at()].filter(|_| is_open);
        let offer = Offer {
            free_milli: free.unwrap_or(0),
            all_milli: node.cpu_milli.unwrap_or(0),
            price_milli: Some(0), // a price is that of devices
        };
        return node.taints.is_empty().then_some(offer);
    }
    let mut found: Option<Offer> = None;
    let fits: Vec<_> = asks.iter().map(|ask| filter::on_node(inventory, node, &ask.choice, &ask.fit)).collect();
    for run in &node.kinds {
        let is_fit = |fit: &[Option<Misfit>]| fit[run.kind.at()].is_none_or(|misfit| misfit.is_passing);
        let of_whole = asks.iter().zip(&fits).filter(|(_, fit)| is_fit(fit)).map(|(ask, _)| (ask, run.kind));
        let parts = inventory.cuts.get(&run.kind).map_or(&[][..], Vec::as_slice);
        let of_parts = asks.iter().filter(|ask| partition::is_for_partitions(&ask.choice)).flat_map(|ask| {
            let fit = |part: &&crate::units::KindIdx| {
                filter::kind_misfit(&inventory.kinds[part.at()], &ask.choice).is_none()
            };
            parts.iter().filter(fit).map(move |&part| (ask, part))
        });
        let (of_whole, of_parts): (Vec<_>, Vec<_>) = (of_whole.collect(), of_parts.collect());
        for device in run.devices.clone() {
            let may_be_cut = inventory.devices[device].may_be_cut;
            let ways = || of_whole.iter().chain(of_parts.iter().filter(|_| may_be_cut));
            if ways().next().is_none() {
                continue;
            }
            let cost = |(ask, kind): &(&Ask, crate::units::KindIdx)| {
                filter::cost_milli(&inventory.kinds[kind.at()], node, &ask.choice)
            };
            let free = if is_open { fleet.capacity().free_milli[device] } else { 0 };
            let here =
                Offer { free_milli: u64::from(free), all_milli: MILLI, price_milli: ways().filter_map(cost).min() };
            found = Some(found.map_or(here, |found| found.with(here)));
        }
    }
    found
}
