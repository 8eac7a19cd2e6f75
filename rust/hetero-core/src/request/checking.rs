//! What the placer relies on in a choice.

use crate::error::{Error, Result};
use crate::request::Choice;
use crate::units::WHOLE_MILLI;

/// Nodes of one step at most: above every training run that is known, and a bound for a mistyped number.
const MAX_NODES: u32 = 4096;

/// Checks what the placer relies on in a choice.
pub(crate) fn check(choice: &Choice) -> Result<()> {
    let refuse = |message: &str| Err(Error::InvalidRequest { message: format!("{}: {message}", choice.label) });
    if choice.share_milli == 0 || choice.share_milli > WHOLE_MILLI {
        return refuse("a share is 1 to 1000 thousandths");
    }
    if choice.is_share() && (choice.count != 1 || choice.count_ceiling.is_some()) {
        return refuse("a share is of one device; ask for whole devices to get several");
    }
    if choice.count_ceiling.is_some_and(|most| most <= choice.count || choice.count == 0) {
        return refuse("a range of counts begins below its end, and at 1 or more");
    }
    if choice.tensor_ranks.is_some_and(|ranks| ranks == 0 || !choice.count.is_multiple_of(ranks)) {
        return refuse("the tensor parallel groups do not make up the count");
    }
    if let Some((least, most)) = choice.nodes {
        if least == 0 || most < least || most > MAX_NODES {
            return refuse("a range of nodes begins at 1 or more and below its end");
        }
        let counts = choice.count..=choice.count_ceiling.unwrap_or(choice.count);
        let splits = |count| (least..=most).any(|nodes| choice.with_count(count).part(nodes).is_some());
        if choice.units_milli.is_none() && !counts.clone().any(splits) {
            return refuse("what is asked does not split evenly over so many nodes; every node gives as many");
        }
    }
    if choice.units_milli.is_some() && choice.count_ceiling.is_some() {
        return refuse("compute units stand instead of a count");
    }
    if choice.has_groups() {
        check_groups(choice)?;
    }
    let rates = [choice.compute_floor_tflops, choice.compute_need_tflops];
    if rates.into_iter().flatten().any(|rate| !rate.is_finite() || rate < 0.0) {
        return refuse("the compute floor or need is negative or not a number");
    }
    Ok(())
}

/// A step of several groups has them on one node each, as many devices as it says.
fn check_groups(choice: &Choice) -> Result<()> {
    for asked in std::iter::once(choice).chain(&choice.groups) {
        let refuse = |message: &str| Err(Error::InvalidRequest { message: format!("{}: {message}", asked.label) });
        let is_open = asked.may_be_gang() || asked.count_ceiling.is_some() || asked.units_milli.is_some();
        if is_open || asked.place.spread.is_some() {
            return refuse("a group has one count on one node: no range, units, several nodes or spread");
        }
    }
    for group in &choice.groups {
        let refuse = |message: &str| Err(Error::InvalidRequest { message: format!("{}: {message}", group.label) });
        if group.has_groups() {
            return refuse("a group has no groups of its own");
        }
        if group.min_score.is_some() || group.performance_floor_milli.is_some() {
            return refuse("a least score or speed is of the step, and stands beside its groups");
        }
        check(group)?;
    }
    Ok(())
}
