//! Whole replays on small fleets: who wins by hand, and what always holds.

#![allow(missing_docs)]

use std::time::Duration;

use hetero_core::Fleet;
use hetero_plan::{Policy, Question, Report, Run, Trace, Watch, simulate};
use proptest::prelude::*;
use serde_json::{Value, json};

mod sample;

use sample::{Task, any_fleet, any_tasks, class, fleet, node, trace};

fn ask(policies: &[Policy], seeds: &[u64], arrival_milli: u32, threads: usize) -> Question {
    let policies = policies.iter().map(|&policy| policy.into()).collect();
    Question { policies, seeds: seeds.to_vec(), arrival_milli, against: None, threads }
}

/// A clock that stands still: what is measured is 0, so that reports can be compared.
fn replay(fleet: &Fleet, trace: &Trace, question: &Question) -> Report {
    simulate(fleet, trace, question, &Watch::default(), &|| Duration::ZERO).expect("valid")
}

fn only(fleet: &Fleet, tasks: &[Task], policy: Policy, arrival_milli: u32) -> Run {
    replay(fleet, &trace(tasks), &ask(&[policy], &[42], arrival_milli, 1)).runs.remove(0)
}

#[test]
fn halves_fill_all_devices_under_every_policy() {
    // Four halves on two devices always fit, two on each, whichever device the second one takes.
    let two = fleet(&[node("a", 64, "X", 2)]);
    for policy in Policy::ALL {
        let run = only(&two, &[(1, 500, 1, None)], policy, 1000);
        assert_eq!((run.decisions, run.failed, run.allocated_ratio["1.0"]), (4, 0, 1.0), "{policy:?}");
        assert_eq!(run.fragmentation_ratio, None, "nothing is free");
    }
}

#[test]
fn a_fifth_half_fails_and_allocation_stays() {
    let two = fleet(&[node("a", 64, "X", 2)]);
    let run = only(&two, &[(1, 500, 1, None)], Policy::Fgd, 1300);
    assert_eq!((run.decisions, run.failed), (6, 2)); // 2.6 devices are wanted, six halves reach them
    let levels: Vec<(&str, f64)> = run.allocated_ratio.iter().map(|(name, &ratio)| (name.as_str(), ratio)).collect();
    // 0.9 x 2 = 1.8 is reached by the fourth, as 1.0 is; 2.2 by the fifth
    assert_eq!(levels, [("0.9", 1.0), ("1.0", 1.0), ("1.1", 1.0), ("1.3", 1.0)]);
}

#[test]
fn tasks_go_where_their_model_is_and_cpu_suffices() {
    let nodes = [node("a", 64, "X", 1), node("b", 1, "Y", 1), node("c", 64, "Y", 1)];
    for policy in Policy::ALL {
        // asks 2 cores with a Y: only c will do, for one of the two that arrive (2 of 3 devices; 0.6 x 3 = 1.8)
        let run = only(&fleet(&nodes), &[(1, 1000, 2, Some("Y"))], policy, 600);
        assert_eq!((run.decisions, run.failed, run.allocated_ratio["0.6"]), (2, 1, 0.333_333), "{policy:?}");
        // the X is of another model, and b has too little CPU: all that is left is useless
        assert_eq!(run.fragmentation_ratio, Some(1.0), "{policy:?}");
    }
}

#[test]
fn packing_keeps_a_node_whole_and_spreading_does_not() {
    // Two nodes of two devices. Two single devices, then a pair: fits only if both singles went to one node.
    // With arrival 1.0 the three tasks arrive in some order; over many seeds packing always fits, worst-fit does not.
    let two = fleet(&[node("a", 64, "X", 2), node("b", 64, "X", 2)]);
    let tasks = trace(&[(1, 1000, 1, None), (1, 1000, 1, None), (2, 1000, 1, None)]);
    let seeds: Vec<u64> = (0..32).collect();
    let failed = |policy| -> usize {
        replay(&two, &tasks, &ask(&[policy], &seeds, 1000, 1)).runs.iter().map(|run| run.failed).sum()
    };
    for policy in Policy::ALL.into_iter().filter(|policy| !matches!(policy, Policy::Random | Policy::WorstFit)) {
        assert_eq!(failed(policy), 0, "{policy:?}");
    }
    // The pair comes last in a third of the orders, and then worst-fit has used both nodes.
    let spread = failed(Policy::WorstFit);
    assert!((4..=20).contains(&spread), "{spread}");
}

