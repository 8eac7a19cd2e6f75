//! Decisions in words, as plain text.

use std::fmt::Write as _;

use crate::decision::{
    CountedFrom, Decision, Grant, Granted, GroupGrant, NoFit, Penalty, Placement, Reason, Term, Verdict, Victim,
    Victims,
};

/// Names of nodes shown before the rest is only counted.
const NODES_SHOWN: usize = 4;

/// Where the step goes and what the score is made of, or why it goes nowhere.
pub fn why(decision: &Decision) -> String {
    match decision {
        Decision::Placement(placement) => placed(placement),
        Decision::NoFit(no_fit) => refused(no_fit),
    }
}

fn placed(placement: &Placement) -> String {
    let mut text = String::new();
    let verdict = match placement.verdict {
        Verdict::Degraded => format!("degraded to {} (choice {})", placement.choice, placement.choice_index + 1),
        _ => format!("placed on {}", placement.choice),
    };
    let _ = writeln!(text, "{verdict}: {}", granted_words(placement));
    let _ = writeln!(text, "  score {:.1} of 100, policy {}, mix {}", placement.score, placement.policy, placement.mix);
    if let Some(scored) = &placement.cluster_score {
        let terms = scored.terms.iter().map(|term| format!("{} {:.1}/{:.0}", term.name, term.points, term.weight));
        let (score, terms) = (scored.score, terms.collect::<Vec<_>>().join(", "));
        let _ = writeln!(text, "  cluster {}: {score:.1} of 100 ({terms})", scored.cluster);
    }
    if let Some(sharing) = placement.granted.as_ref().and_then(|granted| granted.sharing.as_ref()) {
        let burst = sharing.burst_milli.map_or(String::new(), |milli| format!(", up to {milli}/1000 while idle"));
        let _ =
            writeln!(text, "  shared ({}{burst}), isolation {}: {}", sharing.word(), sharing.isolation, sharing.means);
        if let Some((bound, beside)) = placement.bound.zip(sharing.neighbours) {
            let _ = writeln!(text, "  bound by {}; {}", bound.word(), beside.words());
        }
    }
    for note in &placement.notes {
        let _ = writeln!(text, "  {}: {}", note.code, note.text);
    }
    for term in &placement.terms {
        let _ = writeln!(text, "{}", term_line(term));
    }
    for penalty in &placement.penalties {
        let _ = writeln!(text, "{}", penalty_line(penalty));
    }
    if placement.verdict == Verdict::Degraded {
        let performance = &placement.performance;
        let ratio = performance.ratio.map_or("unknown".to_owned(), |ratio| format!("{ratio:.2}"));
        let _ = writeln!(text, "  speed relative to the first choice: {ratio} ({})", performance.source);
    }
    text.push_str(&reason_lines(&placement.reasons));
    let _ = writeln!(text, "  trace {}", placement.trace_id);
    text
}

fn granted_words(placement: &Placement) -> String {
    if !placement.groups.is_empty() {
        let lines = placement.groups.iter().map(|group| format!("\n    {}", group_words(group)));
        return format!("{} groups{}", placement.groups.len(), lines.collect::<String>());
    }
    let node = placement.nodes.join(", ");
    let Some(granted) = &placement.granted else {
        return cores_on(placement, &node);
    };
    if placement.nodes.len() < 2 {
        return device_words(granted, &placement.devices, &node);
    }
    let amount = placement.devices.len();
    let name = name_of(granted);
    let of_node = |node: &String| {
        let grants: Vec<Grant> = placement.devices.iter().filter(|grant| grant.node == *node).cloned().collect();
        format!("\n    {node}, devices {}", ids(&grants))
    };
    let parts: String = placement.nodes.iter().map(of_node).collect();
    format!("{amount} x {name} on {} nodes{parts}", placement.nodes.len())
}

fn group_words(group: &GroupGrant) -> String {
    match &group.granted {
        Some(granted) => device_words(granted, &group.devices, &group.node),
        None => core_words(group.cpu_milli, &group.node),
    }
}

fn device_words(granted: &Granted, devices: &[Grant], node: &str) -> String {
    let share = devices.first().map_or(0, |grant| grant.share_milli);
    let amount = if share < 1000 { format!("{share}/1000 of 1") } else { devices.len().to_string() };
    format!("{amount} x {} on {node}, devices {}", name_of(granted), ids(devices))
}

fn core_words(cpu_milli: u64, node: &str) -> String {
    let cores = cpu_milli / 1000; // a request counts whole cores
    format!("{cores} core{} of {node}", if cores == 1 { "" } else { "s" })
}

/// Cores of a step that takes no device, in all and of each node.
fn cores_on(placement: &Placement, node: &str) -> String {
    let (each, nodes) = (placement.cpu_milli, placement.nodes.len());
    if nodes < 2 {
        return core_words(each, node);
    }
    let of_node = |node: &String| format!("\n    {}", core_words(each, node));
    let parts: String = placement.nodes.iter().map(of_node).collect();
    format!("{} cores on {nodes} nodes{parts}", each * nodes as u64 / 1000)
}

