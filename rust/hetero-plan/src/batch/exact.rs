//! A small batch as an integer programme for a solver elsewhere, and the plan that its solution is.

use hetero_core::spot::{Spot, is_admitted};
use hetero_core::units::NodeIdx;
use hetero_core::{Error, Fleet, Question, Request, Result};
use serde::Serialize;

use crate::batch::ask::{Batch, Settings, refuse, value};
use crate::batch::control::Control;
use crate::batch::plan::{Plan, report};
use crate::batch::search::Looked;

/// Ways to place all requests together at most.
const MOST_OFFERS: usize = 50_000;

/// One way to place a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// Place of the choice.
    pub choice_index: usize,
    /// The node, by its position.
    pub node: usize,
    /// Devices, by their positions in the columns.
    pub devices: Vec<usize>,
    /// Share of each, thousandths.
    pub share_milli: u16,
    /// CPU.
    pub cpu_milli: u64,
    /// Host memory.
    pub memory_mib: u64,
}

/// Every way to place every request, and what is free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Instance {
    /// By request: what one step counts.
    pub values: Vec<u64>,
    /// By task: its level; the lowest goes first.
    pub levels: Vec<u32>,
    /// By request.
    pub offers: Vec<Vec<Offer>>,
    /// By device.
    pub free_milli: Vec<u16>,
    /// By node; unknown is nothing.
    pub free_cpu_milli: Vec<u64>,
    /// By node; unknown is nothing.
    pub free_memory_mib: Vec<u64>,
}

/// The programme of a batch. Refused where rules tie steps to each other (several nodes, spread, quotas, a least score), for
/// ranges of counts, and where there are too many ways.
pub fn instance(fleet: &Fleet, batch: &Batch, settings: &Settings) -> Result<Instance> {
    batch.check()?;
    let capacity = fleet.capacity();
    let mut left = MOST_OFFERS;
    let offers = batch.requests.iter().map(|request| offers(fleet, request, &mut left)).collect::<Result<_>>()?;
    Ok(Instance {
        values: batch.requests.iter().map(|request| value(fleet, request)).collect(),
        levels: batch.levels(fleet, settings.objective),
        offers,
        free_milli: capacity.free_milli.clone(),
        free_cpu_milli: capacity.free_cpu_milli.iter().map(|cpu| cpu.unwrap_or(0)).collect(),
        free_memory_mib: capacity.free_memory_mib.iter().map(|mib| mib.unwrap_or(0)).collect(),
    })
}

fn offers(fleet: &Fleet, request: &Request, left: &mut usize) -> Result<Vec<Offer>> {
    let is_limited = |team: &String| fleet.quotas().is_limited(team);
    let is_tied = fleet.pools().is_any()
        || request.team.as_ref().is_some_and(is_limited)
        || request.choices.iter().any(|choice| {
            let is_score = choice.min_score.is_some() || choice.count_ceiling.is_some();
            choice.may_be_gang() || choice.has_groups() || choice.place.spread.is_some() || is_score
        });
    if is_tied {
        let rules = "several nodes, groups, spread, limits of a team, pools that share a cluster, a least score and ranges of counts are left to `search`";
        return Err(refuse(&format!("{}: exact plans know no such rule: {rules}", request.requirement)));
    }
    let (inventory, question) = (fleet.inventory(), Question::default());
    let mut found = Vec::new();
    for (choice_index, choice) in request.choices.iter().enumerate() {
        for node in (0..inventory.nodes.len()).map(NodeIdx::new) {
            for run in &fleet.node(node).kinds {
                let devices: Vec<usize> = run.devices.clone().collect();
                for chosen in subsets(&devices, choice.count as usize, left).ok_or_else(too_many)? {
                    let share = |&at: &usize| inventory.kinds[inventory.devices[at].kind.at()].share_for(choice);
                    let share_milli = chosen.first().map_or(0, share);
                    if is_admitted(fleet, request, &question, &Spot::on(choice_index, node, chosen.clone())) {
                        let (cpu_milli, memory_mib) = (choice.cpu_milli, choice.host_memory_mib);
                        let node = node.at();
                        found.push(Offer { choice_index, node, devices: chosen, share_milli, cpu_milli, memory_mib });
                    }
                }
                if choice.is_cpu_only() {
                    break; // one way a node
                }
            }
            let is_bare = fleet.node(node).kinds.is_empty() && choice.is_cpu_only();
            if is_bare && is_admitted(fleet, request, &question, &Spot::on(choice_index, node, Vec::new())) {
                let (cpu_milli, memory_mib) = (choice.cpu_milli, choice.host_memory_mib);
                found.push(Offer {
                    choice_index,
                    node: node.at(),
                    devices: Vec::new(),
                    share_milli: 0,
                    cpu_milli,
                    memory_mib,
                });
            }
        }
    }
    Ok(found)
}

fn too_many() -> Error {
    refuse("more than 50000 ways to place the steps; exact plans are for small batches, so use `search`")
}

/// All subsets of a size; `None` when there are more than are left.
fn subsets(of: &[usize], size: usize, left: &mut usize) -> Option<Vec<Vec<usize>>> {
    let Some((first, rest)) = of.split_first().filter(|_| size > 0) else {
        *left = left.checked_sub(1)?;
        return Some(if size == 0 { vec![Vec::new()] } else { Vec::new() });
    };
    let mut all = subsets(rest, size - 1, left)?;
    for subset in &mut all {
        subset.insert(0, *first);
    }
    if rest.len() >= size {
        all.extend(subsets(rest, size, left)?);
    }
    Some(all)
}

/// The plan that a solution is: by task the place of its offer, and what the solver proved that no plan exceeds, if
/// anything.
pub fn settled(
    fleet: &Fleet,
    batch: &Batch,
    settings: &Settings,
    (chosen, bound): (&[Option<usize>], Option<u64>),
    control: &Control<'_>,
) -> Result<Plan> {
    let instance = instance(fleet, batch, settings)?;
    let spot = |(task, at): (&crate::batch::ask::Task, &Option<usize>)| {
        let offer = at.and_then(|at| instance.offers[task.request].get(at))?;
        Some(Spot::on(offer.choice_index, NodeIdx::new(offer.node), offer.devices.clone()))
    };
    let spots = batch.tasks.iter().zip(chosen).map(spot).collect();
    let values: Vec<u64> = batch.requests.iter().map(|request| value(fleet, request)).collect();
    let looked = Looked::bounded(fleet, batch, &values);
    let proved = bound.filter(|bound| *bound < looked.bound);
    let looked =
        proved.map_or(looked, |bound| Looked { bound, bound_source: "integer programme", ..Looked::default() });
    report(fleet, batch, settings, spots, &looked, (control, std::time::Duration::ZERO))
}
