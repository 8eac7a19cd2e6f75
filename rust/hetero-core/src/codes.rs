//! Reason codes: one registry, `codes.toml`, with one line of advice each.

use std::sync::LazyLock;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Why a node cannot take a choice. The order is that of the filter: later means nearer to a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[allow(missing_docs)] // `codes.toml` says what each means
pub enum Code {
    NotOffered,
    VendorMismatch,
    ModelMismatch,
    ImageVendorMismatch,
    MigProfileMissing,
    SharingForbidden,
    MemoryTooLarge,
    MemoryTooSmall,
    MemoryType,
    ConfidentialUnsupported,
    PrecisionUnsupported,
    LinkClass,
    LinkBandwidth,
    ComputeTooLow,
    BandwidthTooLow,
    PowerBudget,
    PerfUnknown,
    PerfBelowFloor,
    Quota,
    Budget,
    ReservedPool,
    CostCeiling,
    DriverTooOld,
    Taint,
    Location,
    Compliance,
    DataLocality,
    CheckpointElsewhere,
    Spread,
    RdmaMissing,
    RuntimeMissing,
    Cordoned,
    BurnIn,
    Unhealthy,
    MemoryNotFree,
    CountShort,
    Fragmented,
    NicApart,
    NumaSplit,
    NotOneIsland,
    CpuShort,
    HostMemoryShort,
    NodesShort,
    GroupsApart,
    ScoreTooLow,
}

/// What the registry says of one code.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What the code states.
    pub means: String,
    /// What to do about it.
    pub advice: String,
    /// Unit of the numbers; `None` for counts, and where there are none.
    #[serde(default)]
    pub unit: Option<String>,
}

/// The registry as text, for documentation and other languages.
pub const REGISTRY: &str = include_str!("../codes.toml");

/// The part of the registry that decisions use; findings and warnings belong to those who read and import.
#[derive(Deserialize)]
struct Registry {
    reason: IndexMap<Code, Entry>,
}

static REASONS: LazyLock<IndexMap<Code, Entry>> = LazyLock::new(|| {
    let registry: Registry = toml::from_str(REGISTRY).expect("codes.toml ships with the crate and is tested");
    registry.reason
});

impl Code {
    /// The registry's entry.
    pub fn entry(self) -> &'static Entry {
        &REASONS[&self]
    }

    /// The stable name, as `NOT_ONE_ISLAND`.
    pub fn name(self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            _ => unreachable!("a unit variant serialises as its name"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_lists_every_code_in_the_order_of_the_filter() {
        let listed: Vec<Code> = REASONS.keys().copied().collect();
        assert!(listed.is_sorted());
        assert_eq!(listed.len(), Code::ScoreTooLow as usize + 1);
        assert_eq!(Code::NotOneIsland.name(), "NOT_ONE_ISLAND");
    }
}
