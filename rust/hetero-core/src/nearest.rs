//! The refusal that came nearest to a fit, and the smallest changes of the request that make it fit.

use crate::decision::{Change, Nearest, Reason};
use crate::filter;
use crate::fleet::Fleet;
use crate::place::{Question, best_of_fleet};
use crate::reason::refusal;
use crate::request::{Choice, Request};

/// The nearest miss among the reasons, with changes that were tried out on the fleet as it is.
pub(crate) fn nearest(fleet: &Fleet, request: &Request, question: &Question, reasons: &[Reason]) -> Option<Nearest> {
    // Passing reasons before permanent ones, then the largest part of what was asked, then the nearer filter.
    let mut best: Option<&Reason> = None;
    for reason in reasons {
        if best.is_none_or(|best| key(reason) > key(best)) {
            best = Some(reason);
        }
    }
    let reason = best?;
    let changes = (0..request.choices.len()).flat_map(|index| changes(fleet, request, question, index)).collect();
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

fn changes(fleet: &Fleet, request: &Request, question: &Question, index: usize) -> Vec<Change> {
    let choice = &request.choices[index];
    let fits = |choice: &Choice| fits(fleet, request, index, choice);
    let label = &choice.label;
    let mut found = Vec::new();
    let mut offer = |clause: &str, to: Option<u64>, text: String, changed: Choice| {
        let is_placed =
            || best_of_fleet(fleet, request, index, &changed, question).is_some_and(|b| b.is_good(&changed));
        if changed.min_score.is_none() || is_placed() {
            let text = format!("{label}: {text}");
            found.push(Change { choice_index: index, clause: clause.to_owned(), to, text });
        }
    };
    let unlinked = Choice { link: None, ..choice.clone() };
    if choice.link.is_some() && fits(&unlinked) {
        offer("link", None, "drop the link word".to_owned(), unlinked);
    }
    if let Some(count) = most(choice, fits) {
        let text = format!("ask for {count} instead of {}", choice.count);
        offer("count", Some(u64::from(count)), text, choice.with_count(count));
    }
    let imprecise = Choice { precisions: Vec::new(), ..choice.clone() };
    if !choice.precisions.is_empty() && fits(&imprecise) {
        offer("precisions", None, "drop the precision".to_owned(), imprecise);
    }
    if let (Some(floor), Some(mib)) = (choice.memory_floor_mib, highest_floor(fleet, choice, fits)) {
        let text = format!("lower the memory floor from {} to {}", shown(floor), shown(mib));
        offer("memory_floor_mib", Some(mib), text, Choice { memory_floor_mib: Some(mib), ..choice.clone() });
    }
    found
}

/// Whether a variation of a choice fits anywhere now, whatever it scores.
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
