//! Clusters, as far as it matters which one a step goes to.

use std::ops::Range;

use crate::document::{ClusterDocument, FleetDocument};
use crate::error::{Error, Result};
use crate::inventory::Node;
use crate::site::holds;

/// Weights above this are a slip.
const MAX_WEIGHT: f64 = 1e6;
const MILLI: f64 = 1000.0;
/// The weight of a cluster that states none.
pub(crate) const USUAL_WEIGHT_MILLI: u64 = 1000;

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// How much it is preferred, thousandths.
    pub weight_milli: u64,
    /// Data that lies in it.
    pub data: Vec<String>,
    /// Its nodes, which lie together.
    pub nodes: Range<usize>,
}

impl Cluster {
    /// Whether it is called so, or holds the data of this name.
    pub fn is_near(&self, wish: &str) -> bool {
        self.name == wish || self.holds(wish)
    }

    /// Whether the data at a location lies in it.
    pub fn holds(&self, location: &str) -> bool {
        holds(&self.data, location)
    }
}

/// The clusters of a document by name; `nodes` are sorted by the names of their clusters.
pub(super) fn clusters(document: &FleetDocument, nodes: &[Node]) -> Result<Vec<Cluster>> {
    let cluster = |(at, cluster): (usize, &ClusterDocument)| {
        let first = nodes.partition_point(|node| node.cluster < cluster.name);
        let end = nodes.partition_point(|node| node.cluster <= cluster.name);
        Ok(Cluster {
            name: cluster.name.clone(),
            weight_milli: weight_milli(cluster, &format!("clusters[{at}]"))?,
            data: cluster.tags.as_ref().map_or_else(Vec::new, |tags| tags.data.clone()),
            nodes: first..end,
        })
    };
    let mut clusters = document.clusters.iter().enumerate().map(cluster).collect::<Result<Vec<_>>>()?;
    clusters.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(clusters)
}

/// The weight of the cluster at a place of the document.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded by the check before
pub(crate) fn weight_milli(cluster: &ClusterDocument, path: &str) -> Result<u64> {
    let weight = cluster.weight.unwrap_or(1.0);
    if (0.0..=MAX_WEIGHT).contains(&weight) {
        return Ok((weight * MILLI).round() as u64);
    }
    let message = format!("the weight of {} is {weight}; write a number from 0 to {MAX_WEIGHT}", cluster.name);
    Err(Error::document(format!("{path}.weight"), message))
}
