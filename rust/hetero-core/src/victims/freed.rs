//! What comes free when parties end.

use std::collections::BTreeSet;

use crate::fleet::Fleet;
use crate::hold::Hold;
use crate::units::NodeIdx;
use crate::victims::party::Party;

/// What comes free on all their nodes.
pub(super) fn everywhere(fleet: &Fleet, ending: &[&Party]) -> Vec<Hold> {
    let entries = ending.iter().flat_map(|party| &party.entries);
    let nodes: BTreeSet<NodeIdx> = entries.map(|entry| entry.hold.node).collect();
    nodes.into_iter().flat_map(|node| on(fleet, node, ending)).collect()
}

/// What comes free on one node.
pub(super) fn on(fleet: &Fleet, node: NodeIdx, ending: &[&Party]) -> Vec<Hold> {
    let here = || ending.iter().flat_map(|party| &party.entries).map(|entry| &entry.hold).filter(|h| h.node == node);
    let mut given: Vec<Hold> = here().map(|hold| Hold { cpu_milli: 0, memory_mib: 0, ..hold.clone() }).collect();
    let sum = |of: fn(&Hold) -> u64| here().map(of).fold(0, u64::saturating_add);
    let (cpu_milli, memory_mib) = (sum(|hold| hold.cpu_milli), sum(|hold| hold.memory_mib));
    let (cpu_milli, memory_mib) = fleet.inventory().parties().host_freed(node, cpu_milli, memory_mib);
    if let Some(hold) = given.first_mut() {
        // What is unknown stays unknown, whatever ends.
        hold.cpu_milli = if fleet.node(node).cpu_milli.is_some() { cpu_milli } else { 0 };
        hold.memory_mib = if fleet.node(node).memory_mib.is_some() { memory_mib } else { 0 };
    }
    given
}
