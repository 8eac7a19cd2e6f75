//! Replays with time on small fleets: who waits how long by hand, and what always holds.

#![allow(missing_docs)]

use std::time::Duration;

use hetero_core::Fleet;
use hetero_plan::{Order, Policy, TaskTimes, TimedQuestion, TimedReport, TimedRun, Trace, Watch, simulate_timed};
use proptest::prelude::*;

mod sample;

use sample::{Task, any_fleet, any_tasks, fleet, node, trace};

/// A task, and when it comes, how long it runs, how urgent it is.
type Timed = (Task, (u64, u64, u8));

fn timed(tasks: &[Timed]) -> Trace {
    let asked: Vec<Task> = tasks.iter().map(|&(task, _)| task).collect();
    let times = tasks.iter().map(|&(_, (arrives_s, lasts_s, priority))| TaskTimes {
        arrives_s,
        lasts_s: Some(lasts_s),
        priority,
    });
    Trace { times: Some(times.collect()), ..trace(&asked) }
}

fn question(policies: &[Policy], orders: &[Order], patience_s: u64) -> TimedQuestion {
    let policies = policies.iter().map(|&policy| policy.into()).collect();
    TimedQuestion { policies, seeds: vec![42], orders: orders.to_vec(), squeeze_milli: 1000, patience_s, threads: 1 }
}

fn replay(fleet: &Fleet, trace: &Trace, question: &TimedQuestion) -> TimedReport {
    simulate_timed(fleet, trace, question, &Watch::default(), &|| Duration::ZERO).expect("valid")
}

fn only(fleet: &Fleet, tasks: &[Timed], order: Order, patience_s: u64) -> TimedRun {
    replay(fleet, &timed(tasks), &question(&[Policy::FirstFit], &[order], patience_s)).runs.remove(0)
}

const NEVER: u64 = 1_000_000;
const ONE: Task = (1, 1000, 1, None);
const PAIR: Task = (2, 1000, 1, None);

/// Longest waiting by size.
fn longest(run: &TimedRun, size: &str) -> f64 {
    run.waiting_s[size].max
}

#[test]
fn a_task_waits_until_the_one_before_ends() {
    let one = fleet(&[node("a", 64, "X", 1)]);
    for order in Order::ALL {
        let run = only(&one, &[(ONE, (0, 10, 0)), (ONE, (4, 10, 0)), (ONE, (30, 5, 0))], order, NEVER);
        let waiting = run.waiting_s["1"];
        // 0, then 6, then 0: by nearest rank the second of three is 0
        assert_eq!((waiting.tasks, waiting.p50, waiting.p99, waiting.max), (3, 0.0, 6.0, 6.0), "{order:?}");
        assert_eq!((run.started, run.never_started, run.retries), (3, 0, 1), "{order:?}");
        // two tasks of ten seconds in thirty
        assert!((run.allocated_ratio - 2.0 / 3.0).abs() < 1e-6, "{order:?}");
        assert_eq!((run.allocated_over_time[0], run.allocated_over_time[98]), (1.0, 0.0), "{order:?}");
    }
}

#[test]
fn fifo_waits_behind_the_first_and_backfill_passes_it() {
    // One of two devices is busy until 100. A pair comes at 1, a single of 5 seconds at 2.
    let two = fleet(&[node("a", 64, "X", 2)]);
    let tasks = [(ONE, (0, 100, 0)), (PAIR, (1, 10, 0)), (ONE, (2, 5, 0))];
    let fifo = only(&two, &tasks, Order::Fifo, NEVER);
    assert_eq!((longest(&fifo, "2"), longest(&fifo, "1")), (99.0, 108.0));
    let backfill = only(&two, &tasks, Order::Backfill, NEVER);
    assert_eq!((longest(&backfill, "2"), longest(&backfill, "1")), (99.0, 0.0));
}

#[test]
fn who_is_passed_for_long_gets_a_node_kept() {
    // Singles of ten seconds come every five and keep both devices busy until 400; the pair would wait for all of them.
    let two = fleet(&[node("a", 64, "X", 2)]);
    let mut tasks: Vec<Timed> = (0..80).map(|at| (ONE, (at * 5, 10, 0))).collect();
    tasks.push((PAIR, (7, 10, 0)));
    let unkept = only(&two, &tasks, Order::Backfill, NEVER);
    assert_eq!((longest(&unkept, "2"), unkept.kept), (398.0, 0));
    let kept = only(&two, &tasks, Order::Backfill, 20);
    // From 30 on nothing is given away: the single of 25 holds the other device until 35. The pair waited from 7 to 35.
    assert_eq!((longest(&kept, "2"), kept.kept), (28.0, 1));
    assert_eq!(kept.started, 81);
}

