//! A fleet as bytes, and back.

use serde::{Deserialize, Serialize};

use crate::document::{FleetDocument, NodeDocument};
use crate::error::{Error, Result};
use crate::fleet::Fleet;
use crate::hold::{HoldId, NamedHold};
use crate::measured::MeasuredTable;
use crate::mix::MixDocument;
use crate::profile::Profiles;
use crate::quota::Limit;
use crate::reading::{Reading, located};
use crate::units::NodeIdx;

/// Version of the snapshot format.
const SNAPSHOT_FORMAT: u32 = 1;

/// A fleet as bytes: for pickling, support and replay.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    format: u32,
    document: FleetDocument,
    profiles: Profiles,
    mix: MixDocument,
    #[serde(default)]
    limits: Vec<Limit>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spent_milli: Vec<Option<u64>>,
    #[serde(default)]
    measured: MeasuredTable,
    #[serde(default)]
    readings: Vec<ReadingSnapshot>,
    holds: Vec<HoldSnapshot>,
    next_hold: u64,
}

/// A reading, and what was free of its device then.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadingSnapshot {
    reading: Reading,
    free_milli: u16,
}

/// A hold on one node. Those of one step follow each other.
#[derive(Serialize, Deserialize)]
struct HoldSnapshot {
    hold: HoldId,
    #[serde(flatten)]
    on_node: NamedHold,
}

impl Fleet {
    /// Reads a snapshot written by [`Fleet::to_json`].
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let refuse = |message: String| Error::document("", format!("snapshot of a fleet: {message}"));
        let snapshot: Snapshot = serde_json::from_slice(text).map_err(|e| refuse(e.to_string()))?;
        if snapshot.format != SNAPSHOT_FORMAT {
            return Err(refuse(format!("format {}; this version reads {SNAPSHOT_FORMAT}", snapshot.format)));
        }
        Self::restored(snapshot)
    }

    fn restored(snapshot: Snapshot) -> Result<Self> {
        let refuse = |message: String| Error::document("", format!("snapshot of a fleet: {message}"));
        let mut fleet = Self::new(snapshot.document, snapshot.profiles)?;
        fleet.set_mix(snapshot.mix)?;
        fleet.set_limits(snapshot.limits);
        if !snapshot.spent_milli.is_empty() {
            fleet.set_spent(&snapshot.spent_milli)?;
        }
        fleet.set_measured(snapshot.measured)?;
        for held in snapshot.holds.chunk_by(|a, b| a.hold == b.hold) {
            let id = held[0].hold;
            let missing = || refuse(format!("hold {id} names what is not there"));
            let found = held.iter().map(|held| fleet.find_hold(&held.on_node).ok_or_else(missing));
            let holds = found.collect::<Result<_>>()?;
            fleet.take(id, holds)?;
        }
        fleet.next_hold = snapshot.next_hold;
        let free: Vec<u16> = snapshot.readings.iter().map(|kept| kept.free_milli).collect();
        let readings: Vec<Reading> = snapshot.readings.into_iter().map(|kept| kept.reading).collect();
        fleet.observe(readings.clone())?;
        for ((_, at, _), free_milli) in located(&fleet, readings)?.into_iter().zip(free) {
            fleet.readings.entry(at).and_modify(|kept| kept.free_milli = free_milli);
        }
        fleet.rebuild_states();
        Ok(fleet)
    }

    /// The whole state as bytes.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.snapshot()).expect("a snapshot has string keys and finite numbers only")
    }

    /// The same state, but for a node that is as `document` says; nothing is known of its device `gone` any more.
    pub(super) fn with_node(&self, node: NodeIdx, document: NodeDocument, gone: u32) -> Result<Self> {
        let (this, mut snapshot) = (self.node(node), self.snapshot());
        let is_gone = |reading: &Reading| {
            let of = (reading.cluster.as_ref(), &reading.node, reading.device);
            of == (Some(&this.cluster), &this.name, gone)
        };
        snapshot.readings.retain(|kept| !is_gone(&kept.reading));
        snapshot.document.clusters[this.place.0].nodes[this.place.1] = document;
        Self::restored(snapshot)
    }

    fn snapshot(&self) -> Snapshot {
        let each = self.holds.iter().flat_map(|(&id, holds)| holds.iter().map(move |hold| (id, hold)));
        let holds = each.map(|(hold, held)| HoldSnapshot { hold, on_node: self.named_hold(held) });
        let kept = self.readings.values();
        let kept = kept.map(|kept| ReadingSnapshot { reading: kept.reading.clone(), free_milli: kept.free_milli });
        Snapshot {
            format: SNAPSHOT_FORMAT,
            document: self.document.clone(),
            profiles: self.profiles.clone(),
            mix: self.mix.document.clone(),
            limits: self.quotas.limits().to_vec(),
            spent_milli: self.quotas.spent(),
            measured: self.measured.table().clone(),
            readings: kept.collect(),
            holds: holds.collect(),
            next_hold: self.next_hold,
        }
    }
}
