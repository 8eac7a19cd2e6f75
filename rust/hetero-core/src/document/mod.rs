//! The serde form of a fleet: the only place that knows its JSON. Unknown keys are errors with a suggestion.

mod cutting;
mod error;
mod limit;
mod node;
mod pool;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::error::{explain_serde, syntax};
use crate::error::{Error, Result};

pub use limit::{LimitDocument, LimitLevel, Window};
pub use node::{DeviceGroup, Health, Nic, NodeDocument, NodeState, Numa, Switch, Taint, Use};
pub use pool::{Headroom, PoolDocument};

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
    /// How long a step that must end is warned before, seconds; unknown when not said. Clusters may say it for themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice_s: Option<u64>,
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
    /// How long a step that must end is warned before, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice_s: Option<u64>,
    /// What of its devices is kept for steps of a high priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Headroom>,
    /// Racks, where something is known of them; a node is in the one that its label `rack` names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub racks: Vec<RackDocument>,
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

/// A rack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RackDocument {
    /// Name, unique in the cluster.
    pub name: String,
    /// Power that the devices of its nodes may draw together, milliwatt.
    pub power_budget_mw: u64,
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
