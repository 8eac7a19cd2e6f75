//! A compiled requirement: nothing left to parse or to look up by spelling.

mod checking;
mod place;
mod step_kind;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::pairing::BoundBy;
use crate::profile::Class;
use crate::units::{CORE_MILLI, WHOLE_MILLI};

pub(crate) use checking::check;
pub use place::{Checkpoint, Place, Spread};
pub use step_kind::StepKind;

/// How a precision must be supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Path {
    /// A hardware matrix path at full rate.
    Native,
    /// Storage is enough: weights are widened to fp16 or bf16 on the way in.
    Weight,
    /// Any of these, a slow native path included.
    Any,
}

/// A precision and how it must be supported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrecisionNeed {
    /// Precision word, as `fp8`.
    pub word: String,
    /// How.
    pub path: Path,
}

/// A link that all chosen devices must share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind", content = "brand")]
pub enum Link {
    /// One scale-up island of any brand.
    Fabric,
    /// One scale-up island of this brand, as the catalog spells it.
    Brand(String),
}

/// A name that a person wrote, with what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Name {
    /// Catalog keys that the name means.
    pub skus: Vec<String>,
    /// Models outside the catalog that the name means.
    pub models: Vec<String>,
    /// Whether every model is meant, of the vendor if one is named.
    pub is_any_model: bool,
    /// Vendor that the device must be of.
    pub vendor: Option<String>,
    /// Hardware partition.
    pub partition: Option<String>,
}

/// How a device may be shared with other steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShareMode {
    /// Not at all.
    Exclusive,
    /// By a hardware partition, as MIG: the step takes a whole partition.
    Mig,
    /// By a sharing daemon.
    Mps,
    /// By turns.
    TimeSlice,
    /// In any way.
    Any,
}

/// How far apart the groups of a step may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nearness {
    /// All on one node.
    Node,
    /// Where no node has room for all, on nodes on one switch of the network.
    Switch,
    /// Where no such nodes have, on nodes of one rack.
    Rack,
}