#[test]
fn fgd_leaves_whole_what_others_need() {
    // Halves ask one core, whole devices two. b has one core: its device is useless to whole ones, and halves go there by
    // FGD, so the whole one fits on a. Worst-fit puts the half on a, and the whole one fails wherever it comes second.
    let small = fleet(&[node("a", 64, "X", 1), node("b", 1, "Y", 1)]);
    let tasks = trace(&[(1, 500, 1, None), (1, 1000, 2, None)]);
    let seeds: Vec<u64> = (0..16).collect();
    let failed = |policy| -> Vec<usize> {
        let runs = replay(&small, &tasks, &ask(&[policy], &seeds, 750, 1)).runs;
        assert!(runs.iter().all(|run| run.decisions == 2)); // 1.5 of 2 devices
        runs.iter().map(|run| run.failed).collect()
    };
    assert_eq!(failed(Policy::Fgd), [0; 16]);
    let spread: usize = failed(Policy::WorstFit).iter().sum();
    assert!((2..=14).contains(&spread), "in about half of the orders: {spread}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let one = fleet(&[node("a", 64, "X", 1)]);
    let told = |fleet: &Fleet, arrival| {
        let question = ask(&[Policy::Fgd], &[42], arrival, 1);
        simulate(fleet, &trace(&[(1, 500, 1, None)]), &question, &Watch::default(), &|| Duration::ZERO)
            .expect_err("refused")
            .to_string()
    };
    assert!(told(&one, 0).starts_with("arrival: "));
    assert!(told(&one, 10_001).starts_with("arrival: "));
    assert!(told(&fleet(&[node("a", 64, "X", 0)]), 1300).contains("no healthy device"));
    let text = |classes: &[Value], tasks: &[usize]| {
        json!({"mix": {"source": "test", "classes": []}, "classes": classes, "tasks": tasks}).to_string()
    };
    let read = |text: String| Trace::from_json(text.as_bytes()).expect_err("refused").to_string();
    assert!(read(text(&[class(&(1, 500, 1, None))], &[1])).contains("a class that is not there"));
    assert!(read(text(&[class(&(0, 1000, 1, None))], &[0])).contains("no task asks for a device"));
    assert!(read(text(&[class(&(2, 500, 1, None))], &[0])).contains("a whole device where several are asked"));
}

#[test]
fn what_is_refused_is_counted_by_size() {
    // one device: of a half and a pair the pair never fits, and two halves do
    let run = only(&fleet(&[node("a", 64, "X", 1)]), &[(1, 500, 1, None), (2, 1000, 1, None)], Policy::Fgd, 2500);
    let by_size: Vec<(&str, usize)> =
        run.failed_by_size.iter().map(|(size, &failed)| (size.as_str(), failed)).collect();
    assert_eq!(run.failed_by_size.values().sum::<usize>(), run.failed);
    assert!(matches!(by_size[..], [("1", 0), ("2", 1..)]), "{by_size:?}");
}

#[test]
fn policies_are_compared_seed_by_seed() {
    let two = fleet(&[node("a", 64, "X", 2), node("b", 64, "X", 2)]);
    let tasks = trace(&[(1, 1000, 1, None), (1, 1000, 1, None), (2, 1000, 1, None)]);
    let mut question = ask(&[Policy::WorstFit, Policy::Fgd], &(0..8).collect::<Vec<_>>(), 1000, 1);
    question.against = Some("fgd".to_owned());
    let report = replay(&two, &tasks, &question);
    let [difference] = &report.differences[..] else { panic!("one beside the baseline") };
    assert_eq!((difference.policy.as_str(), difference.seeds), ("worst-fit", 8));
    let means = report.runs.chunks(8).map(|runs| runs.iter().map(|run| run.allocated_ratio["1.0"]).sum::<f64>() / 8.0);
    let means: Vec<f64> = means.collect();
    let found = difference.allocated_ratio["1.0"];
    assert!((found.mean - (means[0] - means[1])).abs() < 1e-5, "{found:?} {means:?}");
    assert!(found.low.expect("eight") < found.mean && found.mean < found.high.expect("eight"));
    question.against = Some("best-fit".to_owned());
    let refused = simulate(&two, &tasks, &question, &Watch::default(), &|| Duration::ZERO).expect_err("not there");
    assert!(refused.to_string().contains("name one of worst-fit, fgd"), "{refused}");
}

#[test]
fn a_stopped_replay_ends_at_once() {
    let watch = Watch::default();
    watch.stop();
    let (fleet, trace) = (fleet(&[node("a", 64, "X", 2)]), trace(&[(1, 500, 1, None)]));
    let stopped = simulate(&fleet, &trace, &ask(&[Policy::Fgd], &[42], 1300, 1), &watch, &|| Duration::ZERO);
    assert_eq!(stopped, Err(hetero_core::Error::Interrupted));
}

#[test]
fn progress_ends_with_all_decisions() {
    let watch = Watch::default();
    let (fleet, trace) = (fleet(&[node("a", 64, "X", 2)]), trace(&[(1, 500, 1, None)]));
    let question = ask(&[Policy::Fgd, Policy::Aware], &[1, 2, 3], 1300, 2);
    let report = simulate(&fleet, &trace, &question, &watch, &|| Duration::ZERO).expect("valid");
    let decisions = report.runs.iter().map(|run| run.decisions as u64).sum();
    assert_eq!(watch.progress(), (decisions, decisions));
}

proptest! {
    #[test]
    fn runs_add_up_and_threads_change_nothing(nodes in any_fleet(), tasks in any_tasks(), seed in any::<u64>()) {
        let (fleet, trace) = (fleet(&nodes), trace(&tasks));
        let before = fleet.capacity().clone();
        let seeds = [seed, seed.wrapping_add(1)];
        let report = replay(&fleet, &trace, &ask(&Policy::ALL, &seeds, 1300, 1));
        prop_assert_eq!(fleet.capacity(), &before);
        prop_assert_eq!(&report, &replay(&fleet, &trace, &ask(&Policy::ALL, &seeds, 1300, 3)));
        prop_assert_eq!(report.runs.len(), 18);
        for run in &report.runs {
            let ratios: Vec<f64> = run.allocated_ratio.values().copied().collect();
            prop_assert!(ratios.is_sorted() && ratios.iter().all(|ratio| (0.0..=1.0).contains(ratio)), "{:?}", run);
            let curve = &run.allocated_over_arrival;
            prop_assert!(curve.len() == 100 && curve.is_sorted(), "{:?}", run);
            // the last level is reached before the last task comes, or by it
            prop_assert!(curve.last() >= ratios.last() && curve[99] <= 1.0, "{:?}", run);
            prop_assert!(run.failed <= run.decisions);
            prop_assert_eq!(run.failed_by_size.values().sum::<usize>(), run.failed);
            prop_assert!(run.fragmentation_ratio.is_none_or(|ratio| (0.0..=1.0).contains(&ratio)), "{:?}", run);
            // what arrives is the same for every policy
            let same_seed = report.runs.iter().filter(|other| other.seed == run.seed);
            prop_assert!(same_seed.clone().all(|other| other.decisions == run.decisions));
        }
    }
}
