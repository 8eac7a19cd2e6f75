//! What groups get, as a placement and as a candidate.

use crate::decision::{GroupGrant, Note, Penalty, Placement, Reason, Term};
use crate::explain::Scored;
use crate::fleet::Fleet;
use crate::groups::{Joint, label, members};
use crate::place::{self, Question, granted, grants, pool_of};
use crate::request::{Choice, Request};
use crate::score::{self, Candidate, performance, round, topology};

/// The answer.
pub(crate) fn placement(
    joint: &Joint,
    fleet: &Fleet,
    request: &Request,
    question: &Question,
    index: usize,
    choice: &Choice,
    reasons: Vec<Reason>,
) -> Placement {
    let members = members(choice, question.policy);
    let of_first = place::placement(fleet, request, question, index, &members[0], &joint.parts[0], reasons);
    let groups: Vec<GroupGrant> = members
        .iter()
        .zip(&joint.parts)
        .enumerate()
        .map(|(at, (member, best))| GroupGrant {
            choice: u16::try_from(at).ok().and_then(|at| label(choice, at)).unwrap_or_default(),
            node: fleet.node(best.node).name.clone(),
            devices: grants(fleet, member, best),
            granted: granted(fleet, member, best),
            cpu_milli: member.cpu_milli,
            memory_mib: member.host_memory_mib,
            share_memory_mib: member.share_memory_mib.filter(|_| member.is_share()),
            bound: member.bound.filter(|_| member.is_share()),
            pool: pool_of(fleet, member, best),
        })
        .collect();
    Placement {
        choice: choice.label.clone(),
        score: round(joint.total),
        terms: terms(joint, fleet, &members, question),
        penalties: penalties(joint, fleet),
        nodes: joint.nodes().into_iter().map(|node| fleet.node(node).name.clone()).collect(),
        devices: groups.iter().flat_map(|group| group.devices.clone()).collect(),
        cpu_milli: groups.iter().map(|group| group.cpu_milli).sum(),
        memory_mib: groups.iter().map(|group| group.memory_mib).sum(),
        share_memory_mib: None,
        bound: None,
        pool: None,
        cut: None,
        notes: cross_node(joint, fleet).into_iter().collect(),
        groups,
        ..of_first
    }
}

/// One way as a candidate, under the name of its first node.
pub(crate) fn scored(joint: &Joint, fleet: &Fleet, choice: &Choice, question: &Question) -> Scored {
    let node = fleet.node(joint.parts[0].node);
    Scored {
        cluster: node.cluster.clone(),
        node: joint.nodes().into_iter().map(|node| fleet.node(node).name.clone()).collect::<Vec<_>>().join(", "),
        devices: joint.parts.iter().flat_map(|part| part.ids(fleet)).collect(),
        score: round(joint.total),
        terms: terms(joint, fleet, &members(choice, question.policy), question),
        penalties: penalties(joint, fleet),
    }
}

fn terms(joint: &Joint, fleet: &Fleet, members: &[Choice], question: &Question) -> Vec<Term> {
    joint.values.terms_with(question, |term| match term {
        "performance" => {
            let of_first = performance::why(fleet, &members[0], joint.parts[0].candidate(), question.policy);
            format!("mean of the groups, of the first: {of_first}")
        }
        "topology" => topology::words(&joint.pairs),
        "fragmentation" => {
            let devices = joint.values.lost.devices();
            format!("costs the {} mix {devices:.2} devices in all", fleet.mix().document.source)
        }
        "draw" => "mean of the groups".to_owned(),
        _ => headroom(joint, fleet),
    })
}

/// What is known of the power of the node with the least headroom, all groups on it together.
fn headroom(joint: &Joint, fleet: &Fleet) -> String {
    let tightest = joint.parts.iter().min_by(|a, b| a.values.power.total_cmp(&b.values.power));
    let node = tightest.map_or(joint.parts[0].node, |part| part.node);
    let here = joint.parts.iter().filter(|part| part.node == node);
    let mut devices: Vec<usize> = here.flat_map(|part| &part.devices).copied().collect();
    devices.sort_unstable();
    devices.dedup(); // two groups may share a device
    score::headroom(fleet, Candidate { node, devices: &devices })
}

/// What is taken off, once, however many groups lack headroom.
fn penalties(joint: &Joint, fleet: &Fleet) -> Vec<Penalty> {
    let points = -joint.values.penalty;
    let line = || Penalty { name: score::POWER_HEADROOM.to_owned(), points, why: headroom(joint, fleet) };
    (points < 0.0).then(line).into_iter().collect()
}

fn cross_node(joint: &Joint, fleet: &Fleet) -> Option<Note> {
    let nodes = joint.nodes();
    let same = |number: fn(&crate::domain::Domains) -> u32| {
        nodes.iter().all(|&node| number(&fleet.node(node).domains) == number(&fleet.node(nodes[0]).domains))
    };
    let place = if same(|domains| domains.switch) { "on one switch" } else { "in one rack" };
    (nodes.len() > 1).then(|| Note {
        code: "CROSS_NODE".to_owned(),
        text: format!("the groups lie on {} nodes {place}: no node has room for all of them", nodes.len()),
    })
}
