//! Quotas and budgets: what a team may use at once, and in a window of time, of a class, a vendor, a family, a model or a
//! SKU, or of everything in compute units.
//!
//! A request is charged at every level of its path: a team may have devices left of its class, and none of the model.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::digest::Hasher;
use crate::document::{LimitLevel, Window};
use crate::error::{Error, Result};
use crate::filter::{self, Misfit};
use crate::hold::Hold;
use crate::inventory::Inventory;
use crate::kind::Kind;
use crate::request::{Choice, Request};
use crate::units::{WHOLE_MILLI, milli_words};

/// Thousandths of thousandths: shares of devices times thousandths of a compute unit.
const MICRO: u64 = 1_000_000;

/// How much a team may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Most {
    /// Devices at once.
    Devices(u32),
    /// Thousandths of a compute unit at once.
    UnitsMilli(u64),
    /// Thousandths of a device-hour in a window.
    DeviceHoursMilli(u64),
    /// Thousandths of a unit-hour in a window.
    UnitHoursMilli(u64),
}

/// A limit with nothing left to look up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Whose.
    pub team: String,
    /// What the devices that it counts have in common.
    pub per: LimitLevel,
    /// Class, vendor or family as the catalog spells it; a model or SKU as a person wrote it; empty where all devices count.
    pub name: String,
    /// Catalog keys that a model or SKU means.
    pub skus: Vec<String>,
    /// Models outside the catalog that a model means.
    pub models: Vec<String>,
    /// How much.
    pub most: Most,
    /// When a budget begins anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
}

impl Limit {
    /// Whether it bounds what is used in a window of time.
    pub fn is_budget(&self) -> bool {
        matches!(self.most, Most::DeviceHoursMilli(_) | Most::UnitHoursMilli(_))
    }

    fn counts_units(&self) -> bool {
        matches!(self.most, Most::UnitsMilli(_) | Most::UnitHoursMilli(_))
    }

    /// What a whole device of a kind counts for, thousandths; `None` is unknown.
    fn weight(&self, kind: &Kind) -> Option<u64> {
        if self.counts_units() { kind.unit_milli() } else { Some(u64::from(WHOLE_MILLI)) }
    }

    /// How much may be used at once, millionths of a device or of a compute unit; nothing of a budget.
    fn at_once(&self) -> u64 {
        match self.most {
            Most::Devices(devices) => u64::from(devices) * MICRO,
            Most::UnitsMilli(milli) => milli.saturating_mul(1000),
            Most::DeviceHoursMilli(_) | Most::UnitHoursMilli(_) => 0,
        }
    }

    fn words(&self) -> String {
        let of =
            if self.per == LimitLevel::Unit { String::new() } else { format!(" of {} {}", self.per.word(), self.name) };
        let per = self.window.map_or(String::new(), |window| format!(" per {}", window.word()));
        let amount = match self.most {
            Most::Devices(devices) => format!("{devices} devices"),
            Most::UnitsMilli(milli) => format!("{} units", milli_words(milli)),
            Most::DeviceHoursMilli(milli) => format!("{} device-hours", milli_words(milli)),
            Most::UnitHoursMilli(milli) => format!("{} unit-hours", milli_words(milli)),
        };
        format!("{amount}{of}{per} for team {}", self.team)
    }
}

/// The limits of a fleet, what the teams that have any use now, and what they spent in the present windows.
#[derive(Clone, Debug, Default)]
pub struct Quotas {
    limits: Vec<Limit>,
    /// By team: thousandths of devices in use, by kind.
    used_milli: IndexMap<String, Vec<u64>>,
    /// By limit: thousandths of what a budget counts; `None` is unknown, and counts as nothing.
    spent_milli: Vec<Option<u64>>,
}

