//! Power headroom: whether the devices in use, with the chosen ones, stay inside what their node may draw.

use crate::decision::Penalty;
use crate::fleet::Fleet;
use crate::score::{Candidate, Policy};
use crate::units::WHOLE_MILLI;

/// Points that missing headroom costs in the policy `classic`, beside those of the term.
const PENALTY: f64 = 20.0;

/// What is known of a candidate's power. There are no readings: a device of which anything is taken counts with the
/// highest normal power of its board (TDP), an idle or unhealthy one with nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Headroom {
    /// The policy does not look.
    NotJudged,
    /// The step takes no device.
    NoDevice,
    /// The node states no budget.
    NoBudget,
    /// The TDP of a device that counts is unknown; that of a partition always is.
    NoTdp,
    /// Both are known.
    Known { draw_mw: u64, budget_mw: u64 },
}

impl Headroom {
    /// The headroom of a node once the candidate runs.
    pub(crate) fn of(fleet: &Fleet, candidate: Candidate<'_>, policy: Policy) -> Self {
        if policy == Policy::Aware {
            return Self::NotJudged;
        }
        if candidate.devices.is_empty() {
            return Self::NoDevice;
        }
        let node = fleet.node(candidate.node);
        let Some(budget_mw) = node.power_budget_mw else { return Self::NoBudget };
        let (inventory, free_milli) = (fleet.inventory(), &fleet.capacity().free_milli);
        let mut draw_mw: u64 = 0;
        for at in node.devices.clone() {
            let device = &inventory.devices[at];
            let is_in_use = device.is_healthy && free_milli[at] < WHOLE_MILLI;
            if is_in_use || candidate.devices.contains(&at) {
                let kind = &inventory.kinds[device.kind.at()];
                let whole = kind.profile.as_ref().filter(|_| kind.partition.is_none());
                let Some(tdp_mw) = whole.and_then(|profile| profile.tdp_mw) else { return Self::NoTdp };
                draw_mw = draw_mw.saturating_add(tdp_mw);
            }
        }
        Self::Known { draw_mw, budget_mw }
    }

    /// Whether it is known that there is none.
    fn is_missing(self) -> bool {
        matches!(self, Self::Known { draw_mw, budget_mw } if draw_mw > budget_mw)
    }

    /// 0 where headroom is missing, else 1: what is unknown tells nothing apart.
    pub(crate) fn value(self) -> f64 {
        if self.is_missing() { 0.0 } else { 1.0 }
    }

    /// Points off the total.
    pub(crate) fn penalty(self) -> f64 {
        if self.is_missing() { PENALTY } else { 0.0 }
    }

    /// The penalty as a line, where there is one.
    pub(crate) fn penalty_line(self) -> Option<Penalty> {
        let line = || Penalty { name: "power_headroom".to_owned(), points: -PENALTY, why: self.why() };
        self.is_missing().then(line)
    }

    /// What the value comes from.
    pub(crate) fn why(self) -> String {
        match self {
            Self::NotJudged => "no power readings".to_owned(),
            Self::NoDevice => "no device asked".to_owned(),
            Self::NoBudget => "not judged: the node states no power budget".to_owned(),
            Self::NoTdp => "not judged: the TDP of a device is unknown".to_owned(),
            Self::Known { draw_mw, budget_mw } => {
                let watts = |mw: u64| mw as f64 / 1000.0;
                format!("devices draw up to {:.0} of {:.0} W", watts(draw_mw), watts(budget_mw))
            }
        }
    }
}
