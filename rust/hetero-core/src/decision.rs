//! What the core answers: a placement, or the reasons for none. Values, never errors.

mod cut;

use serde::{Deserialize, Serialize};

use crate::cluster::ClusterScore;
use crate::codes::Code;
use crate::pairing::BoundBy;
use crate::sharing::Sharing;

pub use cut::{Cut, CutPart};

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Placed on the first choice.
    Placed,
    /// Placed on a later choice.
    Degraded,
    /// It would fit, but not now.
    Busy,
    /// No node could ever take it, even empty.
    Impossible,
}

/// One granted device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Node.
    pub node: String,
    /// Id within the node.
    pub id: u32,
    /// UUID, where known.
    pub uuid: Option<String>,
    /// Share granted, thousandths.
    pub share_milli: u16,
    /// Share that was free when the decision was made: a commit checks that it still is.
    pub free_milli: u16,
}

/// What the granted devices are; all of one placement, or of one group of it, are of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// Catalog key; `None` for a device outside the catalog.
    pub sku: Option<String>,
    /// Vendor word.
    pub vendor: Option<String>,
    /// Model name.
    pub model: Option<String>,
    /// Broad kind.
    pub class: Option<crate::profile::Class>,
    /// Hardware partition.
    pub partition: Option<String>,
    /// Memory granted on each device, as the device reports it.
    pub memory_mib: Option<u64>,
    /// What keeps it from neighbours, where a part of a device is granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
}

/// One component of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Which.
    pub name: String,
    /// 0..=1, higher is better.
    pub value: f64,
    /// Weight; those of a decision add up to 100.
    pub weight: f64,
    /// Value times weight.
    pub points: f64,
    /// What the value comes from.
    pub why: String,
}

/// Points off a score, beside its terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Penalty {
    /// Which.
    pub name: String,
    /// Negative.
    pub points: f64,
    /// What it is for.
    pub why: String,
}

/// Nodes that one choice was refused on, for one reason with one set of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The choice.
    pub choice: String,
    /// Its place in the order of choices.
    pub choice_index: usize,
    /// Why.
    pub code: Code,
    /// Where.
    pub nodes: Vec<String>,
    /// What there is.
    pub have: Option<u64>,
    /// What was asked.
    pub want: Option<u64>,
    /// Unit of the two numbers; `None` for counts.
    pub unit: Option<String>,
    /// The group of the choice that it is about, where the choice has groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The limit that was met, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Whether it holds on an empty fleet too.
    pub is_permanent: bool,
    /// What to do.
    pub advice: String,
}

/// Speed of what was granted, relative to the first choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Performance {
    /// Ratio; `None` when it is unknown.
    pub ratio: Option<f64>,
    /// Where the ratio comes from.
    pub source: String,
}

/// The refusal that came nearest to a fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nearest {
    /// The choice.
    pub choice: String,
    /// The node.
    pub node: String,
    /// Why not.
    pub code: Code,
    /// What there is.
    pub have: Option<u64>,
    /// What was asked.
    pub want: Option<u64>,
    /// Unit of the two numbers; `None` for counts.
    pub unit: Option<String>,
    /// Single changes that make the request fit now, tried out, smallest first.
    pub changes: Vec<Change>,
}

/// A change of one clause of one choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Place of the choice.
    pub choice_index: usize,
    /// The clause, as the fields of a choice are named.
    pub clause: String,
    /// Its new number; `None` where the clause is dropped, or gets what the text says.
    pub to: Option<u64>,
    /// The same in words.
    pub text: String,
}

/// What the lost work of something in use is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CountedFrom {
    /// Its last checkpoint.
    Checkpoint,
    /// Its start, where the age of a checkpoint is unknown.
    Start,
    /// The notice: it has the time to save its work, and loses that time.
    Notice,
}

/// Something in use that would end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Victim {
    /// Whose it is.
    pub owner: String,
    /// The gang that it belongs to, whose entries all end.
    pub gang: Option<String>,
    /// Cluster.
    pub cluster: String,
    /// Node.
    pub node: String,
    /// Device ids.
    pub devices: Vec<u32>,
    /// Share of each, thousandths.
    pub share_milli: u16,
    /// Its priority, below that of the step.
    pub priority: i64,
    /// What its lost work is counted from; `None` where neither age is known.
    pub counted_from: Option<CountedFrom>,
    /// Whether a checkpoint fits within the notice; `None` where it is unknown how long either is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_save: Option<bool>,
    /// Work lost, with what starting again takes, thousandths of a device-second; `None` is unknown.
    pub lost_device_ms: Option<u64>,
}