impl Quotas {
    /// Limits, of which nothing is used yet.
    pub fn new(limits: Vec<Limit>, inventory: &Inventory) -> Self {
        let none = vec![0; inventory.kinds.len()];
        let used_milli = limits.iter().map(|limit| (limit.team.clone(), none.clone())).collect();
        let spent_milli = vec![None; limits.len()];
        Self { limits, used_milli, spent_milli }
    }

    /// The limits.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// Whether a team has any limit.
    pub fn is_limited(&self, team: &str) -> bool {
        self.used_milli.contains_key(team)
    }

    /// What was spent of each budget in its present window, in the order of the limits.
    pub fn spent(&self) -> Vec<Option<u64>> {
        self.budgets().map(|i| self.spent_milli[i]).collect()
    }

    /// Takes what was spent of each budget in its present window, in the order of the limits.
    pub fn set_spent(&mut self, spent: &[Option<u64>]) -> Result<()> {
        let budgets: Vec<usize> = self.budgets().collect();
        if spent.len() != budgets.len() {
            let message = format!("spent: {} numbers for {} budgets; give one for each", spent.len(), budgets.len());
            return Err(Error::document("", message));
        }
        for (&milli, i) in spent.iter().zip(budgets) {
            self.spent_milli[i] = milli;
        }
        Ok(())
    }

