//! Rounds: who had to wait, or got less than alone, goes earlier in the next one; once that leads to nothing new, the order
//! is blurred by numbers that repeat.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hetero_core::{Decision, Fleet, Question, Result, place_uncut};

use crate::batch::value;
use crate::dag::ask::{DagSettings, Pipeline};
use crate::dag::board::Board;
use crate::dag::order::Order;
use crate::dag::report::DagPlan;
use crate::dag::schedule::{Ask, Schedule, Slot};
use crate::generator::{Generator, Purpose};
use crate::watch::Watch;

/// Rounds at most, and at least; between them as many as schedule so many steps.
const MOST_ROUNDS: usize = 128;
const LEAST_ROUNDS: usize = 4;
const STEPS_OF_ROUNDS: usize = 2000;

/// What rounds are compared by, less is better: the end of the last step, steps that wait, choices given up.
type Merit = (u64, usize, usize);

/// Plans a pipeline on a fleet, which stays as it is. The same question has the same answer.
pub fn place_dag(fleet: &Fleet, pipeline: &Pipeline, settings: DagSettings, watch: &Watch) -> Result<DagPlan> {
    let order = pipeline.order()?;
    let question = Question::default();
    let mut alone = Vec::new();
    for request in &pipeline.requests {
        watch.check()?;
        alone.push(place_uncut(fleet, request, &question)?);
    }
    let ticks = pipeline.ticks();
    let ask = Ask {
        pipeline,
        is_timed: pipeline.is_timed(),
        order: &order,
        ticks: &ticks,
        alone: &alone,
        near_points: settings.near_points,
        watch,
    };
    let values: Vec<u64> = pipeline.requests.iter().map(|request| value(fleet, request)).collect();
    let tails = order.tails(&ticks);
    let mut board = Board::new(fleet);
    let mut blame = vec![0; ticks.len()];
    let mut tried = BTreeSet::new();
    let mut best: Option<(Merit, Schedule<'_>)> = None;
    let rounds = (STEPS_OF_ROUNDS / ticks.len().max(1)).clamp(LEAST_ROUNDS, MOST_ROUNDS);
    let mut generator = Generator::new(0, Purpose::Plan);
    let mut is_drawn = false;
    for _ in 0..rounds {
        let most = blame.iter().copied().max().unwrap_or(0);
        let drawn = |&blame: &usize| blame + if is_drawn { generator.below(most + 2) } else { 0 };
        let urgency: Vec<usize> = blame.iter().map(drawn).collect();
        let sequence = sequence(&order, &urgency, |step| (Reverse(tails[step]), Reverse(values[step]), step));
        if !tried.insert(sequence.clone()) {
            is_drawn = true; // blame alone would go round from here on
            continue;
        }
        let schedule = Schedule::of(&ask, &mut board, &sequence)?;
        let losers = losers(&schedule.slots, &alone);
        let merit = merit(&schedule.slots);
        if best.as_ref().is_none_or(|(other, _)| merit < *other) {
            best = Some((merit, schedule));
        }
        if losers.is_empty() {
            break;
        }
        for step in losers {
            blame[step] += 1;
        }
    }
    let schedule = best.map(|(_, schedule)| schedule);
    let (slots, planned) = schedule.map_or((Vec::new(), order.clone()), |schedule| (schedule.slots, schedule.order));
    Ok(DagPlan::new(fleet, pipeline, &order, (slots.into_iter().flatten().collect(), &planned), alone))
}

/// The steps, each after those before it; whoever is to go early draws along what comes before it.
fn sequence<K: Ord>(order: &Order, urgency: &[usize], key: impl Fn(usize) -> K) -> Vec<usize> {
    let count = urgency.len();
    let of = |step: usize| {
        (0..count).filter(|&at| at == step || order.is_before(step, at)).map(|at| urgency[at]).max().unwrap_or(0)
    };
    let mut left: Vec<usize> = (0..count).collect();
    left.sort_by_cached_key(|&step| (Reverse(of(step)), key(step)));
    let mut ahead: Vec<usize> =
        (0..count).map(|step| (0..count).filter(|&at| order.is_before(at, step)).count()).collect();
    let mut sequence = Vec::with_capacity(count);
    while let Some(at) = left.iter().position(|&step| ahead[step] == 0) {
        let step = left.remove(at);
        (0..count).filter(|&later| order.is_before(step, later)).for_each(|later| ahead[later] -= 1);
        sequence.push(step);
    }
    sequence
}

/// Steps that wait, or go on a later choice than alone.
fn losers(slots: &[Option<Slot>], alone: &[Decision]) -> Vec<usize> {
    let is_loser = |(at, slot): (usize, &Option<Slot>)| {
        let slot = slot.as_ref()?;
        let has_less = match (&slot.placement, &alone[at]) {
            (Some(placement), Decision::Placement(best)) => placement.choice_index > best.choice_index,
            _ => false,
        };
        (has_less || !slot.waits_for.is_empty()).then_some(at)
    };
    slots.iter().enumerate().filter_map(is_loser).collect()
}

fn merit(slots: &[Option<Slot>]) -> Merit {
    let all = || slots.iter().flatten();
    let end = all().map(|slot| slot.end).max().unwrap_or(0);
    let waiting = all().filter(|slot| !slot.waits_for.is_empty()).count();
    let given_up = all().filter_map(|slot| Some(slot.placement.as_ref()?.choice_index)).sum();
    (end, waiting, given_up)
}
