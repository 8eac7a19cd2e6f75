//! How devices are shared: what a pool allows, and what keeps neighbours apart.

use serde::{Deserialize, Serialize};

use crate::document::PoolDocument;
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::pairing::Neighbours;
use crate::request::{Choice, ShareMode};
use crate::units::WHOLE_MILLI;

/// Shares of a device may ask for so much of its compute at most, whatever a pool says.
const MOST_OVERSUBSCRIPTION: f64 = 1.5;

/// What a pool allows of its devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How much of the compute of a device shares may ask for together, thousandths.
    pub oversubscribe_milli: u16,
    /// Part of a device's memory beyond which no further share is admitted, thousandths.
    pub guard_milli: Option<u16>,
    /// The place in the document of the cluster, where that is shared out by pools: its devices are kinds of their own.
    pub shared_by: Option<usize>,
}

impl Default for Terms {
    fn default() -> Self {
        Self { oversubscribe_milli: WHOLE_MILLI, guard_milli: None, shared_by: None }
    }
}

impl Terms {
    /// The terms of a pool of the document.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded by the checks before
    pub fn of(pool: &PoolDocument, path: &str) -> Result<Self> {
        let milli = |part: f64| (part * f64::from(WHOLE_MILLI)).round() as u16;
        let ratio = pool.oversubscribe.unwrap_or(1.0);
        if !(1.0..=MOST_OVERSUBSCRIPTION).contains(&ratio) {
            let message = format!("oversubscribe is {ratio}; write a number from 1.0 to {MOST_OVERSUBSCRIPTION}");
            return Err(Error::document(format!("{path}.oversubscribe"), message));
        }
        let guard = pool.memory_guard;
        if let Some(part) = guard.filter(|part| !(*part > 0.0 && *part <= 1.0)) {
            let message = format!("memory_guard is {part}; write the part of the memory, above 0 and at most 1");
            return Err(Error::document(format!("{path}.memory_guard"), message));
        }
        if ratio > 1.0 && guard.is_none() {
            let message =
                "oversubscribe needs memory_guard: 0.9, and something on the nodes that holds steps to their memory";
            return Err(Error::document(format!("{path}.oversubscribe"), message));
        }
        Ok(Self { oversubscribe_milli: milli(ratio), guard_milli: guard.map(milli), shared_by: None })
    }

    /// Whether these are the terms of a device in no pool.
    pub(crate) fn are_usual(self) -> bool {
        self == Self::default()
    }
}

/// What keeps a step that has a part of a device from its neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharing {
    /// How the device is shared; `any` where the node decides.
    pub mode: ShareMode,
    /// `hard` where hardware fences memory and faults, else `soft`.
    pub isolation: String,
    /// Thousandths of the device that it may use while neighbours leave it idle, where that is more than its share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_milli: Option<u16>,
    /// What its neighbours on the device are bound by, where it says so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Neighbours>,
    /// What that means.
    pub means: String,
}

impl Sharing {
    /// The word of its mode.
    pub(crate) fn word(&self) -> &'static str {
        match self.mode {
            ShareMode::Exclusive => "exclusive",
            ShareMode::Mig => "mig",
            ShareMode::Mps => "mps",
            ShareMode::TimeSlice => "time-slice",
            ShareMode::Any => "any",
        }
    }

    /// Of a choice beside others on a device of a kind; `None` where whole devices are granted.
    pub fn of(kind: &Kind, choice: &Choice, beside: Neighbours) -> Option<Self> {
        if kind.partition.is_none() && !choice.is_share() {
            return None;
        }
        let mode = if kind.partition.is_some() { ShareMode::Mig } else { choice.share_mode.unwrap_or(ShareMode::Any) };
        let (isolation, means) = match mode {
            ShareMode::Mig => ("hard", "compute, memory and faults are fenced by hardware"),
            ShareMode::Mps => {
                ("soft", "compute is shared, memory can be limited; a fault ends all clients of the device")
            }
            ShareMode::TimeSlice => ("soft", "steps take turns on the device; neither memory nor faults are fenced"),
            ShareMode::Exclusive | ShareMode::Any => ("soft", "the node decides how; count on no fence"),
        };
        let booked = kind.share_for(choice);
        let burst_milli = Some(choice.share_milli).filter(|&milli| choice.share_memory_mib.is_none() && milli > booked);
        let neighbours = choice.bound.filter(|_| choice.is_share()).map(|_| beside);
        Some(Self { mode, isolation: isolation.to_owned(), burst_milli, neighbours, means: means.to_owned() })
    }
}
