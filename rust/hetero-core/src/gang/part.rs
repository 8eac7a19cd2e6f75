//! What one node can give to a step over several.

use indexmap::IndexMap;

use crate::codes::Code;
use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::inventory::Inventory;
use crate::kind::Kind;
use crate::place::{Best, Question, for_each_candidate};
use crate::request::Choice;
use crate::score::Values;
use crate::tie::Tie;
use crate::units::NodeIdx;

/// Points are added up over the nodes of a gang as whole numbers of this, so that their order does not matter.
const NANO: f64 = 1e9;

/// The best devices of one node for its part.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Where, and the values of the part by itself.
    pub(crate) best: Best,
    /// What it adds to the score of a gang, in thousandths of a millionth of a point: pairs of devices on different nodes
    /// come on top.
    pub(crate) points: i64,
}

impl Part {
    /// The order of parts but for names: more points, then what decides between equal ones.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        other.points.cmp(&self.points).then(self.best.tie.cmp(&other.best.tie))
    }
}

/// The parts that nodes can give with devices of one model.
#[derive(Clone, Debug)]
pub(crate) struct OfModel {
    /// By state.
    by_state: IndexMap<usize, Part>,
}

impl OfModel {
    /// The part of a node; `None` when it can give none.
    pub(crate) fn on(&self, node: NodeIdx, fleet: &Fleet) -> Option<Part> {
        let part = self.by_state.get(&fleet.states().index(node))?;
        Some(Part { best: part.best.on(node, fleet), ..*part })
    }

    /// Points of a node's part, and what decides between it and others with as many.
    pub(crate) fn points(&self, node: NodeIdx, fleet: &Fleet) -> Option<(i64, Tie)> {
        self.by_state.get(&fleet.states().index(node)).map(|part| (part.points, part.best.tie))
    }
}

/// What each model of device can give, state by state.
pub(crate) fn of_each_model(
    fleet: &Fleet,
    choice: &Choice,
    fit: &[Option<Misfit>],
    question: &Question,
) -> Vec<OfModel> {
    let (inventory, states) = (fleet.inventory(), fleet.states());
    let models = fits_of_models(inventory, choice, fit);
    let mut found = vec![OfModel { by_state: IndexMap::new() }; models.len()];
    for node in states.representatives() {
        for (of_model, fit) in found.iter_mut().zip(&models) {
            let has_one = || fleet.node(node).kinds.iter().any(|run| fit[run.kind.at()].is_none());
            if (choice.is_cpu_only() || has_one())
                && let Some(part) = best_of_node(fleet, node, choice, fit, question)
            {
                of_model.by_state.insert(states.index(node), part);
            }
        }
    }
    found
}

/// The verdict on the kinds, model by model: as given for the kinds of one, and no for all others. One verdict of a step
/// that takes no device.
pub(crate) fn fits_of_models(
    inventory: &Inventory,
    choice: &Choice,
    fit: &[Option<Misfit>],
) -> Vec<Vec<Option<Misfit>>> {
    if choice.is_cpu_only() {
        return vec![fit.to_vec()];
    }
    let mut models: IndexMap<_, Vec<usize>> = IndexMap::new();
    for (at, kind) in inventory.kinds.iter().enumerate().filter(|(at, _)| fit[*at].is_none()) {
        models.entry(model_of(kind)).or_default().push(at);
    }
    let none = vec![Some(Misfit::of(Code::NotOffered)); fit.len()];
    let only = |kinds: Vec<usize>| {
        let mut only = none.clone();
        for at in kinds {
            only[at] = fit[at];
        }
        only
    };
    models.into_values().map(only).collect()
}

/// What devices of different nodes must have in common: all but the memory that they report.
fn model_of(kind: &Kind) -> impl Eq + std::hash::Hash + '_ {
    (
        &kind.sku,
        &kind.vendor,
        &kind.model,
        kind.class.map(crate::profile::Class::word),
        &kind.partition,
        kind.nominal_mib,
        kind.virtual_milli,
    )
}

/// The best part of every node that is meant, whatever the model, best first.
pub(crate) fn parts_of_each(fleet: &Fleet, choice: &Choice, fit: &[Option<Misfit>], question: &Question) -> Vec<Part> {
    let models = of_each_model(fleet, choice, fit, question);
    let nodes = (0..fleet.inventory().nodes.len()).map(NodeIdx::new);
    let meant = nodes.filter(|&node| filter::elsewhere(fleet.node(node), choice).is_none());
    let best = |node| models.iter().filter_map(|model| model.on(node, fleet)).min_by(Part::order);
    let mut all: Vec<Part> = meant.filter_map(best).collect();
    all.sort_by(Part::order); // stable: ties keep the order of the nodes
    all
}

fn best_of_node(
    fleet: &Fleet,
    node: NodeIdx,
    choice: &Choice,
    fit: &[Option<Misfit>],
    question: &Question,
) -> Option<Part> {
    let mut best: Option<Part> = None;
    for_each_candidate(fleet, node, choice, fit, question, |devices, values, tie| {
        let total = values.total(&question.weights);
        let here = Best { node, devices: devices.to_vec(), values, total, tie };
        let here = Part { points: points(&values, choice, question), best: here };
        let is_better = |other: &Part| here.order(other).then_with(|| here.best.ids(fleet).cmp(&other.best.ids(fleet)));
        if best.as_ref().is_none_or(|best| is_better(best).is_lt()) {
            best = Some(here);
        }
    });
    best
}

/// What a part adds to the score of its gang: its share of the means, and of the pairs those between its own devices.
#[allow(clippy::cast_possible_truncation)] // a score is 0 to 100
fn points(values: &Values, choice: &Choice, question: &Question) -> i64 {
    let weights = &question.weights;
    let of_devices = if choice.is_cpu_only() { 0 } else { weights.topology + weights.draw };
    let all = f64::from(weights.performance + weights.fragmentation + weights.power + of_devices);
    let nodes = f64::from(choice.peers + 1);
    let means = values.performance * f64::from(weights.performance)
        + values.fragmentation * f64::from(weights.fragmentation)
        + values.power * f64::from(weights.power)
        + values.draw.unwrap_or(0.0) * f64::from(weights.draw);
    let (own, total) = (pairs(choice.count), pairs(choice.total()));
    let nearness = values.topology.unwrap_or(0.0) * own as f64 / total.max(1) as f64 * f64::from(weights.topology);
    let points = (means / nodes + nearness) * 100.0 / all - values.penalty / nodes;
    (points * NANO).round() as i64
}

/// Pairs among so many.
pub(crate) fn pairs(of: u32) -> u64 {
    u64::from(of) * u64::from(of.saturating_sub(1)) / 2
}
