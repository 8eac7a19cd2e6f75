//! Request against device kind, then against node: fit, or a [`Misfit`] with a name and numbers.
//!
//! A misfit of [`never`] holds on an empty fleet too; one of [`not_now`] passes when steps end or nodes return.

use std::borrow::Cow;

use crate::codes::Code;
use crate::document::NodeState;
use crate::inventory::{Inventory, Node, Run};
use crate::kind::Kind;
use crate::profile::{Class, Support};
use crate::request::{Choice, Link, Name, Path, PrecisionNeed};
use crate::units::WHOLE_MILLI;

/// Why something does not fit, with the numbers that decided it; `None` is unknown or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Misfit {
    /// The reason.
    pub code: Code,
    /// What there is.
    pub have: Option<u64>,
    /// What was asked.
    pub want: Option<u64>,
}

impl Misfit {
    fn of(code: Code) -> Self {
        Self { code, have: None, want: None }
    }

    fn numbers(code: Code, have: Option<u64>, want: u64) -> Self {
        Self { code, have, want: Some(want) }
    }
}

/// What is free on a node, as the filter asks it.
pub struct View<F: Fn(usize) -> u16> {
    /// Free share of a device, by its position in the columns.
    pub free_milli: F,
    /// Free CPU.
    pub cpu_milli: Option<u64>,
    /// Free host memory.
    pub memory_mib: Option<u64>,
}

/// Asks every kind of the fleet once, so that nodes need not be asked for the same thing again; `None` fits.
pub fn kinds(inventory: &Inventory, choice: &Choice) -> Vec<Option<Misfit>> {
    inventory.kinds.iter().map(|kind| kind_misfit(kind, choice)).collect()
}

/// Whether devices of a kind can serve a choice at all.
pub fn kind_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    if !is_of_class(kind, choice) || !is_of_form(kind, choice) {
        return Some(Misfit::of(Code::NotOffered));
    }
    if choice.vendor.is_some() && choice.vendor != kind.vendor {
        return Some(Misfit::of(Code::VendorMismatch));
    }
    if !choice.names.is_empty() && !choice.names.iter().any(|name| is_named(kind, name)) {
        return Some(Misfit::of(Code::ModelMismatch));
    }
    memory_misfit(kind, choice)
        .or_else(|| choice.precisions.iter().find_map(|need| precision_misfit(kind, need)))
        .or_else(|| link_misfit(kind, choice))
        .or_else(|| rate_misfit(kind, choice))
}

/// Without a class and a name any accelerator will do, which a CPU is not.
fn is_of_class(kind: &Kind, choice: &Choice) -> bool {
    match choice.class {
        Some(class) => kind.class == Some(class),
        None => !choice.names.is_empty() || kind.class != Some(Class::Cpu),
    }
}

/// A whole device is asked for unless a partition is named.
fn is_of_form(kind: &Kind, choice: &Choice) -> bool {
    let is_partition = kind.partition.is_some();
    match choice.names.as_slice() {
        [] => !is_partition,
        names => names.iter().any(|name| name.partition.is_some() == is_partition),
    }
}

fn is_named(kind: &Kind, name: &Name) -> bool {
    let is_meant = match (&kind.sku, &kind.model) {
        (Some(sku), _) => name.skus.contains(sku),
        (None, Some(model)) => name.models.contains(model),
        (None, None) => false,
    };
    let is_of_vendor = name.vendor.is_none() || name.vendor == kind.vendor;
    (is_meant || name.is_any_model) && is_of_vendor && name.partition == kind.partition
}

fn memory_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    if let Some(ceiling) = choice.memory_ceiling_mib
        && kind.nominal_mib.is_none_or(|mib| mib > ceiling)
    {
        return Some(Misfit::numbers(Code::MemoryTooLarge, kind.nominal_mib, ceiling));
    }
    if let Some(floor) = choice.device_floor_mib()
        && kind.nominal_mib.is_none_or(|mib| mib < floor)
    {
        return Some(Misfit::numbers(Code::MemoryTooSmall, kind.nominal_mib, floor));
    }
    let floor = choice.usable_floor_mib?;
    let too_small = kind.usable_mib.is_none_or(|mib| mib < floor);
    too_small.then(|| Misfit::numbers(Code::MemoryTooSmall, kind.usable_mib, floor))
}

fn precision_misfit(kind: &Kind, need: &PrecisionNeed) -> Option<Misfit> {
    let support = |word: &str| kind.profile.as_ref().and_then(|profile| profile.precisions.get(word)).copied();
    let is_native = support(&need.word) == Some(Support::Native);
    let widens = || ["fp16", "bf16"].iter().any(|wide| support(wide) == Some(Support::Native));
    let fits = match need.path {
        Path::Native => is_native,
        Path::Weight => is_native || widens(),
        Path::Any => is_native || support(&need.word) == Some(Support::Degraded) || widens(),
    };
    (!fits).then(|| Misfit::of(Code::PrecisionUnsupported))
}

fn link_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    let asks_link = choice.link.is_some() && choice.count > 1; // one device has no pair to link
    if kind.partition.is_some() && (asks_link || choice.link_floor_mbps.is_some()) {
        return Some(Misfit::of(Code::LinkClass)); // a slice has no link of its own
    }
    let brand = kind.profile.as_ref().and_then(|profile| profile.interconnect.as_deref());
    if asks_link && matches!(&choice.link, Some(Link::Brand(asked)) if brand != Some(asked)) {
        return Some(Misfit::of(Code::LinkClass));
    }
    let floor = choice.link_floor_mbps?;
    let have = kind.profile.as_ref().and_then(|profile| profile.interconnect_mbps);
    have.is_none_or(|mbps| mbps < floor).then(|| Misfit::numbers(Code::LinkBandwidth, have, floor))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // shown as whole TFLOPS only
