//! What would have to end so that a step of higher priority gets room: the least device-seconds that are lost.
//!
//! Nothing is preempted here: a step that has no place is told what its place would cost others. Quotas, and where the
//! steps of its team run, count as they are; of a range of counts the least is asked; of steps over several nodes or of
//! several groups, and of choices with a least score, nothing is said.

mod age;
mod bound;
mod least;
mod party;

use crate::decision::{Victim, Victims};
use crate::digest::Hasher;
use crate::filter::{self, Misfit};
use crate::fleet::Fleet;
use crate::gang::apart;
use crate::hold::Hold;
use crate::place::Question;
use crate::reason::refusal;
use crate::request::{Choice, Request};
use crate::units::NodeIdx;
use crate::work;

use bound::{Held, Opening};
use least::{Least, Limit, Table};
pub use party::Parties;
use party::{Cost, Party};

/// A node with what may end on it.
struct Site<'a> {
    node: NodeIdx,
    parties: Vec<&'a Party>,
    opening: Opening,
    /// Devices that must come free.
    missing: usize,
    /// No set that makes room costs less.
    bound: Cost,
}

/// The best so far.
struct Found<'a> {
    cost: Cost,
    index: usize,
    node: NodeIdx,
    parties: Vec<&'a Party>,
}

/// What is looked for, for one choice.
struct Search<'a, 'b> {
    fleet: &'a Fleet,
    trial: &'b mut Fleet,
    choice: &'b Choice,
    fit: &'b [Option<Misfit>],
}

/// The parties whose end costs least and makes room for a choice on one node; of equal cost those of the earlier choice,
/// then of the first node. `None` where none would, or none may end.
pub(crate) fn victims(fleet: &Fleet, request: &Request, question: &Question) -> Option<Victims> {
    let priority = request.priority?;
    let parties = fleet.inventory().parties();
    if !parties.is_any_below(priority) {
        return None;
    }
    let mut trial = fleet.trial();
    let mut best: Option<Found<'_>> = None;
    let mut unsure = Cost::BEYOND; // no set costs less of those that were not tried
    for index in 0..request.choices.len() {
        for choice in &asked(fleet, request, index, question) {
            let fit = &filter::kinds_of(fleet, request, index, choice);
            let mut search = Search { fleet, trial: &mut trial, choice, fit };
            let mut sites: Vec<Site<'_>> =
                parties.below(priority).filter_map(|(node, here)| search.site(node, here)).collect();
            sites.sort_by_key(|site| (site.bound, site.node));
            for site in sites {
                let limit = best.as_ref().map_or(Limit { cost: Cost::BEYOND, is_included: false }, |best| Limit {
                    cost: best.cost,
                    is_included: index == best.index && site.node < best.node,
                });
                if !limit.admits(site.bound) {
                    continue;
                }
                let (least, is_least) = search.least(&site, limit);
                if !is_least {
                    unsure = unsure.min(site.bound);
                }
                if let Some(Least { cost, chosen }) = least {
                    let parties = chosen.iter().map(|&at| site.parties[at]).collect();
                    best = Some(Found { cost, index, node: site.node, parties });
                }
            }
        }
    }
    best.map(|found| told(fleet, request, &found, found.cost <= unsure))
}

/// Adds to a digest what the answer to a step with a priority depends on besides.
pub(crate) fn digested(fleet: &Fleet, request: &Request, hasher: Hasher) -> Hasher {
    match (request.priority, fleet.inventory().parties().digest()) {
        (Some(priority), Some(parties)) => hasher.text("victims").number(priority.cast_unsigned()).bytes(&parties),
        _ => hasher,
    }
}

/// The choice as it is asked of one node; with every count where that depends on the kind.
fn asked(fleet: &Fleet, request: &Request, index: usize, question: &Question) -> Vec<Choice> {
    let choice = question.policy.judged(&request.choices[index]);
    let is_for_one = choice.nodes.is_none_or(|(least, _)| least == 1);
    if choice.min_score.is_some() || !is_for_one || choice.has_groups() {
        return Vec::new();
    }
    let choice = apart(fleet, request, &choice);
    match choice.units_milli {
        Some(_) => work::counts(fleet, &choice),
        None => choice.part(1).into_iter().collect(),
    }
}

