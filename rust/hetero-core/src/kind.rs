//! Kinds of device: what all devices of one model, partition and memory size have in common.

use indexmap::IndexMap;

use crate::digest::{Digest, Hasher};
use crate::document::DeviceGroup;
use crate::error::{Error, Result};
use crate::measured::Model;
use crate::profile::{Class, Partition, Profile, Profiles};
use crate::request::{Choice, Path};
use crate::sharing::Terms;
use crate::units::{WHOLE_MILLI, nominal_mib};

/// What one kind of device is. `None` is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Catalog key; `None` for a device that the catalog does not have.
    pub sku: Option<String>,
    /// What the catalog knows.
    pub profile: Option<Profile>,
    /// Vendor word.
    pub vendor: Option<String>,
    /// Model name.
    pub model: Option<String>,
    /// Broad kind.
    pub class: Option<Class>,
    /// Hardware partition, as `1g.10gb`; `None` for a whole device.
    pub partition: Option<String>,
    /// Size class that requests are compared with.
    pub nominal_mib: Option<u64>,
    /// What the device reports.
    pub usable_mib: Option<u64>,
    /// Resource keys of this vendor's device plugins; all known ones when the vendor is unknown.
    pub resource_keys: Vec<String>,
    /// What its pool allows.
    pub terms: Terms,
    /// Toolkits whose code runs on it, with the thousandths of its speed that are left; 1000 where at home.
    pub toolkits: IndexMap<String, u32>,
    /// Thousandths of its speed that are left behind a hypervisor; 1000 for a device that is not virtual.
    pub virtual_milli: u32,
    /// Of everything above that a decision may depend on.
    pub digest: Digest,
}

impl Kind {
    /// The kind of a group of devices.
    pub fn of(group: &DeviceGroup, path: &str, profiles: &Profiles) -> Result<Self> {
        let profile = match group.sku.as_str() {
            "unknown" => None,
            sku => Some(profiles.get(sku).ok_or_else(|| unknown_sku(sku, path, profiles))?.clone()),
        };
        let cuts = profile.as_ref().map_or(&[][..], |profile| &profile.partitions);
        let is_whole = |name: &String| cuts.iter().any(|cut| cut.is_whole && cut.name == *name);
        let partition = group.partition.as_ref().filter(|name| !is_whole(name)).cloned();
        let vendor = profile.as_ref().map(|p| p.vendor.clone()).or_else(|| group.vendor.clone());
        let cut = partition.as_ref().and_then(|name| profile.as_ref()?.partitions.iter().find(|p| p.name == *name));
        let stated = match (&profile, &partition) {
            (Some(profile), None) => profile.memory_mib,
            _ => cut.and_then(|cut| cut.memory_mib),
        };
        let nominal = stated.or(group.memory_mib.map(nominal_mib));
        let usable = group.memory_mib.or(cut.and_then(|cut| cut.usable_mib)).or(nominal);
        let mut kind = Self {
            model: profile.as_ref().map(|p| p.model.clone()).or_else(|| group.model.clone()),
            class: profile.as_ref().map(|p| p.class).or(group.class),
            sku: profile.as_ref().map(|p| p.sku.clone()),
            nominal_mib: nominal,
            usable_mib: usable,
            resource_keys: resource_keys(vendor.as_deref(), profiles),
            terms: Terms::default(),
            toolkits: toolkits(vendor.as_deref(), profiles),
            virtual_milli: match group.vgpu {
                Some(true) => profiles.overheads.virtual_milli.unwrap_or(u32::from(WHOLE_MILLI)),
                _ => u32::from(WHOLE_MILLI),
            },
            digest: Digest::default(),
            partition,
            profile,
            vendor,
        };
        let hasher = Hasher::new("kind")
            .text(kind.sku.as_deref().unwrap_or("unknown"))
            .text(kind.vendor.as_deref().unwrap_or(""))
            .text(kind.model.as_deref().unwrap_or(""))
            .text(kind.class.map_or("", Class::word))
            .text(kind.partition.as_deref().unwrap_or(""))
            .maybe(kind.nominal_mib)
            .maybe(kind.usable_mib);
        let is_virtual = group.vgpu == Some(true);
        kind.digest = if is_virtual { hasher.number(u64::from(kind.virtual_milli)).finish() } else { hasher.finish() };
        Ok(kind)
    }

