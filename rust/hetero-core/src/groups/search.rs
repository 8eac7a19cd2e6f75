//! Where groups go: group after group, on what those before it leave.

use std::collections::BTreeMap;

use crate::codes::Code;
use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::groups::joint::over_ceiling;
use crate::groups::{Joint, members};
use crate::hold::Hold;
use crate::place::{Best, Question, for_each_candidate};
use crate::reason::refusal;
use crate::request::{Choice, Nearness, Request};
use crate::units::NodeIdx;

/// Ways that are tried on one node, or within one switch or rack; the best so far stands then.
const MAX_TRIED: usize = 4096;

/// What is asked, and by whom.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) request: &'a Request,
    pub(crate) index: usize,
    pub(crate) choice: &'a Choice,
    pub(crate) members: &'a [Choice],
    pub(crate) question: &'a Question,
}

/// What a search has come to.
#[derive(Default)]
struct Progress {
    tried: usize,
    best: Option<Joint>,
    /// The furthest that was reached: which group found no place, and why.
    missed: Option<(usize, Misfit)>,
}

impl Progress {
    fn miss(&mut self, group: usize, misfit: Misfit) {
        if self.missed.is_none_or(|missed| missed < (group, misfit)) {
            self.missed = Some((group, misfit));
        }
    }
}

/// The best way to serve a choice and its groups now.
pub(crate) fn best(
    fleet: &Fleet,
    request: &Request,
    index: usize,
    choice: &Choice,
    question: &Question,
) -> Option<Joint> {
    let members = &members(choice, question.policy);
    let ask = Ask { request, index, choice, members, question };
    let trial = &mut fleet.trial();
    let mut best: Option<Joint> = None;
    for node in fleet.states().representatives_of(|node| filter::elsewhere(fleet.node(node), choice).is_none()) {
        if let Ok(joint) = on_node(trial, ask, node)
            && best.as_ref().is_none_or(|best| joint.order(best).is_lt())
        {
            best = Some(joint);
        }
    }
    best.or_else(|| across(fleet, trial, ask))
}

/// The best way on one node, or the group that finds no place there and why. `trial` is as it was afterwards.
pub(crate) fn on_node(trial: &mut Fleet, ask: Ask<'_>, node: NodeIdx) -> Result<Joint, Misfit> {
    let mut progress = Progress::default();
    descend(trial, ask, &[node], &mut Vec::new(), false, &mut progress);
    progress.best.ok_or_else(|| {
        let (group, misfit) = progress.missed.unwrap_or((ask.members.len(), Misfit::of(Code::GroupsApart)));
        let is_of_one = group < ask.members.len();
        Misfit { group: u16::try_from(group).ok().filter(|_| is_of_one), ..misfit }
    })
}

/// The nodes of the first way found on these nodes, whatever it scores. `trial` is as it was afterwards.
pub(crate) fn fits_on(trial: &mut Fleet, ask: Ask<'_>, nodes: &[NodeIdx]) -> Option<Vec<NodeIdx>> {
    let mut progress = Progress::default();
    descend(trial, ask, nodes, &mut Vec::new(), true, &mut progress);
    progress.best.map(|joint| joint.nodes())
}

/// The best way over nodes that are as near as the choice asks: on one switch, else in one rack.
fn across(fleet: &Fleet, trial: &mut Fleet, ask: Ask<'_>) -> Option<Joint> {
    let allowed = ask.choice.nearness.unwrap_or(Nearness::Node);
    let levels = [Nearness::Switch, Nearness::Rack].into_iter().filter(|level| *level <= allowed);
    levels.into_iter().find_map(|level| {
        let mut best: Option<Joint> = None;
        for nodes in domains(fleet, ask.choice, level).values().filter(|nodes| nodes.len() > 1) {
            let mut progress = Progress::default();
            descend(trial, ask, nodes, &mut Vec::new(), true, &mut progress);
            if let Some(joint) = progress.best
                && best.as_ref().is_none_or(|best| joint.order(best).is_lt())
            {
                best = Some(joint);
            }
        }
        best
    })
}

