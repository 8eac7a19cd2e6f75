//! Request against device kind, then against node: fit, or a [`Misfit`] with a name and numbers.
//!
//! A misfit of [`never`] holds on an empty fleet too; one of [`not_now`] passes when steps end or nodes return.

mod kind;
mod place;
mod request;
mod tensor;

use std::borrow::Cow;

use crate::codes::Code;
use crate::document::NodeState;
use crate::inventory::{Inventory, Node, Run};
use crate::kind::Kind;
use crate::request::Choice;
use crate::units::WHOLE_MILLI;

pub(crate) use kind::board_power_mw;
pub use kind::{kind_misfit, kinds};
pub use place::elsewhere;
pub use request::kinds_of;

/// Why something does not fit, with the numbers that decided it; `None` is unknown or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Misfit {
    /// The reason.
    pub code: Code,
    /// What there is.
    pub have: Option<u64>,
    /// What was asked.
    pub want: Option<u64>,
    /// The limit that was met, by its place in the document.
    pub limit: Option<u16>,
    /// The group of the choice that it is about; `None` is the choice itself, or all.
    pub group: Option<u16>,
    /// Whether it is about what is in use, though it is asked of a kind: it passes when steps end.
    pub is_passing: bool,
}

impl Misfit {
    pub(crate) fn of(code: Code) -> Self {
        Self { code, have: None, want: None, limit: None, group: None, is_passing: false }
    }

    pub(crate) fn numbers(code: Code, have: Option<u64>, want: u64) -> Self {
        Self { have, want: Some(want), ..Self::of(code) }
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

/// The verdict on the kinds for one node: taints, drivers and prices may rule out there what fits elsewhere.
///
/// A taint on the resource key of a device is meant for steps that use such a device; any other rejects.
pub fn on_node<'a>(
    inventory: &Inventory,
    node: &Node,
    choice: &Choice,
    fit: &'a [Option<Misfit>],
) -> Cow<'a, [Option<Misfit>]> {
    if node.taints.is_empty() && choice.driver_floor.is_empty() && choice.cost_ceiling_milli.is_none() {
        return Cow::Borrowed(fit);
    }
    let mut here = fit.to_vec();
    for at in node.kinds.iter().map(|run| run.kind.at()) {
        if here[at].is_none_or(|misfit| misfit.is_passing)
            && let Some(misfit) = misfit_on_node(&inventory.kinds[at], node, choice)
        {
            here[at] = Some(misfit);
        }
    }
    Cow::Owned(here)
}

fn misfit_on_node(kind: &Kind, node: &Node, choice: &Choice) -> Option<Misfit> {
    if let Some(ceiling) = choice.cost_ceiling_milli {
        let cost = cost_milli(kind, node, choice);
        if cost.is_none_or(|cost| cost > ceiling) {
            return Some(Misfit::numbers(Code::CostCeiling, cost, ceiling));
        }
    }
    if let Some(&major) = choice.driver_floor.first() {
        let driver = kind.vendor.as_ref().and_then(|vendor| node.site.drivers.get(vendor));
        if driver.is_none_or(|driver| *driver < choice.driver_floor) {
            let have = driver.and_then(|parts| parts.first().copied());
            let is_told_by_major = have != Some(major); // "570 of 570" would tell nothing
            let misfit = Misfit::of(Code::DriverTooOld);
            return Some(if is_told_by_major { Misfit { have, want: Some(major), ..misfit } } else { misfit });
        }
    }
    let is_tolerated = node.taints.iter().all(|taint| kind.resource_keys.contains(&taint.key));
    (!is_tolerated).then(|| Misfit::of(Code::Taint))
}

/// Price of what a choice takes of a kind on a node, thousandths per hour; `None` is unknown.
pub(crate) fn cost_milli(kind: &Kind, node: &Node, choice: &Choice) -> Option<u64> {
    let price = kind.sku.as_ref().and_then(|sku| node.site.prices_milli.get(sku))?;
    let whole = u64::from(WHOLE_MILLI);
    let devices = u64::from(choice.total()) * u64::from(kind.share_for(choice)) * kind.part_milli();
    Some(price.saturating_mul(devices).div_ceil(whole * whole))
}

/// The verdict on the kinds as it would be if no step ran.
pub fn without_passing(fit: &[Option<Misfit>]) -> Cow<'_, [Option<Misfit>]> {
    if !fit.iter().flatten().any(|misfit| misfit.is_passing) {
        return Cow::Borrowed(fit);
    }
    Cow::Owned(fit.iter().map(|misfit| misfit.filter(|misfit| !misfit.is_passing)).collect())
}

