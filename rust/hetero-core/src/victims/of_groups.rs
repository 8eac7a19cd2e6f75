//! What would have to end so that all groups of a choice fit, on one node or on near ones.

use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::groups;
use crate::reason::refusal;
use crate::request::{Choice, Nearness};
use crate::units::NodeIdx;
use crate::victims::least::{MOST_TRIED, Table};
use crate::victims::on_node::{Site, Sought};
use crate::victims::party::{Cost, Party};
use crate::victims::{Ask, Best, Rank, freed};

/// Questions about sets of parties of one place, where all sets are tried.
const MOST_ASKED: usize = 5000;

/// What one group asks, and of which kinds.
struct Member<'b> {
    choice: &'b Choice,
    fit: Vec<Option<Misfit>>,
}

/// Looks at every node alone, then at the nodes of one switch and of one rack, as the choice allows.
pub(super) fn search<'a>(ask: Ask<'a>, choice: &Choice, trial: &mut Fleet, best: &mut Best<'a>) {
    let Ask { fleet, request, index, question, .. } = ask;
    let choices = &groups::members(choice, question.policy);
    let asked = groups::Ask { request, index, choice, members: choices, question };
    let fit = |choice| filter::kinds_of(fleet, request, index, choice);
    let members: Vec<Member<'_>> = choices.iter().map(|choice| Member { choice, fit: fit(choice) }).collect();
    let places = places(fleet, choice).into_iter().enumerate();
    let bounded = places.filter_map(|(number, nodes)| Some((bound(ask, &members, &nodes)?, number, nodes)));
    let mut bounded: Vec<(Cost, usize, Vec<NodeIdx>)> = bounded.collect();
    bounded.sort_unstable();
    for (bound, number, nodes) in bounded {
        let rank = Rank { index, peers: 0, number };
        let limit = best.limit(rank);
        if !limit.admits(bound) {
            continue;
        }
        let is_under_budget = !choice.may_cap_power && nodes.iter().any(|&node| fleet.node(node).is_under_budget());
        let parties = fleet.inventory().parties().below_on(ask.priority, feeding(fleet, &nodes));
        let opens = vec![0; parties.len()];
        let table = Table::new(&parties, (&opens, 0), bound, !is_under_budget);
        let most_asked = if parties.len() <= MOST_TRIED { MOST_ASKED } else { 0 };
        let mut fits = |ending: &[&Party]| {
            let given = freed::everywhere(trial, ending);
            trial.with_given(&given, |trial| groups::fits_on(trial, asked, &nodes))
        };
        let (least, is_least) = table.least(Vec::new(), most_asked, limit, &mut |ending| fits(ending).is_some());
        let found = least.and_then(|least| {
            let ending: Vec<&Party> = least.chosen.iter().map(|&at| parties[at]).collect();
            let nodes = fits(&ending)?;
            Some((least, nodes))
        });
        best.take(rank, table.bound(), &parties, found, is_least);
    }
}

/// Sets of nodes that all groups may lie on together.
fn places(fleet: &Fleet, choice: &Choice) -> Vec<Vec<NodeIdx>> {
    let nodes = (0..fleet.inventory().nodes.len()).map(NodeIdx::new);
    let meant = nodes.filter(|&node| filter::elsewhere(fleet.node(node), choice).is_none());
    let mut places: Vec<Vec<NodeIdx>> = meant.map(|node| vec![node]).collect();
    let allowed = choice.nearness.unwrap_or(Nearness::Node);
    for level in [Nearness::Switch, Nearness::Rack].into_iter().filter(|level| *level <= allowed) {
        places.extend(groups::domains(fleet, choice, level).into_values().filter(|nodes| nodes.len() > 1));
    }
    places
}

/// The nodes and those that share a budget of power with them: what ends on one may leave power to another.
fn feeding<'a>(fleet: &'a Fleet, nodes: &'a [NodeIdx]) -> impl Iterator<Item = NodeIdx> + use<'a> {
    let racks = nodes.iter().filter_map(|&node| fleet.node(node).rack);
    let beside = racks.flat_map(|rack| &fleet.inventory().racks[rack].nodes);
    nodes.iter().chain(beside).copied()
}

/// No set that makes room on these nodes costs less: each group must find a node that it fits on alone. `None` where one
/// finds none, whoever ends.
fn bound(ask: Ask<'_>, members: &[Member<'_>], nodes: &[NodeIdx]) -> Option<Cost> {
    let of_member = |member: &Member<'_>| nodes.iter().filter_map(|&node| alone(ask, member, node)).min();
    members.iter().map(of_member).try_fold(Cost::default(), |most, cost| Some(most.max(cost?)))
}

/// What it costs at least that one group alone fits on a node.
fn alone(ask: Ask<'_>, member: &Member<'_>, node: NodeIdx) -> Option<Cost> {
    let refused = refusal(ask.fleet, node, member.choice, &member.fit);
    if refused.is_none_or(|refusal| refusal.is_permanent) {
        return refused.is_none().then(Cost::default);
    }
    let parties = ask.fleet.inventory().parties().below_on(ask.priority, std::iter::once(node));
    let sought = Sought { choice: member.choice, fit: &member.fit };
    Site::of(ask.fleet, node, parties, sought).map(|site| site.opening.bound)
}
