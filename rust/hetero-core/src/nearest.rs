//! The refusal that came nearest to a fit, and the smallest changes of the request that make it fit.

use crate::decision::{Change, Nearest, Reason};
use crate::filter;
use crate::fleet::Fleet;
use crate::place::{Question, best_of_fleet};
use crate::reason::refusal;
use crate::request::{Choice, Nearness, Place, Request};
use crate::units::share_of;
use crate::{gang, groups};

/// A clause that a request can do without.
struct Omission {
    clause: &'static str,
    text: &'static str,
    apply: fn(&mut Choice),
}

/// A person is told of so many nodes at most.
const MOST_NODES_TRIED: u32 = 16;

const OMISSIONS: [Omission; 17] = [
    Omission { clause: "link", text: "drop the link word", apply: |choice| choice.link = None },
    Omission { clause: "precisions", text: "drop the precision", apply: |choice| choice.precisions.clear() },
    Omission { clause: "memory_kind", text: "drop the memory type", apply: |choice| choice.memory_kind = None },
    Omission {
        clause: "is_confidential",
        text: "drop the word confidential",
        apply: |choice| choice.is_confidential = false,
    },
    Omission {
        clause: "performance_floor_milli",
        text: "drop the performance floor",
        apply: |choice| choice.performance_floor_milli = None,
    },
    Omission {
        clause: "power_ceiling_mw",
        text: "drop the power ceiling",
        apply: |choice| choice.power_ceiling_mw = None,
    },
    Omission {
        clause: "cost_ceiling_milli",
        text: "drop the cost ceiling",
        apply: |choice| choice.cost_ceiling_milli = None,
    },
    Omission { clause: "driver_floor", text: "drop the driver floor", apply: |choice| choice.driver_floor.clear() },
    Omission { clause: "rdma", text: "drop the network word", apply: |choice| choice.rdma = None },
    Omission { clause: "runtimes", text: "drop the runtime", apply: |choice| choice.runtimes.clear() },
    Omission {
        clause: "place",
        text: "drop the words of place (cluster, region, compliance, data, label)",
        apply: |choice| {
            let Place { near, spread, checkpoint, .. } = std::mem::take(&mut choice.place);
            choice.place = Place { near, spread, checkpoint, ..Place::default() };
        },
    },
    Omission { clause: "spread", text: "drop the spread", apply: |choice| choice.place.spread = None },
    Omission {
        clause: "checkpoint",
        text: "say that the checkpoint is portable (checkpoint: {portable: true})",
        apply: |choice| choice.place.checkpoint = None,
    },
    Omission { clause: "numa", text: "drop numa=require", apply: |choice| choice.one_numa_node = false },
    Omission { clause: "nic", text: "drop nic: same-root", apply: |choice| choice.near_nic = false },
    Omission {
        clause: "nearness",
        text: "let the groups lie on several nodes (nearness: rack)",
        apply: |choice| choice.nearness = choice.has_groups().then_some(Nearness::Rack),
    },
    Omission { clause: "min_score", text: "drop the least score", apply: |choice| choice.min_score = None },
];

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
    let choice = &*question.policy.judged(&request.choices[index]);
    let fits = |choice: &Choice| fits(fleet, request, index, choice);
    let label = &choice.label;
    let mut found = Vec::new();
    let mut offer = |clause: &str, to: Option<u64>, text: String, changed: Choice| {
        if changed.min_score.is_none() || is_good(fleet, request, index, &changed, question) {
            let text = format!("{label}: {text}");
            found.push(Change { choice_index: index, clause: clause.to_owned(), to, text });
        }
    };
    for Omission { clause, text, apply } in OMISSIONS {
        let mut changed = choice.clone();
        apply(&mut changed);
        if changed != *choice && fits(&changed) {
            offer(clause, None, text.to_owned(), changed);
        }
    }
    let capped = Choice { may_cap_power: true, power_ceiling_mw: None, ..choice.clone() };
    if !choice.may_cap_power && fits(&capped) {
        offer("may_cap_power", Some(1), "let its power be capped (power: {cap_ok: true})".to_owned(), capped);
    }
    if let Some(count) = most(choice, fits) {
        let text = format!("ask for {count} instead of {}", choice.count);
        offer("count", Some(u64::from(count)), text, choice.with_count(count));
    }
    if let Some((nodes, changed)) = other_nodes(choice, fits) {
        let text = format!("lie on {nodes} node{}, as in nodes={nodes}", if nodes == 1 { "" } else { "s" });
        offer("nodes", Some(u64::from(nodes)), text, changed);
    }
    if let (Some(floor), Some(mib)) = (choice.memory_floor_mib, highest_floor(fleet, choice, fits)) {
        let text = format!("lower the memory floor from {} to {}", shown(floor), shown(mib));
        offer("memory_floor_mib", Some(mib), text, Choice { memory_floor_mib: Some(mib), ..choice.clone() });
    }
    found
}

