//! What would have to end so that a choice fits over several nodes of one cluster, all of them or none.

use std::collections::BTreeMap;

use crate::filter;
use crate::fleet::Fleet;
use crate::gang;
use crate::request::Choice;
use crate::units::NodeIdx;
use crate::victims::least::{Limit, Table};
use crate::victims::on_node::Sought;
use crate::victims::party::{Cost, Party};
use crate::victims::region::Region;
use crate::victims::{Ask, Best, Rank, freed};

/// Questions about sets of parties of one cluster: which nodes open, looked up one by one.
const MOST_ASKED: usize = 20_000;
/// The same where the whole gang is looked for each time.
const MOST_SEARCHED: usize = 600;

/// Looks at every model in every cluster; at every cluster as a whole where nodes are under a budget of power, which they
/// may share.
pub(super) fn search<'a>(ask: Ask<'a>, part: &Choice, trial: &mut Fleet, best: &mut Best<'a>) {
    let inventory = ask.fleet.inventory();
    let fit = filter::kinds_of(ask.fleet, ask.request, ask.index, part);
    let models = gang::fits_of_models(inventory, &fit);
    let mut number = 0;
    for cluster in clusters(ask.fleet, part) {
        let is_under_budget = cluster.iter().any(|&node| ask.fleet.node(node).is_under_budget());
        if is_under_budget && !part.may_cap_power {
            under_budget(ask, part, &cluster, Rank { index: ask.index, peers: part.peers, number }, best);
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
    let first = region.greedy(&mut |ending| region.opened(ending, sought, trial, &mut known));
    let (least, is_least) = table.least(first, MOST_ASKED, limit, &mut |ending| {
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

/// Searches for the whole gang each time.
fn under_budget<'a>(ask: Ask<'a>, part: &Choice, cluster: &[NodeIdx], rank: Rank, best: &mut Best<'a>) {
    let parties = ask.fleet.inventory().parties().below_on(ask.priority, in_cluster(ask.fleet, cluster));
    let opens = vec![0; parties.len()];
    let table = Table::new(&parties, (&opens, 0), Cost::default(), false);
    let limit: Limit = best.limit(rank);
    if !limit.admits(table.bound()) {
        return;
    }
    let trial = &mut ask.fleet.trial_with_states();
    let (least, is_least) =
        table.least(Vec::new(), MOST_SEARCHED, limit, &mut |ending| nodes(ask, part, trial, ending).is_some());
    let placed = least.and_then(|least| {
        let ending: Vec<&Party> = least.chosen.iter().map(|&at| parties[at]).collect();
        let nodes = nodes(ask, part, trial, &ending)?;
        Some((least, nodes))
    });
    best.take(rank, table.bound(), &parties, placed, is_least);
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
