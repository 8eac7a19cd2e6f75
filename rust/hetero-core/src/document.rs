//! The serde form of a fleet: the only place that knows its JSON. Unknown keys are errors with a suggestion.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document_error::{explain_serde, syntax};
use crate::error::{Error, Result};
use crate::profile::Class;

/// The version this core reads and writes.
pub const API_VERSION: &str = "hetero-ops/v1";

/// A fleet: what exists, and what of it is in use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetDocument {
    /// Always `hetero-ops/v1`.
    #[serde(rename = "apiVersion")]
    pub api_version: String,
    /// Always `Fleet`.
    pub kind: String,
    /// When and by what the document was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<Generated>,
    /// The expected workload, against which fragmentation is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<MixEntry>,
    /// The clusters.
    pub clusters: Vec<ClusterDocument>,
    /// Quotas and budgets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitDocument>,
}

/// When and by what a document was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    /// Time, RFC 3339.
    pub at: String,
    /// Program or command.
    pub by: String,
}

/// One expected request and its share of the workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixEntry {
    /// A requirement of one choice, in shorthand.
    pub request: String,
    /// Its weight, relative to the others.
    pub weight: f64,
}

/// A cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterDocument {
    /// Name, unique in the fleet.
    pub name: String,
    /// Region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// What the cluster may be used for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
    /// Preference among equal clusters; 1.0 when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Pools of nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolDocument>,
    /// Nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeDocument>,
}

/// What a cluster complies with and which data lies in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tags {
    /// Regimes, as `gdpr`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compliance: Vec<String>,
    /// Data locations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
}

/// A pool of nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolDocument {
    /// Name, unique in the cluster.
    pub name: String,
    /// Guaranteed share of the cluster, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nominal: Option<f64>,
    /// How far it may be oversubscribed, 1.0 to 1.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oversubscribe: Option<f64>,
    /// Price per device and hour, by catalog key.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub price: IndexMap<String, f64>,
}

/// Whether a node takes work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // each is its own explanation
pub enum NodeState {
    #[default]
    Active,
    Cordoned,
    Draining,
    Maintenance,
    BurnIn,
    Quarantined,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeDocument {
    /// Name, unique in the cluster.
    pub name: String,
    /// Pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Labels of the host.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub labels: IndexMap<String, String>,
    /// Taints of the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
    /// Whether the node takes work; active when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<NodeState>,
    /// CPU, thousandths of a core; unknown when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_milli: Option<u64>,
    /// Host memory, MiB; unknown when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u64>,
    /// Power that the node may draw, milliwatt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_budget_mw: Option<u64>,
    /// Driver versions by vendor or toolkit.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub driver: IndexMap<String, String>,
    /// Libraries present.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtime: Vec<String>,
    /// Remote memory access between nodes: `ib` or `roce`, `none` where there is none; unknown when not said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rdma: Vec<String>,
    /// Project or department that the node belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Devices, in groups of one kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceGroup>,
    /// What is in use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<Use>,
}

/// A Kubernetes taint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Taint {
    /// Key.
    pub key: String,
    /// Value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

/// Whether a device can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // each is its own explanation
pub enum Health {
    #[default]
    Healthy,
    Unhealthy,
}

/// One NUMA node for all devices of a group, or one each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a NUMA node number, or a list of one number or null per device")]
pub enum Numa {
    /// All devices on this one.
    One(u16),
    /// One per device; null where unknown.
    Each(Vec<Option<u16>>),
}

/// Devices of one kind. Ids are counted through the groups of a node from 0, unless a single device says its `id`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceGroup {
    /// Catalog key, or `unknown` with what is known.
    pub sku: String,
    /// Number of devices; required unless `id` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Id of a single device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// UUID of a single device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// PCI address of a single device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pci: Option<String>,
    /// Serial number of a single device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Firmware of a device, as its tool prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Physical slot of a single device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// NUMA nodes; unknown when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa: Option<Numa>,
    /// Memory that one device reports, MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u64>,
    /// Health; healthy when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Scale-up islands, as lists of device ids; derived from the profile when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub islands: Option<Vec<Vec<u32>>>,
    /// Vendor, for a device that the catalog does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// Model, for a device that the catalog does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Broad kind, for a device that the catalog does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Product string as the machine gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Hardware partition that each entry is, as `1g.10gb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
}