/// What would make room for a step of higher priority, at the least loss. Nothing is preempted by saying so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Victims {
    /// The choice that would fit.
    pub choice: String,
    /// Its place in the order of choices.
    pub choice_index: usize,
    /// Cluster.
    pub cluster: String,
    /// The nodes that it would fit on.
    pub nodes: Vec<String>,
    /// Work lost in all, thousandths of a device-second; `None` where that of a victim is unknown.
    pub lost_device_ms: Option<u64>,
    /// Whether every set that could lose less was ruled out.
    pub is_least: bool,
    /// All that would end, on all nodes.
    pub victims: Vec<Victim>,
}

/// What one group of a step gets, of a step that asks for several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupGrant {
    /// What the group asks for, as `Ascend-910B`.
    pub choice: String,
    /// Node.
    pub node: String,
    /// Its devices; none for a group of CPU cores.
    pub devices: Vec<Grant>,
    /// What they are.
    pub granted: Option<Granted>,
    /// CPU granted, thousandths of a core.
    pub cpu_milli: u64,
    /// Host memory granted.
    pub memory_mib: u64,
    /// Memory of the device that was asked for, where the share follows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_memory_mib: Option<u64>,
    /// What the share is bound by, where the group says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundBy>,
    /// The pool that the group is charged to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
}

/// Something about a placement that its user may want otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// A warning of the registry.
    pub code: String,
    /// What is so.
    pub text: String,
}

/// Where a step goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Placed or degraded.
    pub verdict: Verdict,
    /// Canonical text of the requirement.
    pub requirement: String,
    /// The choice that was granted.
    pub choice: String,
    /// Its place in the order of choices.
    pub choice_index: usize,
    /// The policy that scored.
    pub policy: String,
    /// 0..=100.
    pub score: f64,
    /// The parts of the score.
    pub terms: Vec<Term>,
    /// What was taken off their sum.
    #[serde(default)]
    pub penalties: Vec<Penalty>,
    /// Cluster.
    pub cluster: String,
    /// How that compares with others; `None` where clusters were not told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_score: Option<ClusterScore>,
    /// Nodes.
    pub nodes: Vec<String>,
    /// Devices; none for a step that asks for CPU only.
    pub devices: Vec<Grant>,
    /// What the devices are, those of the first group where there are several; `None` for a step that asks for CPU only.
    pub granted: Option<Granted>,
    /// What each group gets; none for a step that asks for devices of one kind. `devices` has those of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupGrant>,
    /// What has to be cut first; `None` where all devices are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// What may be wanted otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Precision granted: the first one that the choice asks.
    pub precision: Option<String>,
    /// Precision that the step is to be quantized to; `None` where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantize: Option<String>,
    /// CPU granted, thousandths of a core; 0 where none was asked.
    pub cpu_milli: u64,
    /// Host memory granted; 0 where none was asked.
    pub memory_mib: u64,
    /// Memory of the device that was asked for, where the share follows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_memory_mib: Option<u64>,
    /// What the share is bound by, where the choice says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundBy>,
    /// The team that it counts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The pool that it is charged to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Why earlier choices were refused.
    pub reasons: Vec<Reason>,
    /// Speed relative to the first choice.
    pub performance: Performance,
    /// Source of the mix that fragmentation was measured against.
    pub mix: String,
    /// Always false here: a placement is a proposal.
    pub reserved: bool,
    /// Digest of the question: the same question has the same id.
    pub trace_id: String,
}

impl Placement {
    /// Share of each granted device, thousandths.
    pub fn share_milli(&self) -> u16 {
        self.devices.first().map_or(0, |grant| grant.share_milli)
    }
}

/// Why a step goes nowhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoFit {
    /// Busy or impossible.
    pub verdict: Verdict,
    /// Canonical text of the requirement.
    pub requirement: String,
    /// The policy that would have scored.
    pub policy: String,
    /// Empty.
    pub nodes: Vec<String>,
    /// Empty.
    pub devices: Vec<Grant>,
    /// Why each choice was refused where.
    pub reasons: Vec<Reason>,
    /// The refusal that came nearest; `None` on a fleet without nodes.
    pub nearest: Option<Nearest>,
    /// What would make room at the least loss, where the step is busy and of higher priority than something preemptible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub victims: Option<Victims>,
    /// Source of the mix.
    pub mix: String,
    /// Always false here.
    pub reserved: bool,
    /// Digest of the question: the same question has the same id.
    pub trace_id: String,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Decision {
    /// It goes here.
    Placement(Box<Placement>),
    /// It goes nowhere, and why.
    NoFit(Box<NoFit>),
}

impl Decision {
    /// How the question ended.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Placement(placement) => placement.verdict,
            Self::NoFit(no_fit) => no_fit.verdict,
        }
    }
}