#[test]
fn the_urgent_go_first_and_fifo_does_not_care() {
    let one = fleet(&[node("a", 64, "X", 1)]);
    let tasks = [(ONE, (0, 10, 0)), (ONE, (1, 10, 0)), ((1, 1000, 2, None), (2, 10, 2))];
    let mut told = replay(&one, &timed(&tasks), &question(&[Policy::FirstFit], &Order::ALL, NEVER)).runs;
    let (backfill, fifo) = (told.remove(1), told.remove(0));
    // the urgent one waits 8 instead of 18, the other 19 instead of 9
    assert_eq!((longest(&fifo, "1"), longest(&backfill, "1")), (18.0, 19.0));
}

#[test]
fn who_fits_nowhere_is_refused_and_holds_nobody_up() {
    let one = fleet(&[node("a", 64, "X", 1)]);
    for order in Order::ALL {
        let run = only(&one, &[(PAIR, (0, 10, 0)), (ONE, (1, 10, 0))], order, 0);
        assert_eq!((run.started, run.never_started, longest(&run, "1")), (1, 1, 0.0), "{order:?}");
    }
}

#[test]
fn squeezed_tasks_come_closer_and_run_as_long() {
    let one = fleet(&[node("a", 64, "X", 1)]);
    let trace = timed(&[(ONE, (0, 10, 0)), (ONE, (20, 10, 0))]);
    let mut question = question(&[Policy::FirstFit], &[Order::Fifo], NEVER);
    question.squeeze_milli = 4000;
    let report = replay(&one, &trace, &question);
    assert_eq!((report.arrival_s, report.offered_ratio, longest(&report.runs[0], "1")), (5.0, 1.0, 5.0));
}

#[test]
fn what_has_no_times_is_refused_or_left_out() {
    let one = fleet(&[node("a", 64, "X", 1)]);
    let told = |trace: &Trace| {
        let question = question(&[Policy::FirstFit], &[Order::Fifo], 0);
        simulate_timed(&one, trace, &question, &Watch::default(), &|| Duration::ZERO)
    };
    let without = told(&trace(&[ONE])).expect_err("refused").to_string();
    assert!(without.contains("does not tell when tasks came"), "{without}");
    let mut some = timed(&[(ONE, (0, 10, 0)), (ONE, (1, 10, 0))]);
    some.times.as_mut().expect("given")[0].lasts_s = None;
    assert_eq!(told(&some).expect("one ran").without_duration, 1);
    some.times.as_mut().expect("given")[1].lasts_s = None;
    assert!(told(&some).expect_err("refused").to_string().contains("no task ran"));
}

fn any_timed() -> impl Strategy<Value = Vec<Timed>> {
    any_tasks().prop_flat_map(|tasks| {
        let times = prop::collection::vec((0u64..60, 0u64..40, 0u8..3), tasks.len() * 2);
        (Just(tasks), times).prop_map(|(tasks, times)| tasks.iter().copied().cycle().zip(times).collect())
    })
}

proptest! {
    #[test]
    fn whoever_can_run_runs_and_threads_change_nothing(
        nodes in any_fleet(), tasks in any_timed(), patience_s in prop::sample::select(vec![0, 5, 30, NEVER]),
        policy in prop::sample::select(Policy::ALL.to_vec())
    ) {
        let (fleet, trace) = (fleet(&nodes), timed(&tasks));
        let before = fleet.capacity().clone();
        let mut question = question(&[Policy::FirstFit, policy, Policy::Aware], &Order::ALL, patience_s);
        let report = replay(&fleet, &trace, &question);
        prop_assert_eq!(fleet.capacity(), &before);
        question.threads = 3;
        prop_assert_eq!(&report, &replay(&fleet, &trace, &question));
        prop_assert_eq!(report.runs.len(), 6);
        for run in &report.runs {
            prop_assert_eq!(run.started + run.never_started, tasks.len());
            // which tasks can run is a matter of the fleet and of no policy
            prop_assert_eq!(run.never_started, report.runs[0].never_started);
            prop_assert_eq!(run.waiting_s.values().map(|waiting| waiting.tasks).sum::<usize>(), run.started);
            prop_assert!(run.allocated_over_time.iter().all(|ratio| (0.0..=1.0).contains(ratio)));
            prop_assert!(run.allocated_ratio <= 1.0 && run.kept <= run.started);
            prop_assert!(run.order == "backfill" || run.kept == 0);
            for waiting in run.waiting_s.values() {
                prop_assert!(waiting.p50 <= waiting.p99 && waiting.p99 <= waiting.max);
            }
        }
    }

    #[test]
    fn where_there_is_enough_nobody_waits(
        tasks in any_timed(), policy in prop::sample::select(Policy::ALL.to_vec())
    ) {
        let large: Vec<_> = (0..tasks.len()).flat_map(|at| {
            [node(&format!("x{at}"), 16, "X", 4), node(&format!("y{at}"), 16, "Y", 4)]
        }).collect();
        let report = replay(&fleet(&large), &timed(&tasks), &question(&[policy], &Order::ALL, 0));
        for run in &report.runs {
            prop_assert!(run.waiting_s.values().all(|waiting| waiting.max == 0.0), "{:?}", run);
            prop_assert_eq!((run.retries, run.kept), (0, 0));
        }
    }
}
