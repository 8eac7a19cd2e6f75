//! The refusal that came nearest to a fit, and the smallest changes of the request that make it fit.

use crate::decision::{Change, Nearest, Reason};
use crate::filter;
use crate::fleet::Fleet;
use crate::reason::refusal;
use crate::request::{Choice, Request};

/// The nearest miss among the reasons, with changes that were tried out on the fleet as it is.
pub(crate) fn nearest(fleet: &Fleet, request: &Request, reasons: &[Reason]) -> Option<Nearest> {
    // Passing reasons before permanent ones, then the largest part of what was asked, then the nearer filter.
    let mut best: Option<&Reason> = None;
    for reason in reasons {
        if best.is_none_or(|best| key(reason) > key(best)) {
            best = Some(reason);
        }
    }
    let reason = best?;
    let changes =
        request.choices.iter().enumerate().flat_map(|(index, choice)| changes(fleet, request, index, choice)).collect();
    Some(Nearest {
        choice: reason.choice.clone(),
        node: reason.nodes.first()?.clone(),
        code: reason.code,
        have: reason.have,
        want: reason.want,
        unit: reason.unit.clone(),
        changes,
    })
}

fn key(reason: &Reason) -> (bool, u64, crate::codes::Code) {
    let share = match (reason.have, reason.want) {
        (Some(have), Some(want)) if want > 0 => u64::try_from(u128::from(have) * 1000 / u128::from(want)).unwrap_or(0),
        _ => 0,
    };
    (!reason.is_permanent, share.min(1000), reason.code)
}

fn changes(fleet: &Fleet, request: &Request, index: usize, choice: &Choice) -> Vec<Change> {
    let fits = |choice: &Choice| fits(fleet, request, index, choice);
    let change = |clause: &str, to: Option<u64>, text: String| Change {
        choice_index: index,
        clause: clause.to_owned(),
        to,
        text,
    };
    let label = &choice.label;
    let mut found = Vec::new();
    if choice.link.is_some() && fits(&Choice { link: None, ..choice.clone() }) {
        found.push(change("link", None, format!("{label}: drop the link word")));
    }
    if let Some(count) = most(choice, fits) {
        found.push(change(
            "count",
            Some(u64::from(count)),
            format!("{label}: ask for {count} instead of {}", choice.count),
        ));
    }
    if !choice.precisions.is_empty() && fits(&Choice { precisions: Vec::new(), ..choice.clone() }) {
        found.push(change("precisions", None, format!("{label}: drop the precision")));
    }
    if let (Some(floor), Some(mib)) = (choice.memory_floor_mib, highest_floor(fleet, choice, fits)) {
        let text = format!("{label}: lower the memory floor from {} to {}", shown(floor), shown(mib));
        found.push(change("memory_floor_mib", Some(mib), text));
    }
    found
}

/// Whether a variation of a choice fits anywhere now.
pub(crate) fn fits(fleet: &Fleet, request: &Request, index: usize, choice: &Choice) -> bool {
    let fit = filter::kinds_of(fleet, request, index, choice);
    let mut nodes = fleet.states().representatives_of(|node| filter::elsewhere(fleet.node(node), choice).is_none());
    nodes.any(|node| refusal(fleet, node, choice, &fit).is_none())
}

/// The largest smaller count that fits; whole numbers of devices fit from some count downwards.
fn most(choice: &Choice, fits: impl Fn(&Choice) -> bool) -> Option<u32> {
    let with = |count: u32| fits(&choice.with_count(count));
    let (mut low, mut high) = (0, choice.count);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        *if with(middle) { &mut low } else { &mut high } = middle;
    }
    (low > 0).then_some(low)
}

/// The highest lower memory floor that fits, out of what the fleet's devices have.
fn highest_floor(fleet: &Fleet, choice: &Choice, fits: impl Fn(&Choice) -> bool) -> Option<u64> {
    let floor = choice.memory_floor_mib?;
    let granted = |mib: u64| choice.granted_mib(mib);
    let mut floors: Vec<u64> =
        fleet.inventory().kinds.iter().filter_map(|kind| kind.nominal_mib.map(granted)).collect();
    floors.retain(|&mib| mib < floor);
    floors.sort_unstable();
    floors.dedup();
    floors.into_iter().rev().find(|&mib| fits(&Choice { memory_floor_mib: Some(mib), ..choice.clone() }))
}

fn shown(mib: u64) -> String {
    if mib.is_multiple_of(1024) { format!("{}GB", mib / 1024) } else { format!("{mib}MB") }
}