    /// The same kind in a pool with terms of its own: devices that may be shared otherwise are another kind.
    #[must_use]
    pub fn on(self, terms: Terms, cluster: &str) -> Self {
        if terms.are_usual() {
            return self;
        }
        let guard = terms.guard_milli.map(u64::from);
        let hasher =
            Hasher::new("pooled").bytes(&self.digest).number(u64::from(terms.oversubscribe_milli)).maybe(guard);
        let hasher = if terms.shared_by.is_some() { hasher.text(cluster) } else { hasher };
        Self { terms, digest: hasher.finish(), ..self }
    }

    /// Whether so much memory in use is beyond what the guard of its pool lets shares be admitted at.
    pub(crate) fn is_full_at(&self, used_mib: Option<u64>) -> bool {
        let (used, guard, usable) = (used_mib, self.terms.guard_milli, self.usable_mib);
        let beyond = |used: u64, guard: u16, usable: u64| used * u64::from(WHOLE_MILLI) > usable * u64::from(guard);
        used.zip(guard).zip(usable).is_some_and(|((used, guard), usable)| beyond(used, guard, usable))
    }

    /// Whether only whole nodes of it are handed out.
    pub fn is_opaque(&self) -> bool {
        self.profile.as_ref().is_some_and(|profile| profile.is_opaque)
    }

    /// Dense peak rate in a precision, TFLOPS; of a partition, its part of it. `None` is unknown.
    pub fn tflops(&self, precision: &str) -> Option<f64> {
        let profile = self.profile.as_ref()?;
        let rate = *profile.rates.get(precision)?;
        match &self.partition {
            None => Some(rate),
            Some(_) => Some(rate * f64::from(self.cut()?.compute_milli?) / f64::from(WHOLE_MILLI)),
        }
    }

    /// The share of a device of this kind that a choice takes, thousandths.
    ///
    /// Where compute is oversubscribed a share books less than it asks for, but as much as its memory floor needs.
    pub fn share_for(&self, choice: &Choice) -> u16 {
        let asked = choice.share_of(self.nominal_mib);
        let is_fraction = asked < WHOLE_MILLI && choice.share_memory_mib.is_none();
        if self.terms.oversubscribe_milli == WHOLE_MILLI || !is_fraction {
            return asked;
        }
        let (whole, most) = (u64::from(WHOLE_MILLI), u64::from(self.terms.oversubscribe_milli));
        let booked = (u64::from(asked) * whole).div_ceil(most);
        // Three halves of a device make one and a half: rounding up would lose the third. Of so many no more may fit.
        let equal = most / u64::from(asked);
        let is_equal = most.is_multiple_of(u64::from(asked));
        let booked = if is_equal { (whole / equal).max(whole / (equal + 1) + 1).min(booked) } else { booked };
        let for_memory = choice.memory_floor_mib.zip(self.nominal_mib.filter(|&mib| mib > 0));
        let for_memory = for_memory.map_or(0, |(floor, mib)| floor.saturating_mul(whole).div_ceil(mib));
        u16::try_from(booked.max(for_memory).clamp(1, u64::from(asked))).unwrap_or(asked)
    }