/// The nodes that are meant, by switch or rack; those of the first node come first.
pub(crate) fn domains(fleet: &Fleet, choice: &Choice, level: Nearness) -> BTreeMap<u32, Vec<NodeIdx>> {
    let mut domains: BTreeMap<u32, Vec<NodeIdx>> = BTreeMap::new();
    let nodes = (0..fleet.inventory().nodes.len()).map(NodeIdx::new);
    for node in nodes.filter(|&node| filter::elsewhere(fleet.node(node), choice).is_none()) {
        let of = &fleet.node(node).domains;
        domains.entry(if level == Nearness::Switch { of.switch } else { of.rack }).or_default().push(node);
    }
    domains
}

/// Places the groups that are left after `parts` on the nodes, in every way, or until the first way is found.
fn descend(
    trial: &mut Fleet,
    ask: Ask<'_>,
    nodes: &[NodeIdx],
    parts: &mut Vec<Best>,
    is_first_enough: bool,
    progress: &mut Progress,
) {
    let group = parts.len();
    let Some(member) = ask.members.get(group) else {
        progress.tried += 1;
        if let Some(misfit) = over_ceiling(trial, ask.choice, ask.members, parts) {
            progress.miss(group, misfit);
            return;
        }
        let joint = Joint::of(trial, ask.choice, parts.clone(), ask.question);
        if progress.best.as_ref().is_none_or(|best| joint.is_better_than(best, trial)) {
            progress.best = Some(joint);
        }
        return;
    };
    let mut options = options(trial, ask, member, nodes, group, progress);
    if is_first_enough {
        let is_apart = |option: &Best| parts.iter().all(|part| part.node != option.node);
        let order =
            |a: &Best, b: &Best| is_apart(a).cmp(&is_apart(b)).then_with(|| a.order(b)).then(a.node.cmp(&b.node));
        options.sort_by(|a, b| order(a, b).then_with(|| a.ids(trial).cmp(&b.ids(trial))));
    }
    for option in options {
        if progress.tried >= MAX_TRIED || (is_first_enough && progress.best.is_some()) {
            return;
        }
        let hold = hold(trial, member, &option, ask.request.team.clone());
        parts.push(option);
        let taken = trial.with_taken(&hold, |trial| descend(trial, ask, nodes, parts, is_first_enough, progress));
        parts.pop();
        debug_assert!(taken.is_some(), "a candidate is free");
    }
}

/// Every way to serve one group on the nodes as they are.
fn options(
    trial: &Fleet,
    ask: Ask<'_>,
    member: &Choice,
    nodes: &[NodeIdx],
    group: usize,
    progress: &mut Progress,
) -> Vec<Best> {
    let fit = filter::kinds_of(trial, ask.request, ask.index, member);
    let mut options = Vec::new();
    for &node in nodes {
        let before = options.len();
        for_each_candidate(trial, node, member, &fit, ask.question, |devices, values, tie| {
            let total = values.total(&ask.question.weights);
            options.push(Best { node, devices: devices.to_vec(), values, total, tie });
        });
        if options.len() == before {
            progress.tried += 1; // a dead end costs as much as a way
            let misfit = refusal(trial, node, member, &fit).map_or(Misfit::of(Code::GroupsApart), |r| r.misfit);
            progress.miss(group, misfit);
        }
    }
    options
}

/// What a group takes.
pub(crate) fn hold(fleet: &Fleet, member: &Choice, best: &Best, team: Option<String>) -> Hold {
    let inventory = fleet.inventory();
    let share = |&at: &usize| inventory.kinds[inventory.devices[at].kind.at()].share_for(member);
    Hold {
        node: best.node,
        devices: best.devices.clone(),
        share_milli: best.devices.first().map_or(0, share),
        share_memory_mib: member.share_memory_mib,
        bound: member.bound,
        cpu_milli: member.cpu_milli,
        memory_mib: member.host_memory_mib,
        team,
        pool: fleet.pools().charged(fleet.node(best.node), member),
    }
}
