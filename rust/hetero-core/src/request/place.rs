//! Where a step may run, and where it would rather.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// What nodes share, and fail with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// The node itself.
    Node,
    /// A rack.
    Rack,
    /// A power domain.
    Power,
}

/// Where a step may run. Empty asks nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Place {
    /// One of these clusters.
    pub clusters: Vec<String>,
    /// One of these regions.
    pub regions: Vec<String>,
    /// A cluster with all of these tags.
    pub compliance: Vec<String>,
    /// A cluster that holds all of this data.
    pub data: Vec<String>,
    /// Clusters, by name or by data that lies in them, where it would rather run; any other will do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
    /// Nodes with all of these labels.
    pub labels: IndexMap<String, String>,
    /// Where no other step of the team may run, and no two nodes of this one may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// Where steps of the team run now: numbers of [`crate::domain::Domains`], found anew for every question.
    #[serde(skip)]
    pub taken: Vec<u32>,
    /// A checkpoint that lies in some cluster and cannot leave it: found anew for every question.
    #[serde(skip)]
    pub checkpoint: Option<String>,
}

impl Place {
    /// Whether any place will do.
    pub fn is_anywhere(&self) -> bool {
        let lists = [&self.clusters, &self.regions, &self.compliance, &self.data];
        let is_bound = !self.labels.is_empty() || self.spread.is_some() || self.checkpoint.is_some();
        lists.iter().all(|list| list.is_empty()) && !is_bound
    }
}

/// Where a step saves its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Location.
    pub location: String,
    /// Whether the step can go on from it in another cluster.
    pub is_portable: bool,
}
