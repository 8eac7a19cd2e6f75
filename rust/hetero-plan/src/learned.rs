//! A mix that is learned: from the tasks seen so far, and before there are many from what the fleet could serve.

use hetero_core::inventory::Inventory;
use hetero_core::mix::{MixDocument, TaskClass};
use hetero_core::request::{Choice, Name};
use hetero_core::units::WHOLE_MILLI;

use crate::trace::Trace;

/// The mix is made anew when so many more tasks have been seen.
const RENEWED_AFTER: u64 = 300;
/// All that is expected beforehand counts as this many tasks.
const PRIOR_TASKS: u64 = 100;
/// Weights are counted in these, so that parts of a task can be told.
const UNITS: u64 = 1000;

/// What was seen, and what is expected beforehand.
#[derive(Clone, Debug)]
pub(crate) struct Learned {
    prior: Vec<TaskClass>,
    classes: Vec<Choice>,
    seen: Vec<u64>,
    since: u64,
}

impl Learned {
    pub(crate) fn new(inventory: &Inventory, trace: &Trace) -> Self {
        let seen = vec![0; trace.classes.len()];
        Self { prior: prior(inventory), classes: trace.classes.clone(), seen, since: 0 }
    }

    /// A task comes; true when the mix should be made anew.
    pub(crate) fn see(&mut self, class: usize) -> bool {
        self.seen[class] += 1;
        self.since += 1;
        let is_due = self.since >= RENEWED_AFTER;
        if is_due {
            self.since = 0;
        }
        is_due
    }

    /// The mix as known now.
    pub(crate) fn mix(&self) -> MixDocument {
        let of_class = |(choice, &seen): (&Choice, &u64)| TaskClass { choice: choice.clone(), weight: seen * UNITS };
        let seen = self.classes.iter().zip(&self.seen).filter(|&(_, &seen)| seen > 0).map(of_class);
        MixDocument { source: "learned".to_owned(), classes: self.prior.iter().cloned().chain(seen).collect() }
    }
}

/// Half of it are steps of 1, 2, 4, ... whole devices up to the most that a node has of one kind, of any model; each size
/// asks for as many devices in all, so larger steps are rarer. Half are steps of one device of one kind each, as many as
/// there are devices of it. Each asks for half of the CPU that nodes have for so many devices.
fn prior(inventory: &Inventory) -> Vec<TaskClass> {
    let cpu_milli: u64 = inventory.nodes.iter().filter_map(|node| node.cpu_milli).sum();
    let of_device = cpu_milli / (inventory.devices.len() as u64).max(1) / 2;
    let step = |label: String, size: u32, names: Vec<Name>, weight: f64| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most the prior
        let weight = ((PRIOR_TASKS * UNITS) as f64 * weight / 2.0).round() as u64;
        let (share_milli, cpu_milli) = (WHOLE_MILLI, of_device * u64::from(size));
        TaskClass { choice: Choice { label, count: size, share_milli, cpu_milli, names, ..Choice::default() }, weight }
    };
    let runs = inventory.nodes.iter().flat_map(|node| &node.kinds).map(|run| run.devices.len());
    let largest = u32::try_from(runs.max().unwrap_or(0)).unwrap_or(u32::MAX);
    let sizes: Vec<u32> = (0..u32::BITS).map(|bit| 1 << bit).take_while(|&size| size <= largest).collect();
    let all: f64 = sizes.iter().map(|&size| 1.0 / f64::from(size)).sum();
    let of_size =
        sizes.iter().map(|&size| step(format!("{size} devices"), size, Vec::new(), 1.0 / f64::from(size) / all));
    let of_kind = inventory.kinds.iter().enumerate().filter_map(|(at, kind)| {
        let devices = inventory.devices.iter().filter(|device| device.kind.at() == at).count();
        let name = Name {
            skus: kind.sku.iter().cloned().collect(),
            models: kind.model.iter().filter(|_| kind.sku.is_none()).cloned().collect(),
            is_any_model: false,
            vendor: None,
            partition: kind.partition.clone(),
        };
        let part = devices as f64 / inventory.devices.len() as f64;
        let is_named = devices > 0 && (kind.sku.is_some() || kind.model.is_some());
        is_named.then(|| step("one kind".to_owned(), 1, vec![name], part))
    });
    of_size.chain(of_kind).collect()
}