/// One alternative of a request. `None` asks nothing.
#[allow(clippy::struct_excessive_bools)] // clauses that a person writes or not, each on its own
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What a person calls it, as `MI300X`.
    pub label: String,
    /// Broad kind; `None` is any accelerator.
    pub class: Option<Class>,
    /// Vendor word.
    pub vendor: Option<String>,
    /// Equally good names; none means any model.
    pub names: Vec<Name>,
    /// Devices in all; 0 for a step that asks for CPU only.
    pub count: u32,
    /// Share of each device, thousandths.
    pub share_milli: u16,
    /// Least nominal memory of what is granted of each device.
    pub memory_floor_mib: Option<u64>,
    /// Most nominal memory of a device.
    pub memory_ceiling_mib: Option<u64>,
    /// Least memory that a device reports.
    pub usable_floor_mib: Option<u64>,
    /// Precisions needed, all of them.
    pub precisions: Vec<PrecisionNeed>,
    /// Link needed.
    pub link: Option<Link>,
    /// Least link bandwidth of a device, all directions and peers added, decimal MB/s.
    pub link_floor_mbps: Option<u64>,
    /// Least dense peak rate in the first precision (bf16 when none is asked), TFLOPS.
    pub compute_floor_tflops: Option<f64>,
    /// Least memory bandwidth, decimal MB/s.
    pub bandwidth_floor_mbps: Option<u64>,
    /// CPU, thousandths of a core.
    pub cpu_milli: u64,
    /// Host memory.
    pub host_memory_mib: u64,
    /// More devices are taken up to this many, `count` at least.
    #[serde(default)]
    pub count_ceiling: Option<u32>,
    /// Memory wanted of one device, where the share follows from it: a quarter of an 80 GB card, half of a 40 GB one.
    #[serde(default)]
    pub share_memory_mib: Option<u64>,
    /// Memory of the whole job, which lies evenly over its devices, where no floor is stated; over its nodes, of a step that
    /// takes no device and may lie on several.
    #[serde(default)]
    pub job_memory_mib: Option<u64>,
    /// How the device may be shared.
    #[serde(default)]
    pub share_mode: Option<ShareMode>,
    /// What a share is bound by: of equal devices it takes the one where it meets less of its own kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundBy>,
    /// Least part of a device's memory that a partition must have, thousandths.
    #[serde(default)]
    pub partition_floor_milli: u16,
    /// Beginning of the memory technology in lower case, as `hbm`.
    #[serde(default)]
    pub memory_kind: Option<String>,
    /// Whether a documented trusted execution mode is needed.
    #[serde(default)]
    pub is_confidential: bool,
    /// Whether all devices must be on one NUMA node.
    #[serde(default)]
    pub one_numa_node: bool,
    /// Whether each device must have a network card on its PCIe root.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub near_nic: bool,
    /// Whether, of equal devices, those with a network card on their PCIe root are taken first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prefers_nic: bool,
    /// Most board power of the chosen devices.
    #[serde(default)]
    pub power_ceiling_mw: Option<u64>,
    /// Whether it runs with its devices capped where power is short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_cap_power: bool,
    /// Most price of the chosen devices, thousandths per hour.
    #[serde(default)]
    pub cost_ceiling_milli: Option<u64>,
    /// Least speed relative to the first choice, thousandths.
    #[serde(default)]
    pub performance_floor_milli: Option<u64>,
    /// Whether devices of unknown relative speed are refused; otherwise they pass.
    #[serde(default)]
    pub rejects_unknown_performance: bool,
    /// Least driver version of the device's vendor, part by part.
    #[serde(default)]
    pub driver_floor: Vec<u64>,
    /// Libraries that the node must have: one of each list.
    #[serde(default)]
    pub runtimes: Vec<Vec<String>>,
    /// Remote memory access that the node must have: `ib`, `roce`, or `rdma` for either.
    #[serde(default)]
    pub rdma: Option<String>,
    /// Where the step may run.
    #[serde(default)]
    pub place: Place,
    /// Least score.
    #[serde(default)]
    pub min_score: Option<u32>,
    /// Rate in the first precision beyond which more is no gain to the step, TFLOPS. Scored only.
    #[serde(default)]
    pub compute_need_tflops: Option<f64>,
    /// Memory bandwidth beyond which more is no gain to the step, decimal MB/s. Scored only.
    #[serde(default)]
    pub bandwidth_need_mbps: Option<u64>,
    /// Least and most nodes that the devices may lie on, as many on each; one where it is not said. CPU and host memory
    /// are what each node gives; of a step that takes no device, the CPU is that of all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<(u32, u32)>,
    /// Devices of a tensor parallel group: each group lies in one island.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensor_ranks: Option<u32>,
    /// Work per hour in thousandths of that of the reference device: the count follows from it, kind by kind; over several
    /// nodes each gives as many, as few as do it together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units_milli: Option<u64>,
    /// Further nodes that give as many devices: above 0, this is one node's part of a step over several.
    #[serde(skip)]
    pub peers: u32,
    /// Whether it is one of several groups, which what it leaves of a node is for as well.
    #[serde(skip)]
    pub is_of_groups: bool,
    /// Precision that the step is quantized to, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantize: Option<String>,
    /// Toolkit that the step's code is for, as `cuda`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolkit: Option<String>,
    /// Whether its code may run by translation, on devices of other vendors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_translate: bool,
    /// What the step does: pools take kinds of step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<StepKind>,
    /// The pool that it is charged to, where it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Key under which its throughput was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Further devices of other kinds that belong to the step: each asks for its own, this choice is the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Choice>,
    /// How far apart the groups may lie; on one node where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearness: Option<Nearness>,
    /// How many times as much nearness counts between devices of different groups as within one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity_weight: Option<u32>,
}

impl Choice {
    /// Devices on all nodes together.
    pub fn total(&self) -> u32 {
        self.count * (self.peers + 1)
    }

    /// Whether the devices may lie on several nodes.
    pub fn may_be_gang(&self) -> bool {
        self.nodes.is_some_and(|(_, most)| most > 1)
    }

    /// Whether it asks for devices of several kinds together.
    pub fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// What is split over several nodes: devices, or the whole cores of a step that takes none.
    pub fn amount(&self) -> u32 {
        let cores = || u32::try_from(self.cpu_milli / CORE_MILLI).unwrap_or(u32::MAX);
        if self.is_cpu_only() { cores() } else { self.count }
    }

