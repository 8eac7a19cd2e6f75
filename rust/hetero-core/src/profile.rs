//! What the catalog knows of each accelerator model (its GPU Attribute Profile), in the form that decisions need.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::units::WHOLE_MILLI;

/// The broad kind of an accelerator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // each is its own explanation
pub enum Class {
    Gpu,
    Npu,
    Tpu,
    Lpu,
    Cpu,
}

impl Class {
    /// The word that a person writes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Npu => "npu",
            Self::Tpu => "tpu",
            Self::Lpu => "lpu",
            Self::Cpu => "cpu",
        }
    }
}

/// How well a precision is supported. Absent from a profile means unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Support {
    /// A hardware matrix path at full rate.
    Native,
    /// A native path too slow to choose it.
    Degraded,
    /// Known to have no native path.
    Unsupported,
}

/// One accelerator model. Unknown is `None` or an absent entry, never zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The catalog key.
    pub sku: String,
    /// Vendor word.
    pub vendor: String,
    /// Broad kind.
    pub class: Class,
    /// Model name.
    pub model: String,
    /// Nominal memory of one schedulable device.
    pub memory_mib: Option<u64>,
    /// Memory bandwidth of one package, decimal MB/s.
    pub bandwidth_mbps: Option<u64>,
    /// Dense peak rate by precision word, TFLOPS (TOPS for integers).
    pub rates: IndexMap<String, f64>,
    /// Support by precision word.
    pub precisions: IndexMap<String, Support>,
    /// Measured share of the peak by precision word, 0 to about 1.1.
    pub efficiency: IndexMap<String, f64>,
    /// Share of the peak to assume where nothing was measured.
    pub default_efficiency: f64,
    /// Brand of the link inside a node, as `nvlink`, `infinity_fabric`, `pcie`.
    pub interconnect: Option<String>,
    /// Shape of that link, as `nvswitch`, `full-mesh`, `bridge`, `pcie-tree`.
    pub interconnect_topology: Option<String>,
    /// Bandwidth of that link per device, all directions and peers added, decimal MB/s.
    pub interconnect_mbps: Option<u64>,
    /// Bandwidth that one pair of devices can use, both directions, decimal MB/s.
    pub pair_mbps: Option<u64>,
    /// Highest normal board power.
    pub tdp_mw: Option<u64>,
    /// Devices in the usual platform.
    pub max_per_node: Option<u32>,
    /// Devices in one load/store fabric domain.
    pub scaleup_domain: Option<u32>,
    /// Family, as `Hopper`.
    #[serde(default)]
    pub family: Option<String>,
    /// Memory technology, as `HBM3` or `GDDR6`.
    #[serde(default)]
    pub memory_type: Option<String>,
    /// Whether a trusted execution mode is documented.
    #[serde(default)]
    pub is_confidential_capable: Option<bool>,
    /// Whether steps can share a device through a sharing daemon.
    #[serde(default)]
    pub supports_mps: bool,
    /// Whether only whole nodes are handed out, by rules that figures do not tell: never ranked by its rates.
    #[serde(default)]
    pub is_opaque: bool,
    /// Hardware partitions that the device can be cut into.
    #[serde(default)]
    pub partitions: Vec<Partition>,
    /// Work per hour against the reference device, thousandths.
    #[serde(default)]
    pub unit_milli: Option<u32>,
}

/// A hardware partition of a device.
///
/// MIG cuts compute and memory into slices: an instance takes some of both, its memory slices are adjacent and begin at one
/// of `starts`. A mode, as AMD and others have them, cuts the whole device into `count` like parts and has no starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// Name, as `1g.10gb` or `cpx_nps4`.
    pub name: String,
    /// Nominal memory.
    pub memory_mib: Option<u64>,
    /// Memory that the partition reports.
    pub usable_mib: Option<u64>,
    /// Part of the device's compute units, thousandths.
    #[serde(default)]
    pub compute_milli: Option<u32>,
    /// Whether it is the undivided device, as the mode `spx_nps1` is.
    #[serde(default)]
    pub is_whole: bool,
    /// Part of the device's memory bandwidth, thousandths.
    #[serde(default)]
    pub bandwidth_milli: Option<u32>,
    /// Partitions of this name that a device holds at most.
    #[serde(default)]
    pub count: Option<u32>,
    /// Compute slices that it takes.
    #[serde(default)]
    pub compute_slices: Option<u32>,
    /// Memory slices that it takes.
    #[serde(default)]
    pub memory_slices: Option<u32>,
    /// Compute slices of the device.
    #[serde(default)]
    pub device_compute_slices: Option<u32>,
    /// Memory slices of the device.
    #[serde(default)]
    pub device_memory_slices: Option<u32>,
    /// Memory slices at which it may begin.
    #[serde(default)]
    pub starts: Vec<u32>,
    /// Whether it has the one set of media engines.
    #[serde(default)]
    pub has_media_engines: bool,
    /// Memory without an inner fence.
    #[serde(default)]
    pub memory_domain_mib: Option<u64>,
    /// Whether the process chooses it, by its environment: nothing is cut then.
    #[serde(default)]
    pub is_of_process: bool,
}

