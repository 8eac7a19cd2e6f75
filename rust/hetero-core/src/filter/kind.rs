//! Request against device kind: what holds for every device of a kind, wherever it is and whatever runs.

use crate::codes::Code;
use crate::filter::Misfit;
use crate::inventory::Inventory;
use crate::kind::Kind;
use crate::profile::{Class, Support};
use crate::request::{Choice, Link, Name, Path, PrecisionNeed, ShareMode};
use crate::units::WHOLE_MILLI;
use crate::work;

/// Asks every kind of the fleet once, so that nodes need not be asked for the same thing again; `None` fits.
pub fn kinds(inventory: &Inventory, choice: &Choice) -> Vec<Option<Misfit>> {
    inventory.kinds.iter().map(|kind| kind_misfit(kind, choice)).collect()
}

/// Whether devices of a kind can serve a choice at all.
pub fn kind_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    if !is_of_class(kind, choice) {
        return Some(Misfit::of(Code::NotOffered));
    }
    form_misfit(kind, choice)
        .or_else(|| name_misfit(kind, choice))
        .or_else(|| toolkit_misfit(kind, choice))
        .or_else(|| sharing_misfit(kind, choice))
        .or_else(|| memory_misfit(kind, choice))
        .or_else(|| feature_misfit(kind, choice))
        .or_else(|| choice.precisions.iter().find_map(|need| precision_misfit(kind, need)))
        .or_else(|| link_misfit(kind, choice))
        .or_else(|| rate_misfit(kind, choice))
        .or_else(|| work_misfit(kind, choice))
        .or_else(|| power_misfit(kind, choice))
}

/// Of compute units each kind needs a count of its own: the others are asked for theirs.
fn work_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    match work::devices(kind, choice.units_milli?, choice.peers) {
        None => Some(Misfit::of(Code::ComputeTooLow)),
        Some(devices) => (devices != choice.count).then(|| Misfit::of(Code::NotOffered)),
    }
}

/// Without a class and a name any accelerator will do, which a CPU is not.
fn is_of_class(kind: &Kind, choice: &Choice) -> bool {
    match choice.class {
        Some(class) => kind.class == Some(class),
        None => !choice.names.is_empty() || kind.class != Some(Class::Cpu),
    }
}

/// A whole device is asked for unless a partition is named, or a share is to be one.
fn form_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    let is_partition = kind.partition.is_some();
    if choice.share_mode == Some(ShareMode::Mig) {
        return (!is_partition).then(|| Misfit::of(Code::SharingForbidden));
    }
    let is_cut_otherwise = |name: &Name| name.partition.is_some() && is_model(kind, name);
    if choice.names.iter().any(is_cut_otherwise) && !choice.names.iter().any(|name| is_named(kind, name, choice)) {
        return Some(Misfit::of(Code::MigProfileMissing));
    }
    let fits = match choice.names.as_slice() {
        [] => !is_partition,
        names => names.iter().any(|name| name.partition.is_some() == is_partition),
    };
    (!fits).then(|| Misfit::of(Code::NotOffered))
}

fn name_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    if choice.vendor.is_some() && choice.vendor != kind.vendor {
        return Some(Misfit::of(Code::VendorMismatch));
    }
    let is_meant = choice.names.is_empty() || choice.names.iter().any(|name| is_named(kind, name, choice));
    (!is_meant).then(|| Misfit::of(Code::ModelMismatch))
}

fn is_named(kind: &Kind, name: &Name, choice: &Choice) -> bool {
    let is_any_partition = name.partition.is_none() && choice.share_mode == Some(ShareMode::Mig);
    is_model(kind, name) && (is_any_partition || name.partition == kind.partition)
}

fn is_model(kind: &Kind, name: &Name) -> bool {
    let is_meant = match (&kind.sku, &kind.model) {
        (Some(sku), _) => name.skus.contains(sku),
        (None, Some(model)) => name.models.contains(model),
        (None, None) => false,
    };
    (is_meant || name.is_any_model) && (name.vendor.is_none() || name.vendor == kind.vendor)
}