/// Why none of a node's kinds may be used now, where each could be on an empty fleet or cannot serve at all.
pub fn passing(node: &Node, fit: &[Option<Misfit>]) -> Option<Misfit> {
    let kinds = || node.kinds.iter().map(|run| fit[run.kind.at()]);
    let nearest = kinds().flatten().filter(|misfit| misfit.is_passing).max();
    nearest.filter(|_| kinds().all(|misfit| misfit.is_some()))
}

/// Whether a node could ever serve a choice: empty, healthy and open for work. `fit` is that [`on_node`].
pub fn never(inventory: &Inventory, node: &Node, choice: &Choice, fit: &[Option<Misfit>]) -> Option<Misfit> {
    if choice.is_cpu_only() && !node.taints.is_empty() {
        return Some(Misfit::of(Code::Taint));
    }
    if !choice.is_cpu_only() && !node.kinds.iter().any(|run| fit[run.kind.at()].is_none()) {
        let nearest = node.kinds.iter().filter_map(|run| fit[run.kind.at()]).max();
        return nearest.or(Some(Misfit::of(Code::NotOffered)));
    }
    if let Some(misfit) = host_misfit(node, choice) {
        return Some(misfit);
    }
    let empty = View { free_milli: |_| WHOLE_MILLI, cpu_milli: node.cpu_milli, memory_mib: node.memory_mib };
    short(inventory, node, choice, fit, &empty)
}

/// Whether a node serves a choice now: the short answer to what [`never`], [`passing`] and [`not_now`] say in words.
pub fn serves_now<F: Fn(usize) -> u16>(
    inventory: &Inventory,
    node: &Node,
    choice: &Choice,
    fit: &[Option<Misfit>],
    view: &View<F>,
) -> bool {
    let is_welcome = if choice.is_cpu_only() {
        node.taints.is_empty()
    } else {
        node.kinds.iter().any(|run| fit[run.kind.at()].is_none())
    };
    is_welcome
        && node.state == NodeState::Active
        && host_misfit(node, choice).is_none()
        && short(inventory, node, choice, fit, view).is_none()
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
    let misfit = short(inventory, node, choice, fit, view)?;
    let repaired = View {
        free_milli: |at: usize| {
            if inventory.devices[at].is_healthy { (view.free_milli)(at) } else { WHOLE_MILLI }
        },
        cpu_milli: view.cpu_milli,
        memory_mib: view.memory_mib,
    };
    if short(inventory, node, choice, fit, &repaired).is_none() {
        return Some(Misfit { code: Code::Unhealthy, ..misfit });
    }
    Some(misfit)
}

/// What the host must offer beside its devices.
fn host_misfit(node: &Node, choice: &Choice) -> Option<Misfit> {
    if let Some(asked) = &choice.rdma {
        let has = |word: &str| node.site.rdma.iter().any(|known| known == word);
        let any = ["ib", "roce", "rdma"].iter().any(|word| has(word));
        if !(has(asked) || (asked == "rdma" && any)) {
            return Some(Misfit::of(Code::RdmaMissing));
        }
    }
    let has_one_of = |need: &Vec<String>| need.iter().any(|name| node.site.runtime.contains(name));
    (!choice.runtimes.iter().all(has_one_of)).then(|| Misfit::of(Code::RuntimeMissing))
}

