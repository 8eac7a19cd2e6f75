//! Nodes of the fleet document: their devices, and what of them is in use.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pairing::BoundBy;
use crate::profile::Class;

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

/// One PCIe switch for all devices of a group, or one each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "the number of a PCIe switch, or a list of one number or null per device")]
pub enum Switch {
    /// All devices on this one.
    One(u16),
    /// One per device; null where unknown.
    Each(Vec<Option<u16>>),
}

/// Whether a network card is near, for all devices of a group or for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "true or false, or a list of true, false or null per device")]
pub enum Nic {
    /// The same for all devices.
    One(bool),
    /// One per device; null where unknown.
    Each(Vec<Option<bool>>),
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
    /// PCIe switches, numbered within the node; unknown when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
    /// Whether a network card is on the PCIe root of the devices; unknown when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic: Option<Nic>,
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
    /// Whether the devices are virtual GPUs of a hypervisor, each a whole card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vgpu: Option<bool>,
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
    /// The pool of the cluster that it is charged to; none when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged: Option<String>,
    /// Device ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<u32>,
    /// Share of each device, thousandths; whole devices when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_milli: Option<u16>,
    /// Memory of each device that it asked for, MiB, where its share follows from that; as much as the share when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_memory_mib: Option<u64>,
    /// What its share of a device is bound by, `compute` or `memory`; unknown when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundBy>,
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
    /// Age of its last checkpoint when the document was made, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_age_s: Option<u64>,
    /// How long a checkpoint of it takes, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_s: Option<u64>,
    /// What starting again takes before it is as far as its last checkpoint, seconds; nothing when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_s: Option<u64>,
    /// Gang: entries of a cluster that name the same one end together or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gang: Option<String>,
    /// Whether it may be preempted; not where it does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptible: Option<bool>,
    /// Its priority; only steps of a higher one may have its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// True where only the number of devices is known and which ones is assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumed: Option<bool>,
}
