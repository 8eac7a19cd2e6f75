//! The device to cut for a step that no existing partition serves: idle, healthy, whole, in a pool that allows it.
//!
//! The layout serves the step and, beyond that, the mix as well as it can. Of all devices the one is cut that leaves the
//! best score; what the cut costs the mix is what taking the whole device would, since nobody else can have it whole then.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::codes::Code;
use crate::decision::{Cut, CutPart, Note, Placement, Reason};
use crate::document::NodeState;
use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::partition::geometry;
use crate::partition::layout::{Expected, Reach};
use crate::partition::stock::{Chosen, Stock};
use crate::place::{self, Best, Question, best_of_node, trace_id};
use crate::request::{Choice, Request, ShareMode};
use crate::score::{Before, Candidate, fragmentation};
use crate::units::{KindIdx, NodeIdx, WHOLE_MILLI};

/// No node has more devices.
const MOST_DEVICES: u32 = 1024;
const NOTE: &str = "CUT_FIRST";

/// A device, how it would be cut, and what the step would have of it.
pub(super) struct Found {
    at: usize,
    parts: Vec<CutPart>,
    best: Best,
}

/// Looks for cuts for one choice, on a copy that is made once.
pub(super) struct Search<'a> {
    fleet: &'a Fleet,
    request: &'a Request,
    question: &'a Question,
    index: usize,
    choice: &'a Choice,
    fit: Vec<Option<Misfit>>,
    stocks: IndexMap<KindIdx, Option<Stock<'a>>>,
    chosen: IndexMap<KindIdx, Option<Chosen>>,
    trial: Option<Fleet>,
}

/// Whether a choice takes partitions, all on one node, whatever their kind.
pub(crate) fn is_for_partitions(choice: &Choice) -> bool {
    let is_named = choice.names.iter().any(|name| name.partition.is_some());
    let is_simple = choice.count > 0 && choice.peers == 0 && choice.units_milli.is_none() && !choice.has_groups();
    (is_named || choice.share_mode == Some(ShareMode::Mig)) && is_simple
}

/// Places a choice on a partition that a cut makes; `None` where no device that may be cut serves it. Of a range as many
/// partitions as one cut gives.
pub(crate) fn placement(
    fleet: &Fleet,
    request: &Request,
    question: &Question,
    index: usize,
    choice: &Choice,
    reasons: &[Reason],
) -> Option<Placement> {
    if fleet.inventory().cuts.is_empty() || !is_for_partitions(choice) {
        return None;
    }
    let most = request.choices[index].count_ceiling.unwrap_or(choice.count).clamp(choice.count, MOST_DEVICES);
    (choice.count..=most).rev().find_map(|count| {
        let choice = &choice.with_count(count);
        Search::new(fleet, request, index, choice, question).placement(reasons)
    })
}

impl<'a> Search<'a> {
    pub(super) fn new(
        fleet: &'a Fleet,
        request: &'a Request,
        index: usize,
        choice: &'a Choice,
        question: &'a Question,
    ) -> Self {
        let fit = filter::kinds_of(fleet, request, index, choice);
        let (stocks, chosen) = (IndexMap::new(), IndexMap::new());
        Self { fleet, request, question, index, choice, fit, stocks, chosen, trial: None }
    }

    fn placement(&mut self, reasons: &[Reason]) -> Option<Placement> {
        let mut found: Option<Found> = None;
        let is_meant = |node| filter::elsewhere(self.fleet.node(node), self.choice).is_none();
        let nodes: Vec<NodeIdx> = self.fleet.states().representatives_of(is_meant).collect();
        for node in nodes {
            for here in self.on_node(node) {
                // Nodes come by name and devices by id, so of equals the first one stands.
                if found.as_ref().is_none_or(|found| here.best.order(&found.best).is_lt()) {
                    found = Some(here);
                }
            }
        }
        self.told(&found?, reasons)
    }

    /// The cuts of one node that serve the choice, one for each device that could matter.
    pub(super) fn on_node(&mut self, node: NodeIdx) -> Vec<Found> {
        idle_devices(self.fleet, node).into_iter().filter_map(|at| self.of_device(node, at)).collect()
    }

    fn of_device(&mut self, node: NodeIdx, at: usize) -> Option<Found> {
        let fleet = self.fleet;
        let kind = fleet.inventory().devices[at].kind;
        let stock = self.stocks.entry(kind).or_insert_with(|| Stock::of(fleet, kind, Reach::Device)).as_ref()?;
        let serves: Vec<bool> = stock.kinds.iter().map(|kind| self.fit[kind.at()].is_none()).collect();
        let expected = Expected::new(&fleet.mix().document.classes);
        let best_for = || stock.best_for(self.choice.count as usize, &serves, &expected);
        let chosen = self.chosen.entry(kind).or_insert_with(best_for).as_ref()?;
        let parts = parts(fleet, node, stock, chosen)?;
        let mut fit = vec![Some(Misfit::of(Code::NotOffered)); self.fit.len()];
        fit[stock.kinds[chosen.partition].at()] = None;
        let best = self.with_cut(node, at, &parts, |search, cut| {
            best_of_node(cut, node, search.choice, &fit, search.question)
        })??;
        let best = self.counted(node, at, best);
        best.is_good(self.choice).then_some(Found { at, parts, best })
    }