    /// The precision in which a kind computes what a choice asks: weights that are only stored in one are widened.
    pub fn computed_precision<'a>(&self, choice: &'a Choice) -> &'a str {
        let asked = choice.rate_precision();
        let is_stored_only = choice.precisions.first().is_some_and(|need| need.path != Path::Native);
        if is_stored_only && self.tflops(asked).is_none() {
            return if self.tflops("bf16").is_some() { "bf16" } else { "fp16" };
        }
        asked
    }

    /// The rate that a dense kernel reaches, TFLOPS: peak times the measured (else assumed) efficiency.
    pub fn achieved_tflops(&self, precision: &str) -> Option<f64> {
        Some(self.tflops(precision)? * self.profile.as_ref()?.efficiency_in(precision))
    }

    /// What a table of measurements knows it as; a partition was not measured.
    pub fn measured_as(&self) -> Option<Model<'_>> {
        let whole = Model { sku: self.sku.as_deref(), name: self.model.as_deref() };
        self.partition.is_none().then_some(whole)
    }

    /// Whether code of the choice's toolkit runs on it by translation only; `None` where it does not run, or that is not
    /// known.
    pub fn is_translated(&self, choice: &Choice) -> Option<bool> {
        let Some(toolkit) = &choice.toolkit else { return Some(false) };
        self.toolkits.get(toolkit).map(|&milli| milli < u32::from(WHOLE_MILLI))
    }

    /// Part of its speed that is left to a choice: less where code is translated, or a hypervisor is between.
    pub fn speed_left(&self, choice: &Choice) -> f64 {
        let translated = choice.toolkit.as_ref().and_then(|toolkit| self.toolkits.get(toolkit));
        let parts = [translated.copied().unwrap_or(u32::from(WHOLE_MILLI)), self.virtual_milli];
        parts.iter().map(|&milli| f64::from(milli) / f64::from(WHOLE_MILLI)).product()
    }

    /// Part of a device that it is, thousandths, by compute; the whole where that is unknown.
    pub fn part_milli(&self) -> u64 {
        self.cut().and_then(|cut| cut.compute_milli).map_or(u64::from(WHOLE_MILLI), u64::from)
    }

    /// Work per hour against the reference device, thousandths; `None` is unknown.
    pub fn unit_milli(&self) -> Option<u64> {
        self.profile.as_ref()?.unit_milli_of(self.partition.as_deref())
    }

    /// Memory bandwidth, decimal MB/s; of a partition, its part of it. `None` is unknown.
    pub fn bandwidth_mbps(&self) -> Option<u64> {
        let whole = self.profile.as_ref()?.bandwidth_mbps?;
        match &self.partition {
            None => Some(whole),
            Some(_) => Some(whole * u64::from(self.cut()?.bandwidth_milli?) / u64::from(WHOLE_MILLI)),
        }
    }

    fn cut(&self) -> Option<&Partition> {
        let name = self.partition.as_ref()?;
        self.profile.as_ref()?.partitions.iter().find(|partition| partition.name == *name)
    }

    /// The name to show: catalog key, else model, with the partition.
    pub fn label(&self) -> String {
        let name = self.sku.as_deref().or(self.model.as_deref()).unwrap_or("unknown");
        self.partition.as_ref().map_or_else(|| name.to_owned(), |partition| format!("{name}/{partition}"))
    }
}

fn resource_keys(vendor: Option<&str>, profiles: &Profiles) -> Vec<String> {
    match vendor.and_then(|vendor| profiles.resource_keys.get(vendor)) {
        Some(keys) => keys.clone(),
        None => profiles.resource_keys.values().flatten().cloned().collect(),
    }
}

fn toolkits(vendor: Option<&str>, profiles: &Profiles) -> IndexMap<String, u32> {
    let of_vendor =
        |(toolkit, vendors): (&String, &IndexMap<String, u32>)| Some((toolkit.clone(), *vendors.get(vendor?)?));
    profiles.overheads.toolkits.iter().filter_map(of_vendor).collect()
}

fn unknown_sku(sku: &str, path: &str, profiles: &Profiles) -> Error {
    // Keys begin with the model, so a common beginning counts more than a common rest.
    let likeness = |other: &&Profile| strsim::jaro_winkler(sku, &other.sku);
    let near = profiles.entries.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)).then(b.sku.cmp(&a.sku)));
    let hint = near.map_or(String::new(), |near| format!("; did you mean {:?}?", near.sku));
    let rest = "A device that the catalog lacks has sku `unknown` with vendor, model, class and memory_mib as known";
    Error::document(format!("{path}.sku"), format!("{sku:?} is not in the catalog{hint} {rest}"))
}