    /// The places of the budgets among the limits.
    fn budgets(&self) -> impl Iterator<Item = usize> + '_ {
        self.limits.iter().enumerate().filter(|(_, limit)| limit.is_budget()).map(|(i, _)| i)
    }

    /// Counts what a hold takes.
    pub fn take(&mut self, hold: &Hold, inventory: &Inventory) {
        self.change(hold, inventory, |used, milli| used + milli);
    }

    /// Counts what a hold gives back.
    pub fn give(&mut self, hold: &Hold, inventory: &Inventory) {
        self.change(hold, inventory, |used, milli| used - milli);
    }

    fn change(&mut self, hold: &Hold, inventory: &Inventory, change: fn(u64, u64) -> u64) {
        let Some(used) = hold.team.as_ref().and_then(|team| self.used_milli.get_mut(team)) else {
            return;
        };
        for &at in &hold.devices {
            let kind = inventory.devices[at].kind.at();
            used[kind] = change(used[kind], u64::from(hold.share_milli));
        }
    }

    /// Why a team may not use more devices of a kind: of the limits that it would break one that it could never keep, else
    /// a quota before a budget, devices before units, the one that leaves least, the lower one, the first.
    ///
    /// A quota passes when the team's steps end, a budget when it begins anew.
    pub fn misfit(&self, inventory: &Inventory, team: &str, choice: &Choice, kind: &Kind) -> Option<Misfit> {
        // Cores alone use no device and spend nothing, whatever is spent.
        let used = self.used_milli.get(team).filter(|_| !choice.is_cpu_only())?;
        let of_team = self.limits.iter().enumerate().filter(|(_, limit)| limit.team == team && covers(limit, kind));
        let broken = of_team.filter_map(|(i, limit)| {
            let (left, most, misfit) = if limit.is_budget() {
                self.over_budget(i, kind)?
            } else {
                over_quota(limit, inventory, used, choice, kind)?
            };
            let misfit = Misfit { limit: u16::try_from(i).ok(), ..misfit };
            Some(((misfit.is_passing, limit.is_budget(), limit.counts_units(), left, most, i), misfit))
        });
        broken.min_by_key(|(key, _)| *key).map(|(_, misfit)| misfit)
    }

    /// What is left of a budget, how large it is, and why no more may be spent of it.
    fn over_budget(&self, i: usize, kind: &Kind) -> Option<(u64, u64, Misfit)> {
        let limit = &self.limits[i];
        let (Most::DeviceHoursMilli(most) | Most::UnitHoursMilli(most)) = limit.most else { return None };
        if limit.weight(kind).is_none() {
            return Some((0, most, Misfit::of(Code::Budget))); // what cannot be counted cannot be spent
        }
        let spent = self.spent_milli[i].unwrap_or(0);
        let numbers = Misfit::numbers(Code::Budget, Some(spent / 1000), most.div_ceil(1000));
        (spent >= most).then_some((0, most, Misfit { is_passing: most > 0, ..numbers }))
    }

    /// A limit in words.
    pub fn words(&self, limit: u16) -> String {
        self.limits[usize::from(limit)].words()
    }

    /// The unit of the numbers of a limit that was met; `None` for devices.
    pub fn unit(&self, limit: u16) -> Option<String> {
        let word = match self.limits[usize::from(limit)].most {
            Most::Devices(_) => return None,
            Most::UnitsMilli(_) => "units",
            Most::DeviceHoursMilli(_) => "device-hours",
            Most::UnitHoursMilli(_) => "unit-hours",
        };
        Some(word.to_owned())
    }

    /// What an hour of some devices spends of each budget of a team, thousandths, in the order of the limits.
    ///
    /// `None` where the team is another one, no device counts, or a rate is unknown.
    pub fn per_hour(&self, inventory: &Inventory, team: Option<&str>, devices: &[(usize, u16)]) -> Vec<Option<u64>> {
        let of = |limit: &Limit| {
            let kinds = devices.iter().map(|&(at, share)| (&inventory.kinds[inventory.devices[at].kind.at()], share));
            let mut counted = kinds.filter(|(kind, _)| covers(limit, kind)).peekable();
            counted.peek()?;
            let each = counted.map(|(kind, share)| Some(u64::from(share) * limit.weight(kind)?));
            each.sum::<Option<u64>>().map(|micro| micro.div_ceil(1000))
        };
        let budgets = self.budgets().map(|i| &self.limits[i]);
        budgets.map(|limit| if Some(limit.team.as_str()) == team { of(limit) } else { None }).collect()
    }

    /// How much of each quota of a team is used, and how much it is; millionths of a device or of a compute unit.
    pub fn standing(&self, inventory: &Inventory, team: &str) -> Vec<(u64, u64)> {
        let Some(used) = self.used_milli.get(team) else { return Vec::new() };
        let of = |limit: &Limit| {
            let counted = inventory.kinds.iter().zip(used).filter(|(kind, _)| covers(limit, kind));
            counted.map(|(kind, milli)| milli * limit.weight(kind).unwrap_or(0)).sum()
        };
        self.quotas_of(team).map(|limit| (of(limit), limit.at_once())).collect()
    }

    /// What a request counts for each quota of a team at least, whichever kind of device serves its first choice.
    pub fn least_counted(&self, inventory: &Inventory, team: &str, request: &Request) -> Vec<u64> {
        let choice = &request.choices[0];
        let misfits = filter::kinds(inventory, choice);
        let serving: Vec<&Kind> =
            inventory.kinds.iter().zip(misfits).filter(|(_, misfit)| misfit.is_none()).map(|(kind, _)| kind).collect();
        let on = |limit: &Limit, kind: &Kind| {
            let weight = if covers(limit, kind) { limit.weight(kind).unwrap_or(0) } else { 0 };
            u64::from(choice.total()) * u64::from(kind.share_for(choice)) * weight
        };
        let least = |limit: &Limit| serving.iter().map(|kind| on(limit, kind)).min().unwrap_or(0);
        self.quotas_of(team).map(least).collect()
    }

    fn quotas_of<'a>(&'a self, team: &'a str) -> impl Iterator<Item = &'a Limit> {
        self.limits.iter().filter(move |limit| limit.team == team && !limit.is_budget())
    }

    /// What holds of a team take of each of its quotas that they count for: its level and name, how much, and how much of
    /// it is left to all holds together. `held` are all holds of the fleet; the rest of what is used is the document's.
    pub(crate) fn takes(
        &self,
        inventory: &Inventory,
        team: &str,
        holds: &[Hold],
        held: &[&Hold],
    ) -> Vec<(String, u64, u64)> {
        let Some(used) = self.used_milli.get(team) else { return Vec::new() };
        let each = self.quotas_of(team).filter_map(|limit| {
            let weight = |kind: &Kind| if covers(limit, kind) { limit.weight(kind).unwrap_or(0) } else { 0 };
            let of = |hold: &Hold| {
                let weights = hold.devices.iter().map(|&at| weight(&inventory.kinds[inventory.devices[at].kind.at()]));
                weights.sum::<u64>() * u64::from(hold.share_milli)
            };
            let amount = holds.iter().map(of).sum();
            let all: u64 = inventory.kinds.iter().zip(used).map(|(kind, milli)| milli * weight(kind)).sum();
            let of_holds: u64 = held.iter().map(|hold| of(hold)).sum();
            let left = limit.at_once().saturating_sub(all - of_holds);
            (amount > 0).then(|| (format!("{} {}", limit.per.word(), limit.name).trim().to_owned(), amount, left))
        });
        each.collect()
    }

    /// Adds to a digest what an answer to a team depends on.
    pub fn digested(&self, team: Option<&str>, mut hasher: Hasher) -> Hasher {
        let Some((team, used)) = team.and_then(|team| self.used_milli.get_key_value(team)) else {
            return hasher;
        };
        for (limit, spent) in self.limits.iter().zip(&self.spent_milli).filter(|(limit, _)| limit.team == *team) {
            hasher = hasher.text(team).text(limit.per.word()).text(&limit.name);
            hasher = match limit.most {
                Most::Devices(devices) => hasher.number(u64::from(devices)),
                Most::UnitsMilli(milli) => hasher.text("units").number(milli),
                Most::DeviceHoursMilli(milli) => hasher.text("device-hours").number(milli).maybe(*spent),
                Most::UnitHoursMilli(milli) => hasher.text("unit-hours").number(milli).maybe(*spent),
            };
            hasher = limit.window.map_or(hasher.clone(), |window| hasher.text(window.word()));
            hasher = limit.skus.iter().chain(&limit.models).fold(hasher, |hasher, name| hasher.text(name));
        }
        used.iter().fold(hasher, |hasher, &milli| hasher.number(milli))
    }
}

