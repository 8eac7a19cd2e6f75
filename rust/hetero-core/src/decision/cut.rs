//! What has to be cut before a step can run.

use serde::{Deserialize, Serialize};

/// A partition that a cut makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutPart {
    /// Its name, as `1g.10gb`.
    pub partition: String,
    /// The id that it gets within the node.
    pub id: u32,
    /// Memory slice at which it begins; `None` for a mode, which has no slices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
}

/// A device that has to be cut into partitions before a step can run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Cluster.
    pub cluster: String,
    /// Node.
    pub node: String,
    /// Id of the device within the node; it is gone afterwards.
    pub device: u32,
    /// Its UUID, where known.
    pub uuid: Option<String>,
    /// Its catalog key.
    pub sku: String,
    /// What it is cut into, largest first.
    pub parts: Vec<CutPart>,
}

impl Cut {
    /// What has to be done, in words: partitions of a kind are counted together.
    pub fn words(&self) -> String {
        let alike = self.parts.chunk_by(|a, b| a.partition == b.partition);
        let words = |parts: &[CutPart]| format!("{} x {}", parts.len(), parts[0].partition);
        let parts: Vec<String> = alike.map(words).collect();
        format!("device {} of {} ({}) has to be cut into {} first", self.device, self.node, self.sku, parts.join(", "))
    }
}
