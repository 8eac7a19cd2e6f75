//! Steps that need devices of several kinds: groups. All of them get theirs, or none does.
//!
//! A choice with groups is itself the first of them. Each asks for its own and is placed on what the groups before it leave,
//! so that devices, CPU, host memory, power and the limits of a team are counted together. Ceilings of power and price, and
//! the least score, are of all together.
//!
//! On one node every way to serve all groups is compared, and of all nodes the best one wins: higher score, then what decides
//! between equal ones, then name and ids. Where no node has room for all and the choice allows it, the groups lie on nodes of one switch,
//! else of one rack: group after group goes to a node that an earlier one lies on, if it fits there, else to the best place
//! left; when a later one then fits nowhere, the next place is tried.

mod joint;
mod placing;
mod refusing;
mod search;

use crate::fleet::Fleet;
use crate::place::Question;
use crate::request::{Choice, Request};
use crate::score::Policy;

pub(crate) use joint::Joint;
pub(crate) use placing::{placement, scored};
pub(crate) use refusing::{considered, decide};
pub(crate) use search::{Ask, best, domains, fits_on};

/// The choice and its groups, each as a choice of its own, in the same place.
///
/// What is asked of all together, ceilings and the score, is asked of none alone.
pub(crate) fn members(choice: &Choice, policy: Policy) -> Vec<Choice> {
    let first = Choice {
        groups: Vec::new(),
        nearness: None,
        affinity_weight: None,
        min_score: None,
        cost_ceiling_milli: None,
        power_ceiling_mw: None,
        ..choice.clone()
    };
    let of_groups = |member| Choice { is_of_groups: true, ..policy.judged(member).into_owned() };
    std::iter::once(&first).chain(&choice.groups).map(of_groups).collect()
}

/// What a group of a choice asks for, in words; 0 is the choice itself.
pub(crate) fn label(choice: &Choice, group: u16) -> Option<String> {
    let group = usize::from(group);
    if group == 0 { Some(choice.label.clone()) } else { choice.groups.get(group - 1).map(|group| group.label.clone()) }
}

/// Whether a choice with groups fits now, whatever it scores.
pub(crate) fn fits(fleet: &Fleet, request: &Request, index: usize, choice: &Choice) -> bool {
    best(fleet, request, index, choice, &Question::default()).is_some()
}