/// Devices, islands, CPU and host memory in one check.
fn short<F: Fn(usize) -> u16>(
    inventory: &Inventory,
    node: &Node,
    choice: &Choice,
    fit: &[Option<Misfit>],
    view: &View<F>,
) -> Option<Misfit> {
    if !choice.is_cpu_only() {
        let share = |at: usize| inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
        let usable = |at: usize| (view.free_milli)(at) >= share(at);
        let most = most_devices(&node.kinds, fit, usable);
        if choice.tensor_ranks.is_some_and(|ranks| ranks > 1)
            && !node.islands.iter().any(|run| fit[run.kind.at()].is_none())
        {
            return Some(Misfit::of(Code::LinkClass));
        }
        if choice.count > 1 && choice.link.is_some() {
            if !node.islands.iter().any(|run| fit[run.kind.at()].is_none()) {
                return Some(Misfit::of(Code::LinkClass));
            }
            let island = most_devices(&node.islands, fit, usable);
            if most > 0 && island < u64::from(choice.count) {
                return Some(Misfit::numbers(Code::NotOneIsland, Some(island), u64::from(choice.count)));
            }
        }
        if most < u64::from(choice.count) {
            return Some(Misfit::numbers(Code::CountShort, Some(most), u64::from(choice.count)));
        }
        let offered = &only_whole(inventory, node, choice, fit, usable);
        let is_cut = matches!(offered, Cow::Owned(_));
        if is_cut && most_devices(&node.kinds, offered, usable) < u64::from(choice.count) {
            let fitting = node.kinds.iter().filter(|run| fit[run.kind.at()].is_none());
            let all = fitting.map(|run| run.devices.len() as u64).max();
            return Some(Misfit::numbers(Code::SharingForbidden, all, u64::from(choice.count)));
        }
        let is_linked = choice.count > 1 && choice.link.is_some();
        if is_cut && is_linked {
            let island = most_devices(&node.islands, offered, usable);
            if island < u64::from(choice.count) {
                return Some(Misfit::numbers(Code::NotOneIsland, Some(island), u64::from(choice.count)));
            }
        }
        let runs = if is_linked { &node.islands } else { &node.kinds };
        let usable = |at: usize| usable(at) && inventory.devices[at].is_near_enough(choice);
        if choice.near_nic {
            let near = most_devices(runs, offered, usable);
            if near < u64::from(choice.count) {
                return Some(Misfit::numbers(Code::NicApart, Some(near), u64::from(choice.count)));
            }
        }
        if choice.one_numa_node {
            let together = most_on_one_numa_node(inventory, runs, offered, usable);
            if together < u64::from(choice.count) {
                return Some(Misfit::numbers(Code::NumaSplit, Some(together), u64::from(choice.count)));
            }
        }
        if let Some(misfit) = tensor::misfit(inventory, node, choice, offered, usable) {
            return Some(misfit);
        }
    }
    host_short(choice, view.cpu_milli, view.memory_mib)
}

/// Usable devices of the fullest run that fits.
fn most_devices(runs: &[Run], fit: &[Option<Misfit>], usable: impl Fn(usize) -> bool + Copy) -> u64 {
    let fitting = runs.iter().filter(|run| fit[run.kind.at()].is_none());
    fitting.map(|run| run.devices.clone().filter(|&at| usable(at)).count()).max().unwrap_or(0) as u64
}

/// Usable devices of the fullest NUMA node of a run that fits; devices of unknown NUMA node are nowhere.
fn most_on_one_numa_node(
    inventory: &Inventory,
    runs: &[Run],
    fit: &[Option<Misfit>],
    usable: impl Fn(usize) -> bool + Copy,
) -> u64 {
    let fitting = runs.iter().filter(|run| fit[run.kind.at()].is_none());
    let fullest = fitting.flat_map(|run| {
        let numa = |at: usize| inventory.devices[at].numa.filter(|_| usable(at));
        run.devices
            .clone()
            .filter_map(numa)
            .map(move |here| run.devices.clone().filter(|&at| numa(at) == Some(here)).count())
    });
    fullest.max().unwrap_or(0) as u64
}

/// The verdict on the kinds without those that are handed out by whole nodes, all of a kind or none, and cannot be.
pub(crate) fn only_whole<'a>(
    inventory: &Inventory,
    node: &Node,
    choice: &Choice,
    fit: &'a [Option<Misfit>],
    usable: impl Fn(usize) -> bool + Copy,
) -> Cow<'a, [Option<Misfit>]> {
    let is_whole = |run: &Run| run.devices.len() == choice.count as usize && run.devices.clone().all(usable);
    let is_opaque = |run: &Run| fit[run.kind.at()].is_none() && inventory.kinds[run.kind.at()].is_opaque();
    let mut offered = Cow::Borrowed(fit);
    for run in node.kinds.iter().filter(|run| is_opaque(run) && !is_whole(run)) {
        offered.to_mut()[run.kind.at()] = Some(Misfit::of(Code::SharingForbidden));
    }
    offered
}

fn host_short(choice: &Choice, cpu_milli: Option<u64>, memory_mib: Option<u64>) -> Option<Misfit> {
    let lacks = |have: Option<u64>, want: u64| want > 0 && have.is_none_or(|have| have < want);
    if lacks(cpu_milli, choice.cpu_milli) {
        return Some(Misfit::numbers(Code::CpuShort, cpu_milli, choice.cpu_milli));
    }
    lacks(memory_mib, choice.host_memory_mib)
        .then(|| Misfit::numbers(Code::HostMemoryShort, memory_mib, choice.host_memory_mib))
}
