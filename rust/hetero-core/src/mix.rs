//! The expected workload, against which fragmentation is measured.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Hasher};
use crate::error::{Error, Result};
use crate::filter;
use crate::inventory::Inventory;
use crate::kind::Kind;
use crate::profile::Class;
use crate::request::{Choice, Link, check};
use crate::units::WHOLE_MILLI;
use crate::worth::Demand;

/// Sum of weights at most, so that weighted sums of shares stay far inside 64 bits.
const MAX_TOTAL_WEIGHT: u64 = 1_000_000_000_000;

/// One class of expected steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskClass {
    /// What each such step asks.
    pub choice: Choice,
    /// How popular the class is, relative to the others.
    pub weight: u64,
}

/// A mix as given: classes, and where they come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixDocument {
    /// Where the mix comes from: `default`, `document`, or the name of a file.
    pub source: String,
    /// Classes.
    pub classes: Vec<TaskClass>,
}

/// A mix made ready for one fleet.
#[derive(Clone, Debug)]
pub struct Mix {
    /// As given.
    pub document: MixDocument,
    /// Per class and kind of device: the share that such a step takes of such a device; `None` where it cannot serve.
    pub shares: Vec<Vec<Option<u16>>>,
    /// Sum of the weights.
    pub total_weight: u64,
    /// Of the classes and weights.
    pub digest: Digest,
    /// The classes, arranged for [`crate::worth`].
    pub(crate) demand: Demand,
}

impl Mix {
    /// Makes a mix ready for a fleet.
    pub fn new(mut document: MixDocument, inventory: &Inventory) -> Result<Self> {
        let source = document.source.clone();
        let refuse = |message: &str| Error::document("mix", format!("mix from {source}: {message}"));
        let mut total_weight: u64 = 0;
        let mut hasher = Hasher::new("mix");
        for class in &mut document.classes {
            check(&class.choice)?;
            if let Some((least, most)) = class.choice.nodes {
                // A node is measured by the part that it could give.
                let part = (least..=most).find_map(|nodes| class.choice.part(nodes));
                class.choice = part.unwrap_or_else(|| Choice { nodes: None, ..class.choice.clone() });
            }
            total_weight = total_weight.saturating_add(class.weight);
            let text = serde_json::to_string(class).map_err(|e| refuse(&e.to_string()))?;
            hasher = hasher.text(&text);
        }
        if total_weight > MAX_TOTAL_WEIGHT || (total_weight == 0 && !document.classes.is_empty()) {
            return Err(refuse("the weights must add up to more than 0 and at most 10^12"));
        }
        let mut is_present = vec![false; inventory.kinds.len()];
        inventory.devices.iter().for_each(|device| is_present[device.kind.at()] = true);
        let shares: Vec<_> = document.classes.iter().map(|class| shares(class, inventory, &is_present)).collect();
        let demand = Demand::new(&document.classes, &shares);
        Ok(Self { document, demand, shares, total_weight, digest: hasher.finish() })
    }
}

/// A group of no devices has a kind too, but serves nothing.
fn shares(class: &TaskClass, inventory: &Inventory, is_present: &[bool]) -> Vec<Option<u16>> {
    let fit = filter::kinds(inventory, &class.choice);
    let serves = |at: usize| fit[at].is_none() && is_present[at];
    let share = |(at, kind): (usize, &Kind)| serves(at).then(|| kind.share_for(&class.choice));
    inventory.kinds.iter().enumerate().map(share).collect()
}

/// The mix of a fleet that states none: its own island sizes.
///
/// Every kind of device stands for steps that need what it has: its class, its memory or more, and 1, 2, 4, ... devices
/// up to the largest island of the kind (several in one island). A kind weighs as many as there are devices of it, its
/// sizes equally. So a device that can serve demanding steps is worth more than one that cannot, and a whole island
/// more than its parts.
pub fn default_mix(inventory: &Inventory) -> MixDocument {
    let mut weights: IndexMap<(Class, Option<u64>, u32), u64> = IndexMap::new();
    for (at, kind) in inventory.kinds.iter().enumerate() {
        let (Some(class), None) = (kind.class, &kind.partition) else {
            continue;
        };
        let is_this = |kind: crate::units::KindIdx| kind.at() == at;
        let devices = inventory.devices.iter().filter(|device| is_this(device.kind)).count() as u64;
        if devices == 0 {
            continue; // a group of none still has a kind
        }
        let islands = inventory.nodes.iter().flat_map(|node| &node.islands).filter(|run| is_this(run.kind));
        let largest = islands.map(|run| run.devices.len()).max().unwrap_or(1);
        let sizes: Vec<u32> = (0..u32::BITS).map(|bit| 1 << bit).take_while(|&size| size as usize <= largest).collect();
        for &size in &sizes {
            // 27720 has every divisor up to 12, so that equal parts stay whole numbers.
            *weights.entry((class, kind.nominal_mib, size)).or_default() += devices * 27720 / sizes.len() as u64;
        }
    }
    weights.sort_keys();
    let classes = weights.into_iter().map(|((class, floor, size), weight)| TaskClass {
        choice: Choice {
            label: class.word().to_owned(),
            class: Some(class),
            count: size,
            share_milli: WHOLE_MILLI,
            memory_floor_mib: floor,
            link: (size > 1).then_some(Link::Fabric),
            ..Choice::default()
        },
        weight,
    });
    MixDocument { source: "default".to_owned(), classes: classes.collect() }
}