fn name_of(granted: &Granted) -> &str {
    granted.sku.as_deref().or(granted.model.as_deref()).unwrap_or("unknown device")
}

fn ids(grants: &[Grant]) -> String {
    grants.iter().map(|grant| grant.id.to_string()).collect::<Vec<_>>().join(",")
}

/// One term as `value x weight = points`.
pub fn term_line(term: &Term) -> String {
    format!("    {:<13} {:.3} x {:>5.1} = {:>5.1}  {}", term.name, term.value, term.weight, term.points, term.why)
}

/// One penalty, its points below those of the terms.
fn penalty_line(penalty: &Penalty) -> String {
    format!("    {:<29} {:>5.1}  {}", format!("{} penalty", penalty.name), penalty.points, penalty.why)
}

fn refused(no_fit: &NoFit) -> String {
    let mut text = String::new();
    let _ = match no_fit.verdict {
        Verdict::Impossible => writeln!(text, "impossible: no node could ever take {}, even empty", no_fit.requirement),
        _ => writeln!(text, "busy: {} would fit, but not now", no_fit.requirement),
    };
    text.push_str(&reason_lines(&no_fit.reasons));
    if let Some(nearest) = &no_fit.nearest {
        let numbers = numbers(nearest.have, nearest.want, nearest.unit.as_deref());
        let _ = writeln!(text, "  nearest: {} on {}: {}{numbers}", nearest.choice, nearest.node, nearest.code.name());
        for change in &nearest.changes {
            let _ = writeln!(text, "  would fit now: {}", change.text);
        }
    } else {
        text.push_str("  the fleet has no nodes\n");
    }
    if let Some(victims) = &no_fit.victims {
        text.push_str(&victim_lines(victims));
    }
    let _ = writeln!(text, "  trace {}", no_fit.trace_id);
    text
}

/// What would end and what is lost by it, each victim on its line.
fn victim_lines(victims: &Victims) -> String {
    let lost =
        victims.lost_device_ms.map_or("unknown work is".to_owned(), |ms| format!("{} device-seconds are", seconds(ms)));
    let least = if victims.is_least { "" } else { ", perhaps not the least" };
    let (shown, rest) = victims.nodes.split_at(victims.nodes.len().min(NODES_SHOWN));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let nodes = shown.join(", ");
    let mut text = format!("  victims: {} would fit on {nodes}{more}; {lost} lost{least}\n", victims.choice);
    let (shown, rest) = victims.victims.split_at(victims.victims.len().min(NODES_SHOWN));
    for victim in shown {
        let _ = writeln!(text, "      {}", victim_words(victim));
    }
    if !rest.is_empty() {
        let _ = writeln!(text, "      and {} more", rest.len());
    }
    text
}

fn victim_words(victim: &Victim) -> String {
    let ids: Vec<String> = victim.devices.iter().map(u32::to_string).collect();
    let devices = if ids.is_empty() { String::new() } else { format!(", devices {}", ids.join(",")) };
    let gang = victim.gang.as_ref().map_or(String::new(), |gang| format!(", gang {gang}"));
    let from = match victim.counted_from {
        Some(CountedFrom::Checkpoint) => " since its last checkpoint",
        Some(CountedFrom::Start) => " since its start, its last checkpoint is unknown",
        Some(CountedFrom::Notice) => ", its work can be saved within the notice",
        None => "",
    };
    let lost =
        victim.lost_device_ms.map_or("unknown, it states no age".to_owned(), |ms| format!("{}{from}", seconds(ms)));
    let late = if victim.can_save == Some(false) { "; a checkpoint takes longer than the notice" } else { "" };
    format!("{} on {}{devices}, priority {}{gang}: {lost}{late}", victim.owner, victim.node, victim.priority)
}

/// Thousandths as a decimal number without needless zeros.
fn seconds(ms: u64) -> String {
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// One line per reason, with the nodes, and the advice of each code once.
pub fn reason_lines(reasons: &[Reason]) -> String {
    let mut text = String::new();
    let mut advised = Vec::new();
    for reason in reasons {
        let numbers = numbers(reason.have, reason.want, reason.unit.as_deref());
        let (shown, rest) = reason.nodes.split_at(reason.nodes.len().min(NODES_SHOWN));
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let code = reason.code.name();
        let limit = reason.limit.as_ref().map_or(String::new(), |limit| format!(", limit is {limit}"));
        let group = reason.group.as_ref().map_or(String::new(), |group| format!(" for {group}"));
        let nodes = shown.join(", ");
        let _ = writeln!(text, "  {}: {code}{numbers}{group} on {nodes}{more}{limit}", reason.choice);
        if !advised.contains(&reason.code) {
            advised.push(reason.code);
            let _ = writeln!(text, "      {}", reason.advice);
        }
    }
    text
}

pub(crate) fn numbers(have: Option<u64>, want: Option<u64>, unit: Option<&str>) -> String {
    let Some(want) = want else { return String::new() };
    let have = have.map_or("unknown".to_owned(), |have| have.to_string());
    format!(" ({have} of {want}{}{})", if unit.is_some() { " " } else { "" }, unit.unwrap_or_default())
}