    /// The part that each of so many nodes gives; `None` where the devices, or their tensor parallel groups, or the cores
    /// of a step without devices, do not split evenly.
    #[must_use]
    pub fn part(&self, nodes: u32) -> Option<Self> {
        if self.is_cpu_only() {
            return self.part_of_cores(nodes);
        }
        let groups = self.count.checked_div(self.tensor_ranks.unwrap_or(1))?;
        let is_even = nodes == 1 || (nodes > 1 && groups > 0 && groups.is_multiple_of(nodes));
        let count = self.count / nodes.max(1);
        is_even.then(|| Self { count, count_ceiling: None, nodes: None, peers: nodes - 1, ..self.clone() })
    }

    /// Memory of the whole job lies evenly over the nodes; what is asked of a host is asked of each.
    fn part_of_cores(&self, nodes: u32) -> Option<Self> {
        let cores = self.cpu_milli.checked_div(u64::from(nodes))?;
        let is_even = nodes == 1 || (cores > 0 && self.cpu_milli.is_multiple_of(CORE_MILLI * u64::from(nodes)));
        let of_job = self.job_memory_mib.map_or(0, |mib| mib.div_ceil(u64::from(nodes)));
        let host_memory_mib = self.host_memory_mib.max(of_job);
        is_even.then(|| Self { cpu_milli: cores, host_memory_mib, nodes: None, peers: nodes - 1, ..self.clone() })
    }

    /// Whether the step takes no device.
    pub fn is_cpu_only(&self) -> bool {
        self.count == 0
    }

    /// The precision by which speed is compared: the first one asked, else bf16.
    pub fn rate_precision(&self) -> &str {
        self.precisions.first().map_or("bf16", |need| need.word.as_str())
    }

    /// The same choice with another number of devices, and no range.
    #[must_use]
    pub fn with_count(&self, count: u32) -> Self {
        Self { count, count_ceiling: None, ..self.clone() }
    }

    /// The share of a device of this nominal memory, thousandths: as stated, or as much as holds the memory wanted.
    ///
    /// A device that is too small, or of unknown size, would be taken whole; the filter refuses it before.
    pub fn share_of(&self, nominal_mib: Option<u64>) -> u16 {
        let Some(wanted) = self.share_memory_mib else { return self.share_milli };
        let whole = u64::from(WHOLE_MILLI);
        let share = nominal_mib.filter(|&mib| mib > 0).map_or(whole, |mib| wanted.saturating_mul(whole).div_ceil(mib));
        u16::try_from(share.clamp(1, whole)).unwrap_or(WHOLE_MILLI)
    }

    /// Whether a device is shared with other steps.
    pub fn is_share(&self) -> bool {
        self.share_milli < WHOLE_MILLI || self.share_memory_mib.is_some()
    }

    /// Nominal memory that a whole device needs so that the granted share meets the floor.
    pub fn device_floor_mib(&self) -> Option<u64> {
        let share = u64::from(self.share_milli.max(1));
        let part_of_job = || self.job_memory_mib.map(|mib| mib.div_ceil(u64::from(self.total().max(1))));
        if self.share_memory_mib.is_some() {
            return self.share_memory_mib.max(self.memory_floor_mib);
        }
        let floor = self.memory_floor_mib.or_else(part_of_job);
        floor.map(|floor| floor.saturating_mul(u64::from(WHOLE_MILLI)).div_ceil(share))
    }
}

/// A compiled requirement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The canonical text of the requirement.
    pub requirement: String,
    /// The team whose step it is.
    #[serde(default)]
    pub team: Option<String>,
    /// Its priority: what may be preempted and has a lower one could make room for it.
    #[serde(default)]
    pub priority: Option<i64>,
    /// Where it saves its state: near there it would rather run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Alternatives, best first.
    pub choices: Vec<Choice>,
}

impl Request {
    /// Reads the JSON form and checks what the placer relies on.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let request: Self =
            serde_json::from_slice(text).map_err(|e| Error::InvalidRequest { message: e.to_string() })?;
        if request.choices.is_empty() {
            return Err(Error::InvalidRequest { message: "a request has at least one choice".to_owned() });
        }
        request.choices.iter().try_for_each(check)?;
        Ok(request)
    }
}
