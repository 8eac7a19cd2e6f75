//! Large neighbourhood search by the rules of the core itself, for what asks more than rooms know: islands, ranges,
//! alternatives, quotas, a least score.
//!
//! A few nodes are emptied and filled anew with what was there and what waits, each step where [`find_on`] puts it, and stay
//! so where that is not worse. It is hundreds of times slower than rooms are.

use hetero_core::spot::{Spot, find_on};
use hetero_core::units::NodeIdx;
use hetero_core::{Fleet, HoldId, Question, Result};

use crate::batch::ask::Batch;
use crate::batch::local::Limits;
use crate::batch::pool::compare_changes;
use crate::generator::{Generator, Purpose};

/// Nodes emptied at once.
const NODES_OF_STEP: std::ops::RangeInclusive<usize> = 1..=4;
/// Requests that wait and are tried in a step, beside the one that it is made for.
const TRIED: usize = 12;
/// The search ends after so many steps in a row that placed nothing more.
const STALE: u64 = 3000;

struct Repair<'a> {
    fleet: Fleet,
    batch: &'a Batch,
    levels: &'a [u32],
    values: &'a [u64],
    spots: &'a mut [Option<Spot>],
    holds: Vec<Option<HoldId>>,
    /// By node: what is placed there.
    tasks_of: Vec<Vec<usize>>,
    question: Question,
    generator: Generator,
}

/// Makes a plan better until a limit is met; returns how many steps were made.
pub(crate) fn repair(
    fleet: &Fleet,
    batch: &Batch,
    (levels, values): (&[u32], &[u64]),
    spots: &mut [Option<Spot>],
    seed: u64,
    limits: Limits<'_>,
) -> Result<u64> {
    let nodes = fleet.inventory().nodes.len();
    let holds = vec![None; spots.len()];
    let generator = Generator::new(seed, Purpose::Plan);
    let (fleet, question) = (fleet.clone(), Question::default());
    let mut work =
        Repair { fleet, batch, levels, values, holds, spots, tasks_of: vec![Vec::new(); nodes], question, generator };
    for task in 0..work.spots.len() {
        if let Some(spot) = work.spots[task].clone() {
            work.put(task, spot)?;
        }
    }
    let (mut made, mut last_gain) = (0, 0);
    while made < limits.steps && made - last_gain < STALE && nodes > 0 && !limits.control.is_over(limits.deadline) {
        let waiting: Vec<usize> = (0..work.spots.len()).filter(|&task| work.spots[task].is_none()).collect();
        if waiting.is_empty() {
            break;
        }
        made += 1;
        if work.step(&waiting)? {
            last_gain = made;
        }
    }
    Ok(made)
}

impl Repair<'_> {
    fn put(&mut self, task: usize, spot: Spot) -> Result<()> {
        self.holds[task] = Some(self.fleet.take_spot(&self.batch.requests[self.batch.tasks[task].request], &spot)?);
        spot.parts.iter().for_each(|(node, _)| self.tasks_of[node.at()].push(task));
        self.spots[task] = Some(spot);
        Ok(())
    }

    fn take_out(&mut self, task: usize) -> Result<()> {
        if let Some((spot, hold)) = self.spots[task].take().zip(self.holds[task].take()) {
            self.fleet.release(hold)?;
            spot.parts.iter().for_each(|(node, _)| self.tasks_of[node.at()].retain(|&other| other != task));
        }
        Ok(())
    }

    /// Whether more is placed afterwards.
    fn step(&mut self, waiting: &[usize]) -> Result<bool> {
        let nodes = self.choose();
        let mut here: Vec<usize> = nodes.iter().flat_map(|node| &self.tasks_of[node.at()]).copied().collect();
        here.sort_unstable(); // a step over several nodes stands on each
        here.dedup();
        let was: Vec<(usize, Spot)> =
            here.into_iter().filter_map(|task| self.spots[task].clone().map(|spot| (task, spot))).collect();
        let mut candidates: Vec<usize> = was.iter().map(|(task, _)| *task).collect();
        for _ in 0..=TRIED {
            let drawn = waiting[self.generator.below(waiting.len())];
            let same = |&&task: &&usize| self.batch.tasks[task].request == self.batch.tasks[drawn].request;
            // Of those that ask the same the one that goes first.
            let first = waiting.iter().filter(same).min_by_key(|&&task| (self.levels[task], task)).copied();
            candidates.extend(first.filter(|task| !candidates.contains(task)));
        }
        let noise: Vec<usize> = candidates.iter().map(|_| 100 + self.generator.below(61)).collect();
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by_key(|&at| {
            let task = candidates[at];
            let value = self.values[self.batch.tasks[task].request].saturating_mul(noise[at] as u64);
            (self.levels[task], std::cmp::Reverse(value), task)
        });
        for (task, _) in &was {
            self.take_out(*task)?;
        }
        for at in order {
            let task = candidates[at];
            let request = &self.batch.requests[self.batch.tasks[task].request];
            if let Some(spot) = find_on(&self.fleet, request, &self.question, &nodes) {
                self.put(task, spot)?;
            }
        }
        let value = |task: usize| i64::try_from(self.values[self.batch.tasks[task].request]).unwrap_or(i64::MAX);
        let was_placed = |task: usize| was.iter().any(|(other, _)| *other == task);
        let change = |&task: &usize| match (was_placed(task), self.spots[task].is_some()) {
            (false, true) => Some((self.levels[task], value(task))),
            (true, false) => Some((self.levels[task], -value(task))),
            _ => None,
        };
        let order = compare_changes(candidates.iter().filter_map(change).collect());
        if order.is_lt() {
            for &task in &candidates {
                self.take_out(task)?;
            }
            for (task, spot) in was {
                self.put(task, spot)?;
            }
        }
        Ok(order.is_gt())
    }

    fn choose(&mut self) -> Vec<NodeIdx> {
        let all = self.tasks_of.len();
        let (least, most) = ((*NODES_OF_STEP.start()).min(all), (*NODES_OF_STEP.end()).min(all));
        let size = least + self.generator.below(most - least + 1);
        let mut chosen: Vec<NodeIdx> = (0..size).map(|_| NodeIdx::new(self.generator.below(all))).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }
}