/// Whether a variation of a choice fits anywhere now, whatever it scores.
pub(crate) fn fits(fleet: &Fleet, request: &Request, index: usize, choice: &Choice) -> bool {
    if choice.has_groups() {
        return groups::fits(fleet, request, index, choice);
    }
    gang::fits(fleet, request, index, choice).unwrap_or_else(|| fits_on_one_node(fleet, request, index, choice))
}

/// Whether a choice fits on one node now. Where the team's steps run is asked of the choice alone.
pub(crate) fn fits_on_one_node(fleet: &Fleet, request: &Request, index: usize, choice: &Choice) -> bool {
    let fit = filter::kinds_of(fleet, request, index, choice);
    let mut nodes = fleet.states().representatives_of(|node| filter::elsewhere(fleet.node(node), choice).is_none());
    nodes.any(|node| refusal(fleet, node, choice, &fit).is_none())
}

/// Whether a variation of a choice has a candidate that scores as it asks.
fn is_good(fleet: &Fleet, request: &Request, index: usize, choice: &Choice, question: &Question) -> bool {
    if choice.has_groups() {
        return groups::best(fleet, request, index, choice, question).is_some_and(|joint| joint.is_good(choice));
    }
    let on_one_node = || best_of_fleet(fleet, request, index, choice, question).is_some_and(|b| b.is_good(choice));
    gang::is_good(fleet, request, index, choice, question).unwrap_or_else(on_one_node)
}

/// The fewest nodes, out of those that were not asked for, over which the devices split and fit.
fn other_nodes(choice: &Choice, fits: impl Fn(&Choice) -> bool) -> Option<(u32, Choice)> {
    if choice.has_groups() {
        return None; // which lie on one node each
    }
    let (least, most) = choice.nodes.unwrap_or((1, 1));
    let is_any_count = choice.units_milli.is_some();
    let amount = if is_any_count { MOST_NODES_TRIED } else { choice.amount().min(MOST_NODES_TRIED) };
    let others = (1..=amount).filter(|nodes| !(least..=most).contains(nodes));
    let splits = others.filter(|&nodes| is_any_count || choice.part(nodes).is_some());
    splits.map(|nodes| (nodes, Choice { nodes: Some((nodes, nodes)), ..choice.clone() })).find(|(_, c)| fits(c))
}

/// The largest smaller count that fits. On one node whole numbers of devices fit from some count downwards; over several
/// only those that split evenly do.
fn most(choice: &Choice, fits: impl Fn(&Choice) -> bool) -> Option<u32> {
    let with = |count: u32| count.is_multiple_of(choice.tensor_ranks.unwrap_or(1)) && fits(&choice.with_count(count));
    if choice.may_be_gang() || choice.tensor_ranks.is_some() {
        return (1..choice.count).rev().find(|&count| with(count));
    }
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
    let granted = |mib: u64| share_of(mib, u64::from(choice.share_of(Some(mib))));
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
