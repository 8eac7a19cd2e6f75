//! A genetic algorithm over the contents of nodes.
//!
//! A child takes every node from one of its two parents, without the steps that it has already taken elsewhere; nodes with
//! something idle are then filled anew, some of them emptied before. The worst of the population makes room for a better
//! child. It is what such an algorithm gives beside the search, no more.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::batch::field::Field;
use crate::batch::local::{Limits, fill, order};
use crate::batch::pool::Pool;
use crate::batch::room::Room;
use crate::generator::{Generator, Purpose};

/// Plans that live at once.
const POPULATION: usize = 16;
/// Children of a generation.
const CHILDREN: usize = 8;
/// Nodes that are filled together.
const TOGETHER: usize = 12;
/// Of so many nodes one is emptied in a child.
const EMPTIED: usize = 300;
/// Of so many nodes one is emptied in a plan that begins.
const EMPTIED_AT_FIRST: usize = 40;

#[derive(Clone)]
struct Plan {
    rooms: Vec<Room>,
    pool: Pool,
}

/// Breeds plans from one until a limit is met; returns how many were born, and leaves the best in `rooms`.
pub(crate) fn breed(field: &Field, rooms: &mut Vec<Room>, seed: u64, limits: Limits<'_>) -> u64 {
    let mut generator = Generator::new(seed, Purpose::Plan);
    let first = Plan { pool: field.pool(rooms), rooms: rooms.clone() };
    let mut population = vec![first.clone()];
    let mut born = 0;
    let is_over = |born: u64| born >= limits.steps || limits.control.is_over(limits.deadline);
    while population.len() < POPULATION && !is_over(born) {
        population.push(child(field, [&first, &first], EMPTIED_AT_FIRST, &mut generator.split()));
        born += 1;
    }
    while !is_over(born) {
        let couples: Vec<([usize; 2], Generator)> = (0..CHILDREN)
            .map(|_| {
                (
                    [fitter(field, &population, &mut generator), fitter(field, &population, &mut generator)],
                    generator.split(),
                )
            })
            .collect();
        let children: Vec<Plan> = couples
            .into_par_iter()
            .map(|([a, b], mut generator)| child(field, [&population[a], &population[b]], EMPTIED, &mut generator))
            .collect();
        for child in children {
            born += 1;
            let worst =
                (0..population.len()).min_by(|&a, &b| compare(field, &population[a], &population[b])).unwrap_or(0);
            if compare(field, &child, &population[worst]).is_gt() {
                population[worst] = child;
            }
        }
    }
    let best =
        population.into_iter().reduce(|best, other| if compare(field, &other, &best).is_gt() { other } else { best });
    *rooms = best.map_or_else(|| std::mem::take(rooms), |best| best.rooms);
    born
}

/// `Greater` where the first plan is better.
fn compare(field: &Field, plan: &Plan, other: &Plan) -> Ordering {
    let before: Vec<(usize, usize)> = other.pool.placed.iter().copied().enumerate().collect();
    plan.pool.compare(&field.shapes, &before)
}

/// The better of two drawn plans.
fn fitter(field: &Field, population: &[Plan], generator: &mut Generator) -> usize {
    let (a, b) = (generator.below(population.len()), generator.below(population.len()));
    if compare(field, &population[a], &population[b]).is_lt() { b } else { a }
}

fn child(field: &Field, parents: [&Plan; 2], emptied: usize, generator: &mut Generator) -> Plan {
    let mut pool = Pool { placed: vec![0; field.shapes.len()], ..parents[0].pool.clone() };
    let mut rooms: Vec<Room> = Vec::with_capacity(parents[0].rooms.len());
    for at in 0..parents[0].rooms.len() {
        let of = &parents[generator.below(2)].rooms[at];
        let mut room = Room::new(of.node, of.sort, &field.sorts[of.sort]);
        let kept = if generator.below(emptied) == 0 { &[][..] } else { &of.items[..] };
        for item in kept {
            let shape = item.shape as usize;
            if pool.waiting(shape) > 0 {
                room.take(shape, &field.shapes[shape], &field.sorts[of.sort].offers[shape], item.devices);
                pool.placed[shape] += 1;
            }
        }
        rooms.push(room);
    }
    let mut idle: Vec<usize> =
        (0..rooms.len()).filter(|&at| rooms[at].has_idle() || rooms[at].items.is_empty()).collect();
    generator.shuffle(&mut idle);
    let order = order(field, &pool, generator);
    for together in idle.chunks(TOGETHER) {
        fill(field, &mut rooms, together, &mut pool, &order, &mut Vec::new());
    }
    Plan { rooms, pool }
}