fn rate_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    let profile = kind.profile.as_ref();
    if let Some(floor) = choice.compute_floor_tflops {
        let rate = profile.and_then(|p| p.rates.get(choice.rate_precision())).copied();
        if rate.is_none_or(|tflops| tflops < floor) {
            return Some(Misfit::numbers(Code::ComputeTooLow, rate.map(|r| r as u64), floor as u64));
        }
    }
    let floor = choice.bandwidth_floor_mbps?;
    let have = profile.and_then(|p| p.bandwidth_mbps);
    have.is_none_or(|mbps| mbps < floor).then(|| Misfit::numbers(Code::BandwidthTooLow, have, floor))
}

/// The verdict on the kinds for one node: those whose use does not tolerate the node's taints are out there.
///
/// A taint on the resource key of a device is meant for steps that use such a device; any other rejects.
pub fn on_node<'a>(inventory: &Inventory, node: &Node, fit: &'a [Option<Misfit>]) -> Cow<'a, [Option<Misfit>]> {
    if node.taints.is_empty() {
        return Cow::Borrowed(fit);
    }
    let mut here = fit.to_vec();
    for at in node.kinds.iter().map(|run| run.kind.at()) {
        let keys = &inventory.kinds[at].resource_keys;
        if here[at].is_none() && !node.taints.iter().all(|taint| keys.contains(&taint.key)) {
            here[at] = Some(Misfit::of(Code::Taint));
        }
    }
    Cow::Owned(here)
}

/// Whether a node could ever serve a choice: empty, healthy and open for work. `fit` is that [`on_node`].
pub fn never(node: &Node, choice: &Choice, fit: &[Option<Misfit>]) -> Option<Misfit> {
    if choice.is_cpu_only() && !node.taints.is_empty() {
        return Some(Misfit::of(Code::Taint));
    }
    if !choice.is_cpu_only() && !node.kinds.iter().any(|run| fit[run.kind.at()].is_none()) {
        let nearest = node.kinds.iter().filter_map(|run| fit[run.kind.at()]).max();
        return nearest.or(Some(Misfit::of(Code::NotOffered)));
    }
    let empty = View { free_milli: |_| WHOLE_MILLI, cpu_milli: node.cpu_milli, memory_mib: node.memory_mib };
    short(node, choice, fit, &empty)
}

/// Whether a node that could serve a choice can do so now. `fit` is that [`on_node`].
pub fn not_now<F: Fn(usize) -> u16>(
    inventory: &Inventory,
    node: &Node,
    choice: &Choice,
    fit: &[Option<Misfit>],
    view: &View<F>,
) -> Option<Misfit> {
    match node.state {
        NodeState::Active => {}
        NodeState::Cordoned | NodeState::Draining | NodeState::Maintenance => {
            return Some(Misfit::of(Code::Cordoned));
        }
        NodeState::BurnIn => return Some(Misfit::of(Code::BurnIn)),
        NodeState::Quarantined => return Some(Misfit::of(Code::Unhealthy)),
    }
    let misfit = short(node, choice, fit, view)?;
    let repaired = View {
        free_milli: |at: usize| {
            if inventory.devices[at].is_healthy { (view.free_milli)(at) } else { WHOLE_MILLI }
        },
        cpu_milli: view.cpu_milli,
        memory_mib: view.memory_mib,
    };
    if short(node, choice, fit, &repaired).is_none() {
        return Some(Misfit { code: Code::Unhealthy, ..misfit });
    }
    Some(misfit)
}

/// Devices, islands, CPU and host memory in one check.
fn short<F: Fn(usize) -> u16>(node: &Node, choice: &Choice, fit: &[Option<Misfit>], view: &View<F>) -> Option<Misfit> {
    if !choice.is_cpu_only() {
        let most = most_devices(&node.kinds, choice, fit, view);
        if choice.count > 1 && choice.link.is_some() {
            if !node.islands.iter().any(|run| fit[run.kind.at()].is_none()) {
                return Some(Misfit::of(Code::LinkClass));
            }
            let island = most_devices(&node.islands, choice, fit, view);
            if most > 0 && island < u64::from(choice.count) {
                return Some(Misfit::numbers(Code::NotOneIsland, Some(island), u64::from(choice.count)));
            }
        }
        if most < u64::from(choice.count) {
            return Some(Misfit::numbers(Code::CountShort, Some(most), u64::from(choice.count)));
        }
    }
    host_short(choice, view.cpu_milli, view.memory_mib)
}

fn most_devices<F: Fn(usize) -> u16>(runs: &[Run], choice: &Choice, fit: &[Option<Misfit>], view: &View<F>) -> u64 {
    let usable = |run: &Run| run.devices.clone().filter(|&at| (view.free_milli)(at) >= choice.share_milli).count();
    runs.iter().filter(|run| fit[run.kind.at()].is_none()).map(usable).max().unwrap_or(0) as u64
}

fn host_short(choice: &Choice, cpu_milli: Option<u64>, memory_mib: Option<u64>) -> Option<Misfit> {
    let lacks = |have: Option<u64>, want: u64| want > 0 && have.is_none_or(|have| have < want);
    if lacks(cpu_milli, choice.cpu_milli) {
        return Some(Misfit::numbers(Code::CpuShort, cpu_milli, choice.cpu_milli));
    }
    lacks(memory_mib, choice.host_memory_mib)
        .then(|| Misfit::numbers(Code::HostMemoryShort, memory_mib, choice.host_memory_mib))
}
