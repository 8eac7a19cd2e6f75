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

#[cfg(test)]
mod tests {
    use super::*;
    use hetero_core::Fleet;
    use hetero_core::document::FleetDocument;
    use hetero_core::profile::Profiles;

    fn fleet() -> Fleet {
        let document = br#"{"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "here", "nodes": [
            {"name": "a", "cpu_milli": 64000, "devices": [{"sku": "unknown", "class": "gpu", "model": "X", "count": 5}]},
            {"name": "b", "cpu_milli": 16000, "devices": [{"sku": "unknown", "class": "gpu", "model": "Y", "count": 3}]}]}]}"#;
        let profiles = br#"{"digest": "test", "resource_keys": {}, "entries": []}"#;
        let read = FleetDocument::from_json(document).expect("valid");
        Fleet::new(read, Profiles::from_json(profiles).expect("valid")).expect("valid")
    }

    fn trace() -> Trace {
        let ask = |count| Choice { count, share_milli: WHOLE_MILLI, ..Choice::default() };
        let mix = MixDocument { source: "test".to_owned(), classes: Vec::new() };
        Trace { mix, classes: vec![ask(1), ask(2)], tasks: vec![0, 1], times: None }
    }

    #[test]
    fn before_anything_is_seen_large_steps_and_each_model_are_expected() {
        let expected: Vec<(u32, Option<String>, u64, u64)> = Learned::new(fleet().inventory(), &trace())
            .mix()
            .classes
            .into_iter()
            .map(|class| {
                let model = class.choice.names.first().map(|name| name.models[0].clone());
                (class.choice.count, model, class.choice.cpu_milli, class.weight)
            })
            .collect();
        // 1, 2 and 4 of at most 5 as 4 : 2 : 1 of 50 tasks; X and Y as 5 : 3 of 50; half of 80 cores over 8 devices each
        let model = |name: &str| Some(name.to_owned());
        assert_eq!(
            expected,
            [
                (1, None, 5_000, 28_571),
                (2, None, 10_000, 14_286),
                (4, None, 20_000, 7_143),
                (1, model("X"), 5_000, 31_250),
                (1, model("Y"), 5_000, 18_750),
            ]
        );
    }

    #[test]
    fn what_is_seen_is_added_and_told_in_time() {
        let mut learned = Learned::new(fleet().inventory(), &trace());
        let due: Vec<u64> = (1..=700).filter(|_| learned.see(1)).collect();
        assert_eq!(due, [300, 600]);
        let seen = learned.mix().classes.pop().expect("seen");
        assert_eq!((seen.choice.count, seen.weight), (2, 700 * UNITS));
        assert_eq!(learned.mix().classes.len(), 6, "a class that was not seen is not there");
    }
}
