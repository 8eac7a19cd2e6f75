//! Why a choice is refused, node by node, gathered for a person to read.

use std::borrow::Cow;

use indexmap::IndexMap;

use crate::codes::Code;
use crate::decision::Reason;
use crate::filter::{self, Misfit, View};
use crate::fleet::Fleet;
use crate::request::Choice;
use crate::units::NodeIdx;
use crate::{groups, power};

/// A misfit on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where.
    pub node: NodeIdx,
    /// Why.
    pub misfit: Misfit,
    /// Whether it holds on an empty fleet too.
    pub is_permanent: bool,
}

/// The verdict on the kinds for one node as it is now.
pub(crate) fn usable_kinds<'a>(
    fleet: &Fleet,
    node: NodeIdx,
    choice: &Choice,
    fit: &'a [Option<Misfit>],
) -> Cow<'a, [Option<Misfit>]> {
    power::on_node(fleet, node, choice, filter::on_node(fleet.inventory(), fleet.node(node), choice, fit))
}

/// Whether a node takes a choice now, and if not, why. Its place is not asked: nodes in one state may be apart.
pub fn refusal(fleet: &Fleet, node: NodeIdx, choice: &Choice, fit: &[Option<Misfit>]) -> Option<Refusal> {
    let (inventory, capacity, this) = (fleet.inventory(), fleet.capacity(), fleet.node(node));
    let fit = usable_kinds(fleet, node, choice, fit);
    let on_empty_fleet = filter::without_passing(&fit);
    if let Some(misfit) = filter::never(inventory, this, choice, &on_empty_fleet) {
        return Some(Refusal { node, misfit, is_permanent: true });
    }
    if let Some(misfit) = filter::passing(this, &fit) {
        return Some(Refusal { node, misfit, is_permanent: false });
    }
    let share = |at: usize| inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
    let view = View {
        free_milli: |at| capacity.free_for(at, choice, share(at)),
        cpu_milli: capacity.free_cpu_milli[node.at()],
        memory_mib: capacity.free_memory_mib[node.at()],
    };
    let mut misfit = filter::not_now(inventory, this, choice, &fit, &view)?;
    let has_share = |at: usize| fit[inventory.devices[at].kind.at()].is_none() && capacity.free_milli[at] >= share(at);
    if misfit.code == Code::CountShort && choice.is_share() && this.devices.clone().any(has_share) {
        misfit = Misfit::of(Code::MemoryNotFree); // a share is left, but no memory for it
    }
    Some(Refusal { node, misfit, is_permanent: false })
}

/// All refusals of a choice, in the order of the nodes; `low` are those of candidates that score too low.
pub fn refusals(fleet: &Fleet, choice: &Choice, fit: &[Option<Misfit>], low: &[Refusal]) -> Vec<Refusal> {
    let states = fleet.states();
    let mut by_state: Vec<Option<Refusal>> = vec![None; states.len()];
    for node in states.representatives() {
        by_state[states.index(node)] = refusal(fleet, node, choice, fit);
    }
    let nodes = (0..fleet.inventory().nodes.len()).map(NodeIdx::new);
    let mut all: Vec<Refusal> = nodes
        .filter_map(|node| {
            let here = by_state[states.index(node)].map(|refusal| Refusal { node, ..refusal });
            let elsewhere = filter::elsewhere(fleet.node(node), choice);
            match (here, elsewhere) {
                (Some(here), Some(misfit))
                    if here.is_permanent && (misfit.is_passing || here.misfit.code < misfit.code) =>
                {
                    Some(here)
                }
                (_, Some(misfit)) => Some(Refusal { node, misfit, is_permanent: !misfit.is_passing }),
                (Some(here), None) => Some(here),
                (None, None) => low.iter().find(|refusal| refusal.node == node).copied(),
            }
        })
        .collect();
    mark_fragmented(&mut all, choice);
    all
}

/// Too few devices on each node, but enough on all of them together, is another matter than too few.
fn mark_fragmented(refusals: &mut [Refusal], choice: &Choice) {
    let is_split = |r: &Refusal| !r.is_permanent && r.misfit.code == Code::CountShort && r.misfit.have > Some(0);
    let together: u64 = refusals.iter().filter(|r| is_split(r)).filter_map(|r| r.misfit.have).sum();
    if together >= u64::from(choice.count) {
        refusals.iter_mut().filter(|r| is_split(r)).for_each(|r| r.misfit.code = Code::Fragmented);
    }
}

/// Gathers refusals with equal numbers, nearest miss first, then by the first node.
pub fn gather(fleet: &Fleet, index: usize, choice: &Choice, refusals: &[Refusal]) -> Vec<Reason> {
    let mut groups: IndexMap<(Misfit, bool), Vec<String>> = IndexMap::new();
    for refusal in refusals {
        let name = fleet.node(refusal.node).label.clone();
        groups.entry((refusal.misfit, refusal.is_permanent)).or_default().push(name);
    }
    let mut reasons: Vec<Reason> = groups
        .into_iter()
        .map(|((misfit, is_permanent), nodes)| Reason {
            choice: choice.label.clone(),
            choice_index: index,
            code: misfit.code,
            nodes,
            have: misfit.have,
            want: misfit.want,
            unit: misfit.code.entry().unit.clone().or_else(|| limit_unit(fleet, &misfit)),
            group: misfit.group.and_then(|group| groups::label(choice, group)),
            limit: misfit.limit.map(|limit| limit_words(fleet, misfit.code, limit)),
            is_permanent,
            advice: misfit.code.entry().advice.clone(),
        })
        .collect();
    // Stable, so equal ones keep the order of their first nodes.
    reasons.sort_by_key(|r| (r.is_permanent, std::cmp::Reverse((r.code, r.have))));
    reasons
}

/// A limit that was met: of a team, or of a pool.
fn limit_words(fleet: &Fleet, code: Code, limit: u16) -> String {
    if code == Code::ReservedPool { fleet.pools().words(limit) } else { fleet.quotas().words(limit) }
}

fn limit_unit(fleet: &Fleet, misfit: &Misfit) -> Option<String> {
    fleet.quotas().unit(misfit.limit.filter(|_| misfit.code != Code::ReservedPool)?)
}