impl Profile {
    /// Devices, or partitions, that do so much work per hour; `None` where nothing is known of the rate, as of one that is
    /// never ranked by it.
    pub(crate) fn devices_for(&self, units_milli: u64, partition: Option<&str>) -> Option<u32> {
        let of_one = self.unit_milli_of(partition)?;
        let devices = units_milli.checked_div(of_one).map(|_| units_milli.div_ceil(of_one))?;
        u32::try_from(devices.max(1)).ok()
    }

    /// Work per hour of the device, or of a partition of it, thousandths of that of the reference device; `None` is unknown.
    pub(crate) fn unit_milli_of(&self, partition: Option<&str>) -> Option<u64> {
        let whole = u64::from(self.unit_milli.filter(|_| !self.is_opaque)?);
        let Some(name) = partition else { return Some(whole) };
        let cut = self.partitions.iter().find(|cut| cut.name == name)?;
        Some(whole * u64::from(cut.compute_milli?) / u64::from(WHOLE_MILLI))
    }

    /// How many devices of a node a scale-up fabric joins when nothing else is said; `None` where it joins none.
    ///
    /// A bridge joins only the cards it is plugged into, and PCIe is no scale-up link, so neither counts.
    pub fn fabric_devices(&self) -> Option<u32> {
        let link = self.interconnect.as_deref()?;
        let shape = self.interconnect_topology.as_deref()?;
        let joins = !matches!(link, "pcie" | "none" | "upi") && !matches!(shape, "bridge" | "pcie-tree" | "none");
        self.scaleup_domain.or(self.max_per_node).filter(|&devices| joins && devices > 1)
    }

    /// Share of the peak that a dense kernel reaches: measured, else assumed.
    pub fn efficiency_in(&self, precision: &str) -> f64 {
        *self.efficiency.get(precision).unwrap_or(&self.default_efficiency)
    }

    fn check(&self) -> Result<()> {
        let figures = self.rates.values().chain(self.efficiency.values());
        if figures.chain([&self.default_efficiency]).any(|x| !x.is_finite() || *x < 0.0) {
            let message = format!("catalog: {} has a rate that is negative or not a number", self.sku);
            return Err(Error::document("", message));
        }
        Ok(())
    }

    /// The rate that a dense kernel reaches, TFLOPS.
    pub fn achieved_tflops(&self, precision: &str) -> Option<f64> {
        self.rates.get(precision).map(|peak| peak * self.efficiency_in(precision))
    }
}

/// What running in a roundabout way leaves of a device's speed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overheads {
    /// By toolkit, then vendor: thousandths of the speed that is left when code for the toolkit runs there; 1000 where it
    /// is at home. What is absent does not run.
    pub toolkits: IndexMap<String, IndexMap<String, u32>>,
    /// Thousandths of its speed that are left of a device behind a hypervisor's virtual GPU.
    pub virtual_milli: Option<u32>,
}

/// The catalog as the core sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profiles {
    /// Digest of the catalog's data; part of every trace id.
    pub digest: String,
    /// Resource keys of device plugins by vendor: a taint on one of them is meant for steps that use the devices.
    pub resource_keys: IndexMap<String, Vec<String>>,
    /// Speed that is left of translated code and of virtual devices.
    #[serde(default)]
    pub overheads: Overheads,
    /// All profiles.
    pub entries: Vec<Profile>,
}

impl Profiles {
    /// Reads the JSON form.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let profiles: Self = serde_json::from_slice(text).map_err(|e| Error::document("", format!("catalog: {e}")))?;
        profiles.entries.iter().try_for_each(Profile::check)?;
        Ok(profiles)
    }

    /// The profile of a catalog key.
    pub fn get(&self, sku: &str) -> Option<&Profile> {
        self.entries.iter().find(|profile| profile.sku == sku)
    }
}