/// What is left of a quota, how large it is, and why a choice is more than that.
fn over_quota(
    limit: &Limit,
    inventory: &Inventory,
    used: &[u64],
    choice: &Choice,
    kind: &Kind,
) -> Option<(u64, u64, Misfit)> {
    let most = limit.at_once();
    let Some(weight) = limit.weight(kind) else {
        return Some((0, most, Misfit::of(Code::Quota))); // what cannot be counted is not within it
    };
    let asked = u64::from(choice.total()) * u64::from(kind.share_for(choice)) * weight;
    let covered = inventory.kinds.iter().zip(used).filter(|(kind, _)| covers(limit, kind));
    let in_use: u64 = covered.map(|(kind, milli)| milli * limit.weight(kind).unwrap_or(0)).sum();
    let left = most.saturating_sub(in_use);
    let want = if limit.counts_units() { asked.div_ceil(MICRO) } else { u64::from(choice.total()) };
    let numbers = Misfit::numbers(Code::Quota, Some(left / MICRO), want);
    (left < asked).then_some((left, most, Misfit { is_passing: asked <= most, ..numbers }))
}

fn covers(limit: &Limit, kind: &Kind) -> bool {
    let profile = kind.profile.as_ref();
    match limit.per {
        LimitLevel::Unit => true,
        LimitLevel::Class => kind.class.is_some_and(|class| class.word() == limit.name),
        LimitLevel::Vendor => kind.vendor.as_ref() == Some(&limit.name),
        LimitLevel::Family => profile.is_some_and(|profile| profile.family.as_ref() == Some(&limit.name)),
        LimitLevel::Model | LimitLevel::Sku => match (&kind.sku, &kind.model) {
            (Some(sku), _) => limit.skus.contains(sku),
            (None, Some(model)) => limit.models.contains(model),
            (None, None) => false,
        },
    }
}
