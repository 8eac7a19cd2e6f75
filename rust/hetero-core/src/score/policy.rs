//! Policies: how candidates are judged. They share weights, topology, fragmentation and the filter, but for power budgets,
//! and differ in what performance and power mean.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::request::Choice;
use crate::score::{WEIGHTS, Weights};

/// How candidates are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Performance up to what the step needs; rates are measured against the reference device.
    #[default]
    Aware,
    /// Performance is the affinity with published divisors; missing power headroom costs points.
    Classic,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 2] = [Self::Aware, Self::Classic];

    /// The policy that a person names.
    pub fn parse(word: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|policy| policy.word() == word).ok_or_else(|| {
            let known = Self::ALL.map(|policy| format!("{:?}", policy.word())).join(" and ");
            Error::InvalidRequest { message: format!("unknown policy {word:?}; there are {known}") }
        })
    }

    /// The word that a person writes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Aware => "aware",
            Self::Classic => "classic",
        }
    }

    /// A choice as the filter is to see it: `classic` takes points off where power headroom is missing, and refuses nobody.
    pub(crate) fn judged(self, choice: &Choice) -> Cow<'_, Choice> {
        if self == Self::Aware || choice.may_cap_power {
            return Cow::Borrowed(choice);
        }
        Cow::Owned(Choice { may_cap_power: true, ..choice.clone() })
    }

    /// Weights of its terms; both policies have the same.
    pub fn weights(self) -> Weights {
        WEIGHTS
    }
}
