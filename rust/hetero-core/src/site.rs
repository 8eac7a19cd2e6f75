//! Where a node stands and what it offers beside its devices: cluster, labels, drivers, libraries, network, prices.

use indexmap::IndexMap;

use crate::digest::Hasher;
use crate::document::{ClusterDocument, NodeDocument};
use crate::error::{Error, Result};
use crate::inventory::{USUAL_WEIGHT_MILLI, weight_milli};

/// Prices above this are a slip: a thousand million an hour.
const MAX_PRICE: f64 = 1e9;
const MILLI: f64 = 1000.0;

/// What a node has beside its devices. Empty is unknown.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// Region of the cluster.
    pub region: Option<String>,
    /// Regimes that the cluster complies with.
    pub compliance: Vec<String>,
    /// How much the cluster is preferred, thousandths.
    pub weight_milli: u64,
    /// Data that lies in the cluster.
    pub data: Vec<String>,
    /// Labels of the host.
    pub labels: IndexMap<String, String>,
    /// Driver versions by vendor, part by part.
    pub drivers: IndexMap<String, Vec<u64>>,
    /// Libraries.
    pub runtime: Vec<String>,
    /// Remote memory access: `ib`, `roce`, or `rdma` where only that is known.
    pub rdma: Vec<String>,
    /// Price per device and hour by catalog key, thousandths.
    pub prices_milli: IndexMap<String, u64>,
}

impl Site {
    /// The site of a node of the document.
    pub fn of(cluster: &ClusterDocument, cluster_path: &str, node: &NodeDocument) -> Result<Self> {
        let tags = cluster.tags.clone().unwrap_or_default();
        let pool = cluster.pools.iter().enumerate().find(|(_, pool)| Some(&pool.name) == node.pool.as_ref());
        let mut prices_milli = IndexMap::new();
        for (sku, &price) in pool.iter().flat_map(|(_, pool)| &pool.price) {
            prices_milli.insert(
                sku.clone(),
                price_milli(price).ok_or_else(|| {
                    let at = pool.map_or(0, |(index, _)| index);
                    let message = format!("price of {sku} is {price}; write a number from 0 to {MAX_PRICE}");
                    Error::document(format!("{cluster_path}.pools[{at}].price"), message)
                })?,
            );
        }
        let versions = node.driver.iter().filter_map(|(vendor, text)| Some((vendor.clone(), version(text)?)));
        Ok(Self {
            region: cluster.region.clone(),
            weight_milli: weight_milli(cluster, cluster_path)?,
            compliance: tags.compliance,
            data: tags.data,
            labels: node.labels.clone(),
            drivers: versions.collect(),
            runtime: node.runtime.clone(),
            rdma: node.rdma.clone(),
            prices_milli,
        })
    }

    /// Whether the data at a location lies in the cluster.
    pub fn holds(&self, location: &str) -> bool {
        holds(&self.data, location)
    }

    /// Adds to a digest what a decision may depend on, but the place: nodes that differ in it only are told apart by it.
    pub fn digested(&self, mut hasher: Hasher) -> Hasher {
        hasher = hasher.number(self.drivers.len() as u64);
        for (vendor, version) in &self.drivers {
            hasher = hasher.text(vendor).number(version.len() as u64);
            hasher = version.iter().fold(hasher, |hasher, &part| hasher.number(part));
        }
        hasher = texts(texts(hasher, &self.runtime), &self.rdma).number(self.prices_milli.len() as u64);
        self.prices_milli.iter().fold(hasher, |hasher, (sku, &price)| hasher.text(sku).number(price))
    }

    /// Adds the place, which names of nodes do not tell: a node that moved is another answer to the same question.
    pub fn placed(&self, mut hasher: Hasher) -> Hasher {
        hasher = hasher.text(self.region.as_deref().unwrap_or(""));
        hasher = texts(texts(hasher, &self.compliance), &self.data);
        if self.weight_milli != USUAL_WEIGHT_MILLI {
            hasher = hasher.text("weight").number(self.weight_milli);
        }
        let mut labels: Vec<_> = self.labels.iter().collect();
        labels.sort();
        labels.into_iter().fold(hasher, |hasher, (key, value)| hasher.text(key).text(value))
    }
}

/// Whether data at a location is among what lies at these: it is one of them, or lies below one.
pub(crate) fn holds(locations: &[String], location: &str) -> bool {
    let wanted = location.trim_end_matches('/');
    locations
        .iter()
        .map(|held| held.trim_end_matches('/'))
        .any(|held| wanted.strip_prefix(held).is_some_and(|below| below.is_empty() || below.starts_with('/')))
}

/// Adds a list with its length, so that two lists in a row are told apart.
fn texts(hasher: Hasher, list: &[String]) -> Hasher {
    list.iter().fold(hasher.number(list.len() as u64), |hasher, text| hasher.text(text))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded by the check before
fn price_milli(price: f64) -> Option<u64> {
    (0.0..=MAX_PRICE).contains(&price).then(|| (price * MILLI).round() as u64)
}

/// The leading numbers of a version such as `580.65.06` or `6.10.5-1`; `None` when it begins with none.
fn version(text: &str) -> Option<Vec<u64>> {
    let digits = |part: &str| part.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok());
    let mut parts = Vec::new();
    for part in text.split('.') {
        match digits(part) {
            Some(number) => parts.push(number),
            None => break,
        }
        if !part.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
    }
    (!parts.is_empty()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_its_leading_numbers() {
        assert_eq!(version("580.65.06"), Some(vec![580, 65, 6]));
        assert_eq!(version("6.10.5-1.el9"), Some(vec![6, 10, 5]));
        assert_eq!(version("25.2.rc1"), Some(vec![25, 2]));
        assert_eq!(version("unknown"), None);
    }

    #[test]
    fn what_lies_below_a_location_lies_there() {
        let held = |at: &str, wanted: &str| holds(&[at.to_owned()], wanted);
        assert!(held("s3://eu-data", "s3://eu-data"));
        assert!(held("s3://eu-data", "s3://eu-data/train/x"));
        assert!(held("s3://eu-data/", "s3://eu-data"));
        assert!(held("/", "/scratch/x"));
        assert!(!held("s3://eu-data", "s3://eu-data-2"));
        assert!(!held("s3://eu-data/train", "s3://eu-data"));
        assert!(!holds(&[], ""));
    }

    #[test]
    fn a_price_is_finite_and_not_negative() {
        assert_eq!(price_milli(2.1), Some(2100));
        assert_eq!(price_milli(0.0), Some(0));
        assert_eq!(price_milli(-1.0), None);
        assert_eq!(price_milli(f64::NAN), None);
    }
}
