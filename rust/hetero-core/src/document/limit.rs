//! Limits of teams: quotas, which bound what is used at once, and budgets, which bound what is used in a window of time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What the devices under a limit have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // each is its own explanation
pub enum LimitLevel {
    Class,
    Vendor,
    Family,
    #[default]
    Model,
    Sku,
    /// All devices, counted in compute units.
    Unit,
}

impl LimitLevel {
    /// The word of the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Vendor => "vendor",
            Self::Family => "family",
            Self::Model => "model",
            Self::Sku => "sku",
            Self::Unit => "unit",
        }
    }
}

/// When a budget begins anew, in UTC; a week begins on Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // each is its own explanation
pub enum Window {
    Day,
    Week,
    Month,
}

impl Window {
    /// The word of the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }
}

/// A quota or a budget of a team. It states one of `devices`, `units`, `device_hours` and `unit_hours`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitDocument {
    /// Team.
    pub team: String,
    /// Level at which it counts; `unit` counts all devices, in compute units.
    pub per: LimitLevel,
    /// Name at that level, as `H100`; none for `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Devices at most, at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<u32>,
    /// Compute units at most, at once; of `per: unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<f64>,
    /// Device-hours at most in a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_hours: Option<f64>,
    /// Hours of a compute unit at most in a window; of `per: unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_hours: Option<f64>,
    /// When a budget begins anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
}

/// No amount of a limit is larger.
const MOST: f64 = 1e12;

impl LimitDocument {
    /// Whether it bounds what is used in a window of time.
    pub fn is_budget(&self) -> bool {
        self.device_hours.is_some() || self.unit_hours.is_some()
    }

    /// Refuses what states no amount, or several, or one that does not go with its level.
    pub(crate) fn check(&self, path: &str) -> Result<()> {
        let refuse = |field: &str, message: &str| Err(Error::document(format!("{path}{field}"), message));
        let amounts = [self.units, self.device_hours, self.unit_hours];
        if amounts.iter().flatten().count() + usize::from(self.devices.is_some()) != 1 {
            return refuse("", "a limit states one of devices, units, device_hours and unit_hours");
        }
        if amounts.into_iter().flatten().any(|amount| !(0.0..=MOST).contains(&amount)) {
            return refuse("", "the amount of a limit is 0 or more");
        }
        let in_units = self.units.is_some() || self.unit_hours.is_some();
        match (self.per == LimitLevel::Unit, in_units) {
            (true, false) => return refuse(".per", "a limit per unit states units or unit_hours"),
            (false, true) => return refuse(".per", "units and unit_hours go with per: unit, which counts all devices"),
            _ => {}
        }
        match (self.per == LimitLevel::Unit, self.name.is_some()) {
            (true, true) => return refuse(".name", "a limit per unit counts all devices and has no name"),
            (false, false) => return refuse("", "a limit has a name at its level, as name: H100"),
            _ => {}
        }
        match (self.is_budget(), self.window.is_some()) {
            (true, false) => refuse("", "a budget says when it begins anew: window: day, week or month"),
            (false, true) => refuse(".window", "only device_hours and unit_hours have a window"),
            _ => Ok(()),
        }
    }
}