fn toolkit_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    let runs = kind.is_translated(choice).is_some_and(|is_translated| !is_translated || choice.may_translate);
    (!runs).then(|| Misfit::of(Code::ImageVendorMismatch))
}

fn sharing_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    let is_share = choice.is_share();
    let has_daemon = kind.profile.as_ref().is_some_and(|profile| profile.supports_mps);
    let lacks_daemon = choice.share_mode == Some(ShareMode::Mps) && !has_daemon;
    (lacks_daemon || (is_share && kind.is_opaque())).then(|| Misfit::of(Code::SharingForbidden))
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
    if let Some(floor) = partition_floor_mib(kind, choice)
        && kind.nominal_mib.is_none_or(|mib| mib < floor)
    {
        return Some(Misfit::numbers(Code::MemoryTooSmall, kind.nominal_mib, floor));
    }
    let floor = choice.usable_floor_mib?;
    let too_small = kind.usable_mib.is_none_or(|mib| mib < floor);
    too_small.then(|| Misfit::numbers(Code::MemoryTooSmall, kind.usable_mib, floor))
}

/// Memory of a partition that stands for a share of the whole device.
fn partition_floor_mib(kind: &Kind, choice: &Choice) -> Option<u64> {
    let device_mib = kind.profile.as_ref()?.memory_mib.filter(|_| choice.partition_floor_milli > 0)?;
    Some((device_mib * u64::from(choice.partition_floor_milli)).div_ceil(u64::from(WHOLE_MILLI)))
}

fn feature_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    let profile = kind.profile.as_ref();
    if let Some(asked) = &choice.memory_kind {
        let technology = profile.and_then(|p| p.memory_type.as_ref()).map(|name| name.to_lowercase());
        if technology.is_none_or(|name| !name.starts_with(asked.as_str())) {
            return Some(Misfit::of(Code::MemoryType));
        }
    }
    let is_capable = profile.is_some_and(|p| p.is_confidential_capable == Some(true));
    (choice.is_confidential && !is_capable).then(|| Misfit::of(Code::ConfidentialUnsupported))
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
    if kind.partition.is_some() && (choice.link.is_some() || choice.link_floor_mbps.is_some()) {
        return Some(Misfit::of(Code::LinkClass)); // a slice has no link of its own
    }
    let brand = kind.profile.as_ref().and_then(|profile| profile.interconnect.as_deref());
    if matches!(&choice.link, Some(Link::Brand(asked)) if brand != Some(asked)) {
        return Some(Misfit::of(Code::LinkClass));
    }
    let floor = choice.link_floor_mbps?;
    let have = kind.profile.as_ref().and_then(|profile| profile.interconnect_mbps);
    have.is_none_or(|mbps| mbps < floor).then(|| Misfit::numbers(Code::LinkBandwidth, have, floor))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // shown as whole TFLOPS only
fn rate_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    if let Some(floor) = choice.compute_floor_tflops {
        let rate = kind.tflops(kind.computed_precision(choice));
        if rate.is_none_or(|tflops| tflops < floor) {
            return Some(Misfit::numbers(Code::ComputeTooLow, rate.map(|r| r as u64), floor as u64));
        }
    }
    let floor = choice.bandwidth_floor_mbps?;
    let have = kind.bandwidth_mbps();
    have.is_none_or(|mbps| mbps < floor).then(|| Misfit::numbers(Code::BandwidthTooLow, have, floor))
}

/// Board power of all chosen devices, which lie on one node; of a partition, its part of it. `None` is unknown.
pub(crate) fn board_power_mw(kind: &Kind, choice: &Choice) -> Option<u64> {
    let board = kind.profile.as_ref().and_then(|profile| profile.tdp_mw)?;
    let devices = u64::from(choice.count) * kind.part_milli();
    Some(board.saturating_mul(devices).div_ceil(u64::from(WHOLE_MILLI)))
}

fn power_misfit(kind: &Kind, choice: &Choice) -> Option<Misfit> {
    let ceiling = choice.power_ceiling_mw?;
    let draw = board_power_mw(kind, choice);
    draw.is_none_or(|mw| mw > ceiling).then(|| Misfit::numbers(Code::PowerBudget, draw, ceiling))
}
