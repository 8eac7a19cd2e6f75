//! Pools of a cluster: sets of nodes with terms of their own, and shares of the cluster that steps are charged to.

use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ClusterDocument;
use crate::error::{Error, Result};
use crate::request::StepKind;

/// A pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolDocument {
    /// Name, unique in the cluster.
    pub name: String,
    /// Share of the cluster's devices that steps charged to it are guaranteed, 0..=1, wherever the devices are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nominal: Option<f64>,
    /// Share of the cluster's devices that they may use beyond that while nobody else is guaranteed them, or others lend
    /// them; nothing when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub borrow: Option<f64>,
    /// Share of the cluster's devices that others may use of what the pool does not; nothing when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lend: Option<f64>,
    /// Kinds of step that are charged to it where they name no pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<StepKind>,
    /// What of its guaranteed share is kept for steps of a high priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Headroom>,
    /// How far the compute of its devices may be oversubscribed by shares, 1.0 to 1.5; memory never is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oversubscribe: Option<f64>,
    /// Part of a device's memory in use beyond which no further share is admitted, where something on its nodes holds steps
    /// to their memory. Required to oversubscribe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_guard: Option<f64>,
    /// Whether its whole devices may be cut into partitions while nothing runs on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repartition: Option<bool>,
    /// Price per device and hour, by catalog key.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub price: IndexMap<String, f64>,
}

/// Devices that only steps of a high priority may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Headroom {
    /// Share of the cluster's devices, 0..=1.
    pub share: f64,
    /// The lowest priority that may use them.
    pub priority: i64,
}

/// Shares of the pools of one cluster may exceed it by rounding only.
const ROUNDING: f64 = 1e-9;

impl ClusterDocument {
    /// Whether its devices are shared out by pools, or kept for steps of a high priority.
    pub(crate) fn is_shared_out(&self) -> bool {
        self.headroom.is_some() || self.pools.iter().any(|pool| pool.nominal.is_some())
    }

    /// Refuses pools that cannot all have what they are guaranteed, or say what means nothing.
    pub(crate) fn check_pools(&self, path: &str) -> Result<()> {
        let mut taken: IndexSet<StepKind> = IndexSet::new();
        let mut names = IndexSet::new();
        check_share(self.headroom.map(|headroom| headroom.share), &format!("{path}.headroom.share"))?;
        for (at, pool) in self.pools.iter().enumerate() {
            let path = format!("{path}.pools[{at}]");
            if !names.insert(&pool.name) {
                let message = format!("pool {:?} is named twice in cluster {:?}", pool.name, self.name);
                return Err(Error::document(format!("{path}.name"), message));
            }
            check_share(pool.nominal, &format!("{path}.nominal"))?;
            check_share(pool.borrow, &format!("{path}.borrow"))?;
            check_share(pool.lend, &format!("{path}.lend"))?;
            check_share(pool.headroom.map(|headroom| headroom.share), &format!("{path}.headroom.share"))?;
            let says = [
                ("borrow", pool.borrow.is_some()),
                ("lend", pool.lend.is_some()),
                ("takes", !pool.takes.is_empty()),
                ("headroom", pool.headroom.is_some()),
            ];
            if let Some((field, _)) = says.iter().find(|(_, is_said)| *is_said && pool.nominal.is_none()) {
                let message = format!("{field} is of a share of the cluster; say how large it is, as in nominal: 0.7");
                return Err(Error::document(format!("{path}.{field}"), message));
            }
            if pool.headroom.is_some_and(|headroom| headroom.share > pool.nominal.unwrap_or(0.0)) {
                let message = "a pool keeps no more than its nominal share";
                return Err(Error::document(format!("{path}.headroom.share"), message));
            }
            if let Some(kind) = pool.takes.iter().find(|&&kind| !taken.insert(kind)) {
                let message = format!("two pools take {} steps; let one of them", kind.word());
                return Err(Error::document(format!("{path}.takes"), message));
            }
        }
        let together: f64 = self.pools.iter().filter_map(|pool| pool.nominal).sum();
        if together > 1.0 + ROUNDING {
            let message = format!("the pools of cluster {:?} are guaranteed {together} of it; 1 is all", self.name);
            return Err(Error::document(format!("{path}.pools"), message));
        }
        Ok(())
    }
}

fn check_share(share: Option<f64>, path: &str) -> Result<()> {
    match share.filter(|share| !(0.0..=1.0).contains(share)) {
        None => Ok(()),
        Some(share) => {
            Err(Error::document(path, format!("{share} is no share of a cluster; write a number from 0 to 1")))
        }
    }
}
