//! Whose turn it is where several teams wait: of one priority that of the team which has the smallest part of what it may have.

use std::cmp::{Ordering, Reverse};
use std::collections::VecDeque;

use hetero_core::units::WHOLE_MILLI;
use hetero_core::{Fleet, Request};
use indexmap::IndexMap;

use crate::batch::ask::{Batch, value};

/// How much of something a team has, and how much it may have.
#[derive(Clone, Copy)]
struct Part {
    has: u128,
    most: u128,
}

impl Part {
    /// Which part is the greater. Of nothing, any is all of it.
    fn order(self, other: Self) -> Ordering {
        let of = |part: Self| if part.most == 0 { (1, 1) } else { (part.has, part.most) };
        let ((has, most), (other_has, other_most)) = (of(self), of(other));
        (has * other_most).cmp(&(other_has * most))
    }
}

/// A team, and what its steps get in turn.
struct Team {
    /// Of each of its quotas; of the devices of the fleet where it has none.
    parts: Vec<Part>,
    waiting: VecDeque<usize>,
}

/// The level of every task, each its own: priority, then turns, each of which goes to the team that has the smallest part
/// of what it may have, the greatest over its quotas; of equal ones to that whose oldest step is older. A team's own steps
/// go by age. What a step counts for a quota is what it takes on the kind of device where that is least.
pub(crate) fn levels(fleet: &Fleet, batch: &Batch) -> Vec<u32> {
    let mut teams: IndexMap<Option<&str>, Team> = IndexMap::new();
    let mut order: Vec<usize> = (0..batch.tasks.len()).collect();
    order.sort_by_key(|&task| (Reverse(batch.tasks[task].priority), Reverse(batch.tasks[task].age_s), task));
    let mut levels = vec![0; batch.tasks.len()];
    let mut turn = 0;
    for of_priority in order.chunk_by(|&a, &b| batch.tasks[a].priority == batch.tasks[b].priority) {
        for &task in of_priority {
            let name = team_of(batch, task);
            teams.entry(name).or_insert_with(|| Team::new(fleet, name)).waiting.push_back(task);
        }
        while let Some(task) = next(&mut teams, batch) {
            levels[task] = turn;
            turn += 1;
            let request = &batch.requests[batch.tasks[task].request];
            teams.get_mut(&team_of(batch, task)).expect("it just had its turn").gets(fleet, request);
        }
    }
    levels
}

fn team_of(batch: &Batch, task: usize) -> Option<&str> {
    batch.requests[batch.tasks[task].request].team.as_deref()
}

fn next(teams: &mut IndexMap<Option<&str>, Team>, batch: &Batch) -> Option<usize> {
    let waiting = teams.values_mut().filter(|team| !team.waiting.is_empty());
    let first = waiting.min_by(|a, b| {
        let oldest = |team: &Team| (Reverse(batch.tasks[team.waiting[0]].age_s), team.waiting[0]);
        a.share().order(b.share()).then_with(|| oldest(a).cmp(&oldest(b)))
    });
    first?.waiting.pop_front()
}

impl Team {
    fn new(fleet: &Fleet, name: Option<&str>) -> Self {
        let quotas = name.map_or(Vec::new(), |name| fleet.quotas().standing(fleet.inventory(), name));
        let part = |(used, most): (u64, u64)| Part { has: u128::from(used), most: u128::from(most) };
        let mut parts: Vec<Part> = quotas.into_iter().map(part).collect();
        if parts.is_empty() {
            let devices = fleet.inventory().devices.len() as u128;
            parts.push(Part { has: 0, most: devices * u128::from(WHOLE_MILLI) });
        }
        Self { parts, waiting: VecDeque::new() }
    }

    /// The greatest part of all.
    fn share(&self) -> Part {
        self.parts.iter().copied().max_by(|a, b| a.order(*b)).expect("a team has one at least")
    }

    fn gets(&mut self, fleet: &Fleet, request: &Request) {
        let quotas = request.team.as_deref().map(|team| fleet.quotas().least_counted(fleet.inventory(), team, request));
        match quotas.filter(|counted| !counted.is_empty()) {
            Some(counted) => self.parts.iter_mut().zip(counted).for_each(|(part, more)| part.has += u128::from(more)),
            None => self.parts[0].has += u128::from(value(fleet, request)),
        }
    }
}