impl<'a> Search<'a, '_> {
    /// What may end on a node; `None` where the choice is for other nodes, or too few devices could open.
    fn site(&self, node: NodeIdx, parties: Vec<&'a Party>) -> Option<Site<'a>> {
        let (inventory, choice) = (self.fleet.inventory(), self.choice);
        let this = self.fleet.node(node);
        if filter::elsewhere(this, choice).is_some() {
            return None;
        }
        let suits = |at: usize| self.fit[inventory.devices[at].kind.at()].is_none();
        let share = |at: usize| inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
        let capacity = self.fleet.capacity();
        let is_open = |at: usize| capacity.free_for(at, choice, share(at)) >= share(at);
        // Where only memory is short, something of the device must end all the same.
        let need_milli = |at: usize| u64::from(share(at).saturating_sub(capacity.free_milli[at]).max(1));
        let open = this.devices.clone().filter(|&at| suits(at) && is_open(at)).count();
        let missing = (choice.count as usize).saturating_sub(open);
        let mut held = Vec::new();
        for (place, party) in parties.iter().enumerate() {
            for hold in party.entries.iter().map(|entry| &entry.hold).filter(|hold| hold.node == node) {
                let closed = hold.devices.iter().filter(|&&at| suits(at) && !is_open(at));
                held.extend(closed.map(|&at| Held {
                    at,
                    place,
                    milli: u64::from(hold.share_milli),
                    need_milli: need_milli(at),
                }));
            }
        }
        let opening = Opening::of(&parties, held, missing)?;
        let cheapest = parties.iter().map(|party| party.cost).min()?;
        Some(Site { node, bound: opening.bound.max(cheapest), parties, opening, missing })
    }

    fn least(&mut self, site: &Site<'a>, limit: Limit) -> (Option<Least>, bool) {
        let (node, choice, fit) = (site.node, self.choice, self.fit);
        let parties = self.fleet.inventory().parties();
        let trial = &mut *self.trial;
        // Under a budget more that ends may be worse: a draw that was read, or unknown and so passed over, is then estimated.
        let is_monotone = !self.fleet.node(node).is_under_budget();
        Table::new(&site.parties, &site.opening, site.missing, is_monotone).least(limit, &mut |ending: &[&Party]| {
            let given = freed(parties, node, ending, trial);
            trial.with_given(node, &given, |trial| refusal(trial, node, choice, fit).is_none())
        })
    }
}

/// What comes free on a node when parties end.
fn freed(parties: &Parties, node: NodeIdx, ending: &[&Party], fleet: &Fleet) -> Vec<Hold> {
    let here = || ending.iter().flat_map(|party| &party.entries).map(|entry| &entry.hold).filter(|h| h.node == node);
    let mut given: Vec<Hold> = here().map(|hold| Hold { cpu_milli: 0, memory_mib: 0, ..hold.clone() }).collect();
    let sum = |of: fn(&Hold) -> u64| here().map(of).fold(0, u64::saturating_add);
    let (cpu_milli, memory_mib) = parties.host_freed(node, sum(|hold| hold.cpu_milli), sum(|hold| hold.memory_mib));
    if let Some(hold) = given.first_mut() {
        // What is unknown stays unknown, whatever ends.
        hold.cpu_milli = if fleet.node(node).cpu_milli.is_some() { cpu_milli } else { 0 };
        hold.memory_mib = if fleet.node(node).memory_mib.is_some() { memory_mib } else { 0 };
    }
    given
}

fn told(fleet: &Fleet, request: &Request, found: &Found<'_>, is_least: bool) -> Victims {
    let entries = found.parties.iter().flat_map(|party| &party.entries);
    let victims: Vec<Victim> = entries
        .map(|entry| Victim {
            owner: entry.owner.clone(),
            gang: entry.gang.clone(),
            cluster: fleet.node(entry.hold.node).cluster.clone(),
            node: fleet.node(entry.hold.node).name.clone(),
            devices: entry.ids.clone(),
            share_milli: entry.hold.share_milli,
            priority: entry.priority,
            counted_from: entry.counted_from,
            lost_device_ms: entry.lost_device_ms,
        })
        .collect();
    let lost: Option<Vec<u64>> = victims.iter().map(|victim| victim.lost_device_ms).collect();
    Victims {
        choice: request.choices[found.index].label.clone(),
        choice_index: found.index,
        cluster: fleet.node(found.node).cluster.clone(),
        node: fleet.node(found.node).name.clone(),
        lost_device_ms: lost.map(|lost| lost.into_iter().fold(0, u64::saturating_add)),
        is_least,
        victims,
    }
}
