//! What all groups of a step get, judged as one.

use crate::codes::Code;
use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::place::{Best, Question};
use crate::request::Choice;
use crate::score::topology::{kind_of, sum};
use crate::score::{Values, fragmentation};
use crate::tie::Tie;
use crate::topology::{Distance, Pairs, distance, distance_of_nodes};
use crate::units::NodeIdx;
use crate::worth::Worth;

const NANO: f64 = 1e9;

/// One way to serve a choice and its groups.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    /// What each group gets, in their order; each is scored on what those before it left.
    pub(crate) parts: Vec<Best>,
    /// Of all together.
    pub(crate) values: Values,
    /// The score.
    pub(crate) total: f64,
    /// What decides between it and others of its score, over all groups.
    pub(crate) tie: Tie,
    /// Pairs of devices by distance, across groups too.
    pub(crate) pairs: Pairs,
}

impl Joint {
    /// Judges the parts together: performance and draw are means over the devices, what the mix loses adds up, and power is
    /// that of the part with the least headroom. Topology is the mean over all pairs of devices, of which those across
    /// groups count as often as the choice says.
    pub(crate) fn of(fleet: &Fleet, choice: &Choice, parts: Vec<Best>, question: &Question) -> Self {
        let devices: usize = parts.iter().map(|part| part.devices.len()).sum();
        let mean = |value: fn(&Values) -> f64| {
            let sum: f64 = parts.iter().map(|part| value(&part.values) * part.devices.len() as f64).sum();
            if devices == 0 { value(&parts[0].values) } else { sum / devices as f64 }
        };
        let lost = parts.iter().fold(Worth::default(), |lost, part| lost.plus(&part.values.lost));
        let values = Values {
            performance: mean(|values| values.performance),
            topology: topology(fleet, choice, &parts, question),
            fragmentation: fragmentation::value(lost.total() as f64),
            power: parts.iter().map(|part| part.values.power).fold(1.0, f64::min),
            draw: parts.iter().any(|part| part.values.draw.is_some()).then(|| mean(|v| v.draw.unwrap_or(0.0))),
            penalty: parts.iter().map(|part| part.values.penalty).fold(0.0, f64::max),
            lost,
        };
        let total = values.total(&question.weights);
        let nodes = nodes(&parts);
        let left =
            |node: &NodeIdx| parts.iter().filter(|part| part.node == *node).map(|part| part.tie.idle_milli).min();
        let tie = Tie {
            alike_milli: parts.iter().map(|part| part.tie.alike_milli).sum(),
            far_from_nic: parts.iter().map(|part| part.tie.far_from_nic).sum(),
            idle_milli: nodes.iter().filter_map(left).sum(),
        };
        let pairs = pairs(fleet, &parts);
        Self { parts, values, total, tie, pairs }
    }

    /// The nodes, each once, in the order of the groups.
    pub(crate) fn nodes(&self) -> Vec<NodeIdx> {
        nodes(&self.parts)
    }

    /// Whether the score is what the choice asks for.
    pub(crate) fn is_good(&self, choice: &Choice) -> bool {
        choice.min_score.is_none_or(|least| self.total >= f64::from(least))
    }

    /// The order of ways but for where they are: higher score, then what decides between equal ones.
    ///
    /// Scores are compared in millionths of a thousandth of a point, so that it does not matter in which order the groups
    /// were added up.
    #[allow(clippy::cast_possible_truncation)] // a score is 0 to 100
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        let points = |joint: &Self| (joint.total * NANO).round() as i64;
        points(other).cmp(&points(self)).then(self.tie.cmp(&other.tie))
    }

    /// Whether it is the better of two on one node.
    pub(crate) fn is_better_than(&self, other: &Self, fleet: &Fleet) -> bool {
        let ids = |joint: &Self| joint.parts.iter().map(|part| part.ids(fleet)).collect::<Vec<_>>();
        self.order(other).then_with(|| ids(self).cmp(&ids(other))).is_lt()
    }

    /// The same on a node in the same state; of a way that lies on one node.
    pub(crate) fn on(&self, node: NodeIdx, fleet: &Fleet) -> Self {
        Self { parts: self.parts.iter().map(|part| part.on(node, fleet)).collect(), ..self.clone() }
    }
}

/// The ceiling of all groups together that their parts are over.
pub(crate) fn over_ceiling(fleet: &Fleet, choice: &Choice, members: &[Choice], parts: &[Best]) -> Option<Misfit> {
    let inventory = fleet.inventory();
    let with_devices = || members.iter().zip(parts).filter(|(_, part)| !part.devices.is_empty());
    let kind = |part: &Best| &inventory.kinds[inventory.devices[part.devices[0]].kind.at()];
    let over = |code: Code, ceiling: Option<u64>, amount: &dyn Fn(&Choice, &Best) -> Option<u64>| {
        let ceiling = ceiling?;
        let have = with_devices().map(|(member, part)| amount(member, part)).sum::<Option<u64>>();
        let misfit = Misfit { have, want: Some(ceiling), ..Misfit::of(code) };
        have.is_none_or(|have| have > ceiling).then_some(misfit)
    };
    let power = |member: &Choice, part: &Best| filter::board_power_mw(kind(part), member);
    let cost = |member: &Choice, part: &Best| filter::cost_milli(kind(part), fleet.node(part.node), member);
    over(Code::PowerBudget, choice.power_ceiling_mw, &power)
        .or_else(|| over(Code::CostCeiling, choice.cost_ceiling_milli, &cost))
}

fn nodes(parts: &[Best]) -> Vec<NodeIdx> {
    let mut nodes: Vec<NodeIdx> = Vec::new();
    for part in parts {
        if !nodes.contains(&part.node) {
            nodes.push(part.node);
        }
    }
    nodes
}

/// Nearness over all pairs of devices; `None` for fewer than two.
fn topology(fleet: &Fleet, choice: &Choice, parts: &[Best], question: &Question) -> Option<f64> {
    let across = u64::from(choice.affinity_weight.unwrap_or(1));
    let (mut value, mut weight) = (0.0, 0);
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| !part.devices.is_empty()) {
        let kind = kind_of(fleet, part.candidate());
        let own = Pairs::count(&fleet.inventory().devices, &part.devices);
        let others = parts[at + 1..].iter().fold(Pairs::default(), |mut pairs, other| {
            pairs.add_all(&between(fleet, part, other));
            pairs
        });
        value += sum(&own, kind, question.weights.numa_penalty_milli);
        value += sum(&others, kind, question.weights.numa_penalty_milli) * across as f64;
        weight += own.all() + others.all() * across;
    }
    (weight > 0).then(|| value / weight as f64)
}

fn pairs(fleet: &Fleet, parts: &[Best]) -> Pairs {
    let mut pairs = Pairs::default();
    for (at, part) in parts.iter().enumerate() {
        pairs.add_all(&Pairs::count(&fleet.inventory().devices, &part.devices));
        parts[at + 1..].iter().for_each(|other| pairs.add_all(&between(fleet, part, other)));
    }
    pairs
}

/// Pairs of a device of one group and one of another.
fn between(fleet: &Fleet, a: &Best, b: &Best) -> Pairs {
    let (mut pairs, devices) = (Pairs::default(), &fleet.inventory().devices);
    let of_nodes: Option<Distance> =
        (a.node != b.node).then(|| distance_of_nodes(&fleet.node(a.node).domains, &fleet.node(b.node).domains));
    for &one in &a.devices {
        for &other in &b.devices {
            pairs.add(of_nodes.unwrap_or_else(|| distance(&devices[one], &devices[other])), 1);
        }
    }
    pairs
}