    /// Asks as if a device were cut, and only its partitions were free on the node.
    fn with_cut<T>(
        &mut self,
        node: NodeIdx,
        at: usize,
        parts: &[CutPart],
        ask: impl FnOnce(&Self, &Fleet) -> T,
    ) -> Option<T> {
        let named: Vec<(&str, u32)> = parts.iter().map(|part| (part.partition.as_str(), part.id)).collect();
        let document = self.fleet.document_with_cut(node, self.fleet.inventory().devices[at].id, &named);
        let mut trial = self.trial.take().unwrap_or_else(|| self.fleet.trial());
        let answer = trial.with_refit(self.fleet, node, &document, |cut| ask(self, cut)).ok();
        self.trial = Some(trial);
        answer
    }

    /// A candidate on a cut device, with what the cut costs counted.
    fn counted(&self, node: NodeIdx, at: usize, best: Best) -> Best {
        let whole = Choice { share_milli: WHOLE_MILLI, share_memory_mib: None, ..self.choice.clone() };
        let mut before = Before::of(self.fleet, node);
        let lost = fragmentation::lost(self.fleet, &whole, Candidate { node, devices: &[at] }, &mut before);
        let mut best = best;
        best.values.fragmentation = fragmentation::value(lost.total() as f64);
        best.values.lost = lost;
        best.total = best.values.total(&self.question.weights);
        best.tie.idle_milli = before.total_milli() - u32::from(WHOLE_MILLI);
        best
    }

    fn told(&mut self, found: &Found, reasons: &[Reason]) -> Option<Placement> {
        let Found { at, parts, best } = found;
        let mut placement = self.with_cut(best.node, *at, parts, |search, cut| {
            let Search { request, question, index, choice, .. } = search;
            place::placement(cut, request, question, *index, choice, best, reasons.to_vec())
        })?;
        let terms = placement.terms.iter_mut().filter(|term| term.name == "fragmentation");
        terms.for_each(|term| term.why = fragmentation::words(self.fleet, &best.values.lost));
        placement.trace_id = trace_id(self.fleet, self.request, self.question);
        let (node, device) = (self.fleet.node(best.node), &self.fleet.inventory().devices[*at]);
        let cut = Cut {
            cluster: node.cluster.clone(),
            node: node.name.clone(),
            device: device.id,
            uuid: device.uuid.clone(),
            sku: self.fleet.inventory().kinds[device.kind.at()].sku.clone()?,
            parts: parts.clone(),
        };
        placement.notes.push(Note { code: NOTE.to_owned(), text: cut.words() });
        placement.cut = Some(cut);
        Some(placement)
    }
}

/// Idle devices of a node that may be cut, by id; one stands for all that are alike.
fn idle_devices(fleet: &Fleet, node: NodeIdx) -> Vec<usize> {
    let (inventory, this) = (fleet.inventory(), fleet.node(node));
    if this.state != NodeState::Active {
        return Vec::new();
    }
    let is_idle = |at: &usize| inventory.devices[*at].may_be_cut && fleet.capacity().free_milli[*at] == WHOLE_MILLI;
    let mut idle: Vec<usize> = this.devices.clone().filter(is_idle).collect();
    idle.sort_by_key(|&at| inventory.devices[at].id);
    let mut seen = BTreeSet::new();
    idle.retain(|&at| {
        let device = &inventory.devices[at];
        seen.insert((device.kind, device.island, device.numa, device.switch, device.is_near_nic))
    });
    idle
}

/// The partitions of a layout with the ids that they get, which go on behind those of the node, and their places.
fn parts(fleet: &Fleet, node: NodeIdx, stock: &Stock<'_>, chosen: &Chosen) -> Option<Vec<CutPart>> {
    let devices = &fleet.inventory().devices[fleet.node(node).devices.clone()];
    let first = devices.iter().map(|device| device.id + 1).max()?;
    let partitions: Vec<_> = chosen.layout.iter().map(|&at| &stock.partitions[at]).collect();
    let starts = geometry::starts(&partitions, &[]).ok()??;
    let part = |(id, (partition, start)): (u32, (&&crate::profile::Partition, u32))| CutPart {
        partition: partition.name.clone(),
        id,
        start: (!partition.starts.is_empty()).then_some(start),
    };
    Some((first..).zip(partitions.iter().zip(starts)).map(part).collect())
}
