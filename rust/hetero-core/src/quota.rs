//! Quotas: how many devices a team may use at once, of a class, a vendor, a family, a model or a SKU.
//!
//! A request is charged at every level of its path: a team may have devices left of its class, and none of the model.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::digest::Hasher;
use crate::document::LimitLevel;
use crate::filter::Misfit;
use crate::hold::Hold;
use crate::inventory::Inventory;
use crate::kind::Kind;
use crate::request::Choice;
use crate::units::WHOLE_MILLI;

/// A limit with nothing left to look up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Whose.
    pub team: String,
    /// What the devices that it counts have in common.
    pub per: LimitLevel,
    /// Class, vendor or family as the catalog spells it; a model or SKU as a person wrote it.
    pub name: String,
    /// Catalog keys that a model or SKU means.
    pub skus: Vec<String>,
    /// Models outside the catalog that a model means.
    pub models: Vec<String>,
    /// Devices at most.
    pub devices: u32,
}

/// The limits of a fleet, and what the teams that have any use now.
#[derive(Clone, Debug, Default)]
pub struct Quotas {
    limits: Vec<Limit>,
    /// By team: thousandths of devices in use, by kind.
    used_milli: IndexMap<String, Vec<u64>>,
}

impl Quotas {
    /// Limits, of which nothing is used yet.
    pub fn new(limits: Vec<Limit>, inventory: &Inventory) -> Self {
        let none = vec![0; inventory.kinds.len()];
        let used_milli = limits.iter().map(|limit| (limit.team.clone(), none.clone())).collect();
        Self { limits, used_milli }
    }

    /// The limits.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
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

    /// Why a team may not use more devices of a kind: the limit that leaves least. It passes when the team's steps end,
    /// unless the limit is below what is asked.
    pub fn misfit(&self, inventory: &Inventory, team: &str, choice: &Choice, kind: &Kind) -> Option<Misfit> {
        let used = self.used_milli.get(team)?;
        let asked = u64::from(choice.total()) * u64::from(kind.share_for(choice));
        let of_team = self.limits.iter().enumerate().filter(|(_, limit)| limit.team == team && covers(limit, kind));
        let left = of_team.map(|(i, limit)| {
            let most = u64::from(limit.devices) * u64::from(WHOLE_MILLI);
            let covered = inventory.kinds.iter().zip(used).filter(|(kind, _)| covers(limit, kind));
            (most.saturating_sub(covered.map(|(_, milli)| milli).sum()), most, i)
        });
        let (left, most, i) = left.min()?;
        (left < asked).then(|| Misfit {
            code: Code::Quota,
            have: Some(left / u64::from(WHOLE_MILLI)),
            want: Some(u64::from(choice.total())),
            limit: u16::try_from(i).ok(),
            group: None,
            is_passing: asked <= most,
        })
    }

    /// A limit in words.
    pub fn words(&self, limit: u16) -> String {
        let limit = &self.limits[usize::from(limit)];
        format!("{} devices of {} {} for team {}", limit.devices, limit.per.word(), limit.name, limit.team)
    }

    /// Adds to a digest what an answer to a team depends on.
    pub fn digested(&self, team: Option<&str>, mut hasher: Hasher) -> Hasher {
        let Some((team, used)) = team.and_then(|team| self.used_milli.get_key_value(team)) else {
            return hasher;
        };
        for limit in self.limits.iter().filter(|limit| limit.team == *team) {
            hasher = hasher.text(team).text(limit.per.word()).text(&limit.name).number(u64::from(limit.devices));
            hasher = limit.skus.iter().chain(&limit.models).fold(hasher, |hasher, name| hasher.text(name));
        }
        used.iter().fold(hasher, |hasher, &milli| hasher.number(milli))
    }
}

fn covers(limit: &Limit, kind: &Kind) -> bool {
    let profile = kind.profile.as_ref();
    match limit.per {
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
