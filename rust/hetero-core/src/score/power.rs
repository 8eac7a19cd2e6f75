//! Power headroom: whether the devices in use, with the chosen ones, stay inside what their node and rack may draw.

use crate::decision::Penalty;
use crate::fleet::Fleet;
use crate::power::{added_mw, budgets, read_of_used};
use crate::score::{Candidate, Policy};

/// What the penalty is called.
pub(crate) const PENALTY_NAME: &str = "power_headroom";
/// Points that missing headroom costs in the policy `classic`, beside those of the term.
const PENALTY: f64 = 20.0;
/// Part of a budget that may be drawn without a loss of value: electrical codes allow 80 % of a circuit's rating for a
/// load that lasts (NFPA 70, 210.19 and 210.20). From there to the whole budget the value falls to 0.
const EASY: f64 = 0.8;

/// What is known of a candidate's power, by the tightest budget of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Headroom {
    /// The step takes no device.
    NoDevice,
    /// Neither node nor rack state a budget.
    NoBudget,
    /// The TDP of a device that counts is unknown; that of a partition always is.
    NoTdp,
    /// Both are known.
    Known { draw_mw: u64, budget_mw: u64, rack: Option<usize> },
}

impl Headroom {
    /// The headroom once the candidate runs.
    pub(crate) fn of(fleet: &Fleet, candidate: Candidate<'_>) -> Self {
        if candidate.devices.is_empty() {
            return Self::NoDevice;
        }
        if !fleet.node(candidate.node).is_under_budget() {
            return Self::NoBudget;
        }
        let Some(added) = added_mw(fleet, candidate.devices) else { return Self::NoTdp };
        let known = budgets(fleet, candidate.node).filter_map(|budget| {
            let draw_mw = budget.draw_mw?.saturating_add(added);
            Some((draw_mw, budget.most_mw, budget.rack))
        });
        // The tightest: the largest part of its budget; of equal ones that of the node.
        let part = |(draw, budget, _): &(u64, u64, Option<usize>)| *draw as f64 / (*budget).max(1) as f64;
        let tightest = known.reduce(|a, b| if part(&b) > part(&a) { b } else { a });
        tightest.map_or(Self::NoTdp, |(draw_mw, budget_mw, rack)| Self::Known { draw_mw, budget_mw, rack })
    }

    /// Whether it is known that there is none.
    fn is_missing(self) -> bool {
        matches!(self, Self::Known { draw_mw, budget_mw, .. } if draw_mw > budget_mw)
    }

    /// 0 where headroom is missing. Else 1, or with `aware` less the less of it is left: what is unknown tells nothing
    /// apart.
    pub(crate) fn value(self, policy: Policy) -> f64 {
        match (policy, self) {
            _ if self.is_missing() => 0.0,
            (Policy::Aware, Self::Known { draw_mw, budget_mw, .. }) if budget_mw > 0 => {
                ((1.0 - draw_mw as f64 / budget_mw as f64) / (1.0 - EASY)).clamp(0.0, 1.0)
            }
            _ => 1.0,
        }
    }

    /// Points off the total; `aware` takes none.
    pub(crate) fn penalty(self, policy: Policy) -> f64 {
        if policy == Policy::Classic && self.is_missing() { PENALTY } else { 0.0 }
    }

    /// The penalty as a line, where there is one.
    pub(crate) fn penalty_line(self, fleet: &Fleet, candidate: Candidate<'_>, policy: Policy) -> Option<Penalty> {
        let line = || Penalty { name: PENALTY_NAME.to_owned(), points: -PENALTY, why: self.why(fleet, candidate) };
        (self.penalty(policy) > 0.0).then(line)
    }

    /// What the value comes from.
    pub(crate) fn why(self, fleet: &Fleet, candidate: Candidate<'_>) -> String {
        match self {
            Self::NoDevice => "no device asked".to_owned(),
            Self::NoBudget => "not judged: no power budget is stated".to_owned(),
            Self::NoTdp => "not judged: the TDP of a device is unknown".to_owned(),
            Self::Known { draw_mw, budget_mw, rack } => {
                let watts = |mw: u64| mw as f64 / 1000.0;
                let whose = rack.map_or(String::new(), |rack| format!("rack {}: ", fleet.inventory().racks[rack].name));
                let source = match read_of_used(fleet, candidate.node, rack) {
                    (0, _) => "estimated by TDP".to_owned(),
                    (read, used) => format!("{read} of {used} in use by readings, else TDP"),
                };
                format!("{whose}devices draw up to {:.0} of {:.0} W, {source}", watts(draw_mw), watts(budget_mw))
            }
        }
    }
}
