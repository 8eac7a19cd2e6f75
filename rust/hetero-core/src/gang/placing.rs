//! A gang as a placement.

use crate::decision::{Granted, Penalty, Placement, Reason};
use crate::fleet::Fleet;
use crate::gang::Gang;
use crate::place::{self, Question, grants};
use crate::request::{Choice, Request};
use crate::score::{self, performance, round, topology};

/// The answer.
pub(crate) fn placement(
    gang: &Gang,
    fleet: &Fleet,
    request: &Request,
    question: &Question,
    index: usize,
    part: &Choice,
    reasons: Vec<Reason>,
) -> Placement {
    let of_first = place::placement(fleet, request, question, index, part, &gang.parts[0].best, reasons);
    let inventory = fleet.inventory();
    let usable = |at: usize| inventory.kinds[inventory.devices[at].kind.at()].usable_mib;
    let least = gang.parts.iter().filter_map(|part| usable(*part.best.devices.first()?)).min();
    Placement {
        score: round(gang.total),
        terms: gang.values.terms_with(question, |term| why(term, gang, fleet, part, question)),
        penalties: penalties(gang, fleet, question),
        nodes: gang.parts.iter().map(|part| fleet.node(part.best.node).name.clone()).collect(),
        devices: gang.parts.iter().flat_map(|of_node| grants(fleet, part, &of_node.best)).collect(),
        granted: of_first.granted.map(|granted| Granted { memory_mib: least, ..granted }),
        ..of_first
    }
}

fn why(term: &str, gang: &Gang, fleet: &Fleet, part: &Choice, question: &Question) -> String {
    let first = gang.parts[0].best.candidate();
    match term {
        // The words of one node stand for all: a penalty says on how many it is so.
        "performance" => performance::why(fleet, part, first, question.policy),
        "topology" => topology::words(&gang.pairs),
        "fragmentation" => {
            let devices = gang.values.lost.devices();
            format!("mean of the nodes; costs the {} mix {devices:.2} devices in all", fleet.mix().document.source)
        }
        "draw" => score::draw::why(fleet, first),
        _ => score::headroom(fleet, first),
    }
}

/// What each node's penalty takes off, as their mean.
fn penalties(gang: &Gang, fleet: &Fleet, question: &Question) -> Vec<Penalty> {
    let of_nodes = gang.parts.iter().map(|part| score::penalties(fleet, part.best.candidate(), question.policy));
    let lines: Vec<Penalty> = of_nodes.flatten().collect();
    let Some(first) = lines.first() else { return Vec::new() };
    let nodes = gang.parts.len();
    let points = round(lines.iter().map(|line| line.points).sum::<f64>() / nodes as f64);
    let why = format!("on {} of {nodes} nodes, as: {}", lines.len(), first.why);
    vec![Penalty { points, why, ..first.clone() }]
}
