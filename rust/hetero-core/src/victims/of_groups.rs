//! What would have to end so that all groups of a choice fit, on one node or on near ones.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::groups;
use crate::reason::refusal;
use crate::request::{Choice, Nearness};
use crate::units::NodeIdx;
use crate::victims::least::{Effort, MOST_TRIED, Table};
use crate::victims::on_node::{Site, Sought};
use crate::victims::party::{Cost, Party};
use crate::victims::{Ask, Best, Rank, freed};

/// Questions about sets of parties of one place: to leave out what is not needed, and, of few parties, to try all sets.
const MOST_ASKED: Effort = Effort { sparing: 2000, walking: 5000 };

/// What one group asks, and of which kinds.
struct Member<'b> {
    choice: Cow<'b, Choice>,
    fit: Vec<Option<Misfit>>,
}

impl<'b> Member<'b> {
    fn sought(&'b self) -> Sought<'b> {
        Sought { choice: &self.choice, fit: &self.fit }
    }
}

/// Looks at every node alone, then at the nodes of one switch and of one rack, as the choice allows.
pub(super) fn search<'a>(ask: Ask<'a>, choice: &Choice, trial: &mut Fleet, best: &mut Best<'a>) {
    let Ask { fleet, request, index, question, .. } = ask;
    let choices = &groups::members(choice, question.policy);
    let asked = groups::Ask { request, index, choice, members: choices, question };
    let fit = |choice| filter::kinds_of(fleet, request, index, choice);
    let member = |choice| Member { choice: Cow::Borrowed(choice), fit: fit(choice) };
    let members: Vec<Member<'_>> = choices.iter().map(member).collect();
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
        let walking = if parties.len() <= MOST_TRIED { MOST_ASKED.walking } else { 0 };
        let effort = Effort { walking, ..MOST_ASKED };
        let mut fits = |ending: &[&Party]| {
            let given = freed::everywhere(trial, ending);
            trial.with_given(&given, |trial| groups::fits_on(trial, asked, &nodes))
        };
        let first = first(ask, &members, &nodes, &parties);
        let (least, is_least) = table.least(first, effort, limit, &mut |ending| fits(ending).is_some());
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
///
/// On one node, as many devices as all of them take whole must open together.
fn bound(ask: Ask<'_>, members: &[Member<'_>], nodes: &[NodeIdx]) -> Option<Cost> {
    let of_member = |member: &Member<'_>| Some(cheapest(ask, member, nodes)?.0);
    let each = members.iter().map(of_member).try_fold(Cost::default(), |most, cost| Some(most.max(cost?)))?;
    let [node] = nodes else { return Some(each) };
    Some(site(ask, &together(members), *node)?.opening.bound.max(each))
}

/// All groups of whole devices as if they were one: any of their devices will do for it.
fn together<'b>(members: &[Member<'b>]) -> Member<'b> {
    let whole = || members.iter().filter(|member| !member.choice.is_share() && !member.choice.is_cpu_only());
    let first = whole().next().unwrap_or(&members[0]);
    let choice = first.choice.with_count(whole().map(|member| member.choice.count).sum());
    let fits_one = |kind: usize| whole().find(|member| member.fit[kind].is_none());
    let fit = (0..first.fit.len()).map(|kind| fits_one(kind).map_or(first.fit[kind], |_| None)).collect();
    Member { choice: Cow::Owned(choice), fit }
}

/// What may end on a node so that a group finds its devices there.
fn site<'a>(ask: Ask<'a>, member: &Member<'_>, node: NodeIdx) -> Option<Site<'a>> {
    let parties = ask.fleet.inventory().parties().below_on(ask.priority, std::iter::once(node));
    Site::of(ask.fleet, node, parties, member.sought())
}

/// Parties whose end may make room, by their places: for each group those that hold devices where it costs least alone,
/// and on one node those that hold as many as all groups take.
fn first(ask: Ask<'_>, members: &[Member<'_>], nodes: &[NodeIdx], parties: &[&Party]) -> Vec<usize> {
    let each = members.iter().filter_map(|member| cheapest(ask, member, nodes)?.1);
    let joined = if let [node] = nodes { site(ask, &together(members), *node) } else { None };
    let sites = each.chain(joined);
    let holding = |site: Site<'_>| {
        let costs: Vec<Cost> = site.parties.iter().map(|party| party.cost).collect();
        site.opening.cover(&costs).into_iter().map(|at| site.parties[at].place).collect::<Vec<_>>()
    };
    let ends: BTreeSet<usize> = sites.flat_map(holding).collect();
    (0..parties.len()).filter(|&at| ends.contains(&parties[at].place)).collect()
}

/// What it costs at least that one group alone fits on one of the nodes, and what may end on that node, if any must.
fn cheapest<'a>(ask: Ask<'a>, member: &Member<'_>, nodes: &[NodeIdx]) -> Option<(Cost, Option<Site<'a>>)> {
    nodes.iter().filter_map(|&node| alone(ask, member, node)).min_by_key(|(cost, _)| *cost)
}

fn alone<'a>(ask: Ask<'a>, member: &Member<'_>, node: NodeIdx) -> Option<(Cost, Option<Site<'a>>)> {
    let refused = refusal(ask.fleet, node, &member.choice, &member.fit);
    if refused.is_none_or(|refusal| refusal.is_permanent) {
        return refused.is_none().then(|| (Cost::default(), None));
    }
    site(ask, member, node).map(|site| (site.opening.bound, Some(site)))
}
