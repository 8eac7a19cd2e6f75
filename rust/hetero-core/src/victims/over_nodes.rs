//! What would have to end so that a choice fits over several nodes of one cluster, all of them or none.

use std::collections::BTreeMap;

use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::gang;
use crate::request::Choice;
use crate::units::NodeIdx;
use crate::victims::least::{Effort, Table};
use crate::victims::on_node::Sought;
use crate::victims::party::{Cost, Party};
use crate::victims::region::Region;
use crate::victims::{Ask, Best, Rank, freed};

/// Nodes that are looked at in all for sets of parties of one cluster: which of them open.
const MOST_LOOKED_AT: usize = 200_000;
/// The same where the whole gang is looked for each time: to leave out what is not needed, and to find what is less.
const MOST_SEARCHED: Effort = Effort { sparing: 40_000, walking: 6_000 };

/// Looks at every model in every cluster; at every cluster as a whole where nodes are under a budget of power, which they
/// may share.
pub(super) fn search<'a>(ask: Ask<'a>, part: &Choice, trial: &mut Fleet, best: &mut Best<'a>) {
    let inventory = ask.fleet.inventory();
    let fit = filter::kinds_of(ask.fleet, ask.request, ask.index, part);
    let models = gang::fits_of_models(inventory, part, &fit);
    let mut number = 0;
    for cluster in clusters(ask.fleet, part) {
        let is_under_budget = cluster.iter().any(|&node| ask.fleet.node(node).is_under_budget());
        if is_under_budget && !part.may_cap_power {
            let rank = Rank { index: ask.index, peers: part.peers, number };
            under_budget(ask, (part, &models), &cluster, rank, trial, best);
            number += 1;
            continue;
        }
        for fit in &models {
            let sought = Sought { choice: part, fit };
            let rank = Rank { index: ask.index, peers: part.peers, number };
            number += 1;
            if let Some(region) = Region::of(ask, sought, &cluster, trial) {
                by_nodes(ask, &region, sought, rank, trial, best);
            }
        }
    }
}

/// The nodes that are meant, cluster by cluster.
fn clusters(fleet: &Fleet, part: &Choice) -> Vec<Vec<NodeIdx>> {
    let mut clusters: BTreeMap<u32, Vec<NodeIdx>> = BTreeMap::new();
    let nodes = (0..fleet.inventory().nodes.len()).map(NodeIdx::new);
    for node in nodes.filter(|&node| filter::elsewhere(fleet.node(node), part).is_none()) {
        clusters.entry(fleet.node(node).domains.cluster).or_default().push(node);
    }
    clusters.into_values().collect()
}

/// Counts the nodes that open.
fn by_nodes<'a>(
    ask: Ask<'a>,
    region: &Region<'a>,
    sought: Sought<'_>,
    rank: Rank,
    trial: &mut Fleet,
    best: &mut Best<'a>,
) {
    let (limit, bound) = (best.limit(rank), region.bound());
    let table = Table::new(&region.parties, (&region.opens, region.missing), bound, true);
    if !limit.admits(table.bound()) {
        return;
    }
    let mut known = BTreeMap::new();
    let first = region.greedy(region.missing, &mut |ending| region.opened(ending, sought, trial, &mut known));
    let effort = Effort { sparing: usize::MAX, walking: MOST_LOOKED_AT / region.nodes() };
    let (least, is_least) = table.least(first, effort, limit, &mut |ending| {
        region.opened(ending, sought, trial, &mut known).len() >= region.missing
    });
    let placed = least.map(|least| {
        let ending: Vec<&Party> = least.chosen.iter().map(|&at| region.parties[at]).collect();
        let nodes = nodes(ask, sought.choice, &mut ask.fleet.trial_with_states(), &ending);
        nodes.map(|nodes| (least, nodes))
    });
    let is_placed = placed.as_ref().is_none_or(Option::is_some);
    best.take(rank, table.bound(), &region.parties, placed.flatten(), is_least && is_placed);
}

/// Searches for the whole gang each time. What opens enough nodes, were there power for all together, is tried first; then
/// what opens more.
fn under_budget<'a>(
    ask: Ask<'a>,
    (part, models): (&Choice, &[Vec<Option<Misfit>>]),
    cluster: &[NodeIdx],
    rank: Rank,
    trial: &mut Fleet,
    best: &mut Best<'a>,
) {
    let parties = ask.fleet.inventory().parties().below_on(ask.priority, in_cluster(ask.fleet, cluster));
    let opens = vec![0; parties.len()];
    let table = Table::new(&parties, (&opens, 0), Cost::default(), false);
    let limit = best.limit(rank);
    if !limit.admits(table.bound()) {
        return;
    }
    let whole = &mut ask.fleet.trial_with_states();
    let first = models.iter().find_map(|fit| {
        let sought = Sought { choice: part, fit };
        let region = Region::of(ask, sought, cluster, trial)?;
        let mut known = BTreeMap::new();
        region.needs().find_map(|need| {
            let chosen = region.greedy(need, &mut |ending| region.opened(ending, sought, trial, &mut known));
            let ending: Vec<&Party> = chosen.iter().map(|&at| region.parties[at]).collect();
            nodes(ask, part, whole, &ending)?;
            Some(places(&parties, &ending))
        })
    });
    let each = |most: usize| most / cluster.len();
    let effort = Effort { sparing: each(MOST_SEARCHED.sparing), walking: each(MOST_SEARCHED.walking) };
    let (least, is_least) =
        table.least(first.unwrap_or_default(), effort, limit, &mut |ending| nodes(ask, part, whole, ending).is_some());
    let placed = least.and_then(|least| {
        let ending: Vec<&Party> = least.chosen.iter().map(|&at| parties[at]).collect();
        let nodes = nodes(ask, part, whole, &ending)?;
        Some((least, nodes))
    });
    best.take(rank, table.bound(), &parties, placed, is_least);
}

/// Where some of the parties stand among all.
fn places(parties: &[&Party], some: &[&Party]) -> Vec<usize> {
    let is_one = |at: &usize| some.iter().any(|party| party.place == parties[*at].place);
    (0..parties.len()).filter(is_one).collect()
}

/// All nodes of a cluster, meant or not: what ends on one may leave power to another.
fn in_cluster<'a>(fleet: &'a Fleet, cluster: &[NodeIdx]) -> impl Iterator<Item = NodeIdx> + use<'a> {
    let of = |node: NodeIdx| fleet.node(node).domains.cluster;
    let here = cluster.first().map(|&node| of(node));
    (0..fleet.inventory().nodes.len()).map(NodeIdx::new).filter(move |&node| Some(of(node)) == here)
}

/// The nodes that a choice goes to once parties ended; `None` where it still does not fit.
fn nodes(ask: Ask<'_>, part: &Choice, trial: &mut Fleet, ending: &[&Party]) -> Option<Vec<NodeIdx>> {
    let given = freed::everywhere(trial, ending);
    let found = trial.with_given(&given, |trial| gang::best(trial, ask.request, ask.index, part, ask.question));
    Some(found.gang?.parts.iter().map(|part| part.best.node).collect())
}