/// What one owner uses on a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// Who.
    pub owner: String,
    /// The team that it counts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// Device ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<u32>,
    /// Share of each device, thousandths; whole devices when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_milli: Option<u16>,
    /// CPU, thousandths of a core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_milli: Option<u64>,
    /// Host memory, MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u64>,
    /// Since when, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// How it can be moved, as `checkpoint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movable: Option<String>,
    /// Age of its last checkpoint, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_age_s: Option<u64>,
    /// Whether it may be preempted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptible: Option<bool>,
    /// Its priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// True where only the number of devices is known and which ones is assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumed: Option<bool>,
}

/// What the devices under a limit have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // each is its own explanation
pub enum LimitLevel {
    Class,
    Vendor,
    Family,
    #[default]
    Model,
    Sku,
}

impl LimitLevel {
    /// The word of the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Vendor => "vendor",
            Self::Family => "family",
            Self::Model => "model",
            Self::Sku => "sku",
        }
    }
}

/// A quota of a team.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitDocument {
    /// Team.
    pub team: String,
    /// Level at which it counts.
    pub per: LimitLevel,
    /// Name at that level, as `H100`.
    pub name: String,
    /// Devices at most.
    pub devices: u32,
}

impl FleetDocument {
    /// Reads the JSON form.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let mut reader = serde_json::Deserializer::from_slice(text);
        let document: Self = serde_path_to_error::deserialize(&mut reader).map_err(|e| explain_serde(&e))?;
        reader.end().map_err(|e| syntax(&e))?;
        if document.api_version != API_VERSION {
            let message = format!("apiVersion is {:?}; this version reads {API_VERSION:?}", document.api_version);
            return Err(Error::document("apiVersion", message));
        }
        if document.kind != "Fleet" {
            return Err(Error::document(
                "kind",
                format!("kind is {:?}; a fleet document says \"Fleet\"", document.kind),
            ));
        }
        Ok(document)
    }

    /// The JSON Schema of the document.
    pub fn schema() -> String {
        format!("{:#}", schemars::schema_for!(FleetDocument).as_value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (String, String, Option<usize>) {
        match FleetDocument::from_json(text.as_bytes()) {
            Err(Error::InvalidDocument { message, path, line }) => (message, path, line),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_place_and_suggestion() {
        let text = "{\"apiVersion\":\"hetero-ops/v1\",\"kind\":\"Fleet\",\"clusters\":[{\"name\":\"a\",\n\"nodes\":[{\"name\":\"n\",\"cpu_mili\":1}]}]}";
        let (message, path, line) = refused(text);
        assert_eq!(message, "unknown key `cpu_mili`; did you mean `cpu_milli`?");
        assert_eq!(path, "clusters[0].nodes[0].cpu_mili");
        assert_eq!(line, Some(2));
    }

    #[test]
    fn negative_and_not_a_number_are_refused() {
        let node = |field: &str| {
            refused(&format!(
                "{{\"apiVersion\":\"hetero-ops/v1\",\"kind\":\"Fleet\",\"clusters\":[{{\"name\":\"a\",\"nodes\":[{{\"name\":\"n\",{field}}}]}}]}}"
            ))
        };
        assert!(node("\"cpu_milli\":-1").0.contains("invalid value: integer `-1`"));
        assert!(node("\"cpu_milli\":NaN").0.contains("not valid JSON"));
    }

    #[test]
    fn brackets_without_end_are_refused_early() {
        assert!(refused(&"[".repeat(2_000_000)).0.contains("expected"));
        let deep = format!("{{\"clusters\":[{{\"pools\":{}", "[".repeat(2_000_000));
        assert!(!refused(&deep).0.is_empty());
    }
}
