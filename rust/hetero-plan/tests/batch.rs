//! Plans on small fleets: an independent checker, what always holds, and what is known by hand.

#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::time::Duration;

use hetero_core::document::FleetDocument;
use hetero_core::profile::Profiles;
use hetero_core::request::{Choice, Link, Name};
use hetero_core::{Decision, Fleet, Request};
use hetero_plan::Watch;
use hetero_plan::batch::{Batch, Control, Objective, Plan, Settings, Solver, Task, place_all};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A node: cores, model, devices, devices of an island (0 for none).
type Host = (u64, &'static str, usize, usize);
/// A step: devices, share of each, cores, permitted model, whether linked, priority, age.
type Step = (u32, u16, u64, Option<&'static str>, bool, i64, u64);

fn fleet(hosts: &[Host]) -> Fleet {
    let node = |(at, &(cores, model, count, island)): (usize, &Host)| {
        let mut node = json!({"name": format!("n{at:02}"), "cpu_milli": cores * 1000, "memory_mib": cores * 4096});
        if count > 0 {
            node["devices"] = json!([{"sku": "unknown", "class": "gpu", "model": model, "count": count}]);
            if island > 0 {
                let all: Vec<usize> = (0..count).collect();
                node["devices"][0]["islands"] = json!(all.chunks(island).collect::<Vec<_>>());
            }
        }
        node
    };
    let nodes: Vec<Value> = hosts.iter().enumerate().map(node).collect();
    let document = json!({
        "apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "here", "nodes": nodes}]
    });
    let document = FleetDocument::from_json(document.to_string().as_bytes()).expect("valid");
    let profiles = json!({"digest": "test", "resource_keys": {}, "entries": []}).to_string();
    Fleet::new(document, Profiles::from_json(profiles.as_bytes()).expect("valid")).expect("valid")
}

fn choice(&(count, share_milli, cores, model, linked, ..): &Step) -> Choice {
    let name = |model: &str| Name {
        skus: Vec::new(),
        models: vec![model.to_owned()],
        is_any_model: false,
        vendor: None,
        partition: None,
    };
    Choice {
        label: "step".to_owned(),
        names: model.map(name).into_iter().collect(),
        count,
        share_milli,
        link: (linked && count > 1).then_some(Link::Fabric),
        cpu_milli: cores * 1000,
        host_memory_mib: cores * 1024,
        ..Choice::default()
    }
}

fn batch(steps: &[Step]) -> Batch {
    let request = |step: &Step| Request {
        requirement: format!("{step:?}"),
        team: None,
        priority: None,
        checkpoint: None,
        choices: vec![choice(step)],
    };
    let task = |(request, step): (usize, &Step)| Task { request, priority: step.5, age_s: step.6 };
    Batch { requests: steps.iter().map(request).collect(), tasks: steps.iter().enumerate().map(task).collect() }
}

/// A clock that stands still, so that only steps end a search.
fn plan(fleet: &Fleet, batch: &Batch, settings: &Settings) -> Plan {
    let watch = Watch::default();
    place_all(fleet, batch, settings, &Control { now: &|| Duration::ZERO, watch: &watch }).expect("valid")
}

fn settings(solver: Solver, objective: Objective) -> Settings {
    Settings { solver, objective, steps: Some(60), seed: 7, threads: 2, ..Settings::default() }
}

/// Checks a plan by sums of its own over what hosts have; nothing of the solver's or the core's bookkeeping is used. Says
/// which steps are placed.
fn checked(hosts: &[Host], steps: &[Step], plan: &Plan, fleet: &Fleet) -> Vec<bool> {
    let mut cores = vec![0; hosts.len()];
    let mut memory = vec![0; hosts.len()];
    let mut shares: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for (step, spot) in steps.iter().zip(&plan.spots) {
        let Some(spot) = spot else { continue };
        let [(node, devices)] = spot.parts.as_slice() else { panic!("one node each") };
        let (host, first) = (node.at(), fleet.node(*node).devices.start);
        assert_eq!(fleet.node(*node).name, format!("n{host:02}"));
        let (all_cores, model, count, island) = hosts[host];
        let devices: Vec<usize> = devices.iter().map(|at| at - first).collect();
        assert_eq!(devices.len(), step.0 as usize, "as many devices as asked");
        assert!(devices.windows(2).all(|pair| pair[0] < pair[1]) && devices.iter().all(|&device| device < count));
        assert!(step.0 == 0 || step.3.is_none_or(|asked| asked == model), "the model that is asked");
        if step.4 && step.0 > 1 {
            assert!(island > 0 && devices.iter().all(|device| device / island == devices[0] / island), "one island");
        }
        cores[host] += step.2;
        memory[host] += step.2 * 1024;
        assert!(cores[host] <= all_cores && memory[host] <= all_cores * 4096, "CPU and memory of n{host:02}");
        for device in devices {
            let share = shares.entry((host, device)).or_default();
            *share += u32::from(step.1);
            assert!(*share <= 1000, "device {device} of n{host:02}");
        }
    }
    plan.spots.iter().map(Option::is_some).collect()
}

fn worth(step: &Step) -> u64 {
    if step.0 == 0 { step.2.max(1) } else { u64::from(step.0) * u64::from(step.1) }
}

/// What is placed, by level: first what goes first.
fn by_level(steps: &[Step], placed: &[bool], objective: Objective) -> Vec<u64> {
    let mut levels: BTreeMap<(i64, i128), u64> = BTreeMap::new();
    for (step, placed) in steps.iter().zip(placed) {
        let key = if objective == Objective::Order { (-step.5, -i128::from(step.6)) } else { (0, 0) };
        *levels.entry(key).or_default() += if *placed { worth(step) } else { 0 };
    }
    levels.into_values().collect()
}

fn hosts() -> impl Strategy<Value = Vec<Host>> {
    let models = prop_oneof![Just("X"), Just("Y")];
    let host = (1..16u64, models, 0..5usize, 0..3usize).prop_map(|(cores, model, count, island)| {
        let island = if island > 0 && count > 0 && count % (island * 2) == 0 { island * 2 } else { 0 };
        (cores, model, count, island)
    });
    prop::collection::vec(host, 1..6)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let model = prop_oneof![3 => Just(None), 1 => Just(Some("X")), 1 => Just(Some("Y"))];
    let share = prop_oneof![Just(1000u16), Just(500), Just(300), Just(333)];
    let step = (0..4u32, share, 0..6u64, model, prop::bool::weighted(0.2), 0..3i64, 0..4u64);
    let whole = |(count, share, cores, model, linked, priority, age): Step| {
        (count, if count == 1 { share } else { 1000 }, cores, model, linked, priority, age)
    };
    prop::collection::vec(step.prop_map(whole), 1..24)
}

/// Few by default: each case makes several plans.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn plans_keep_every_rule_and_none_is_worse_than_greedy(hosts in hosts(), steps in steps()) {
        let (fleet, batch) = (fleet(&hosts), batch(&steps));
        for objective in [Objective::Order, Objective::Allocation] {
            let mut greedy: Option<Vec<u64>> = None;
            for solver in [Solver::Greedy, Solver::Search, Solver::Genetic] {
                let plan = plan(&fleet, &batch, &settings(solver, objective));
                let placed = checked(&hosts, &steps, &plan, &fleet);
                let value: u64 = steps.iter().zip(&placed).filter(|(_, placed)| **placed).map(|(step, _)| worth(step)).sum();
                prop_assert_eq!((plan.value, plan.placed), (value, placed.iter().filter(|placed| **placed).count()));
                prop_assert!(plan.value <= plan.bound && plan.bound <= plan.asked, "{} of {}", plan.value, plan.bound);
                prop_assert!(plan.allocated_ratio <= plan.allocated_bound_ratio.or(Some(1.0)));
                let levels = by_level(&steps, &placed, objective);
                prop_assert!(greedy.as_ref().is_none_or(|greedy| levels >= *greedy), "{solver:?}: {levels:?} {greedy:?}");
                greedy.get_or_insert(levels);
            }
        }
    }

    #[test]
    fn a_plan_repeats_whatever_the_threads(hosts in hosts(), steps in steps()) {
        let (fleet, batch) = (fleet(&hosts), batch(&steps));
        for solver in [Solver::Search, Solver::Genetic] {
            let of = |threads| plan(&fleet, &batch, &Settings { threads, ..settings(solver, Objective::Allocation) }).spots;
            prop_assert_eq!(of(1), of(3));
        }
    }

    #[test]
    fn placements_can_be_committed_and_those_that_wait_fit_nowhere(hosts in hosts(), steps in steps()) {
        let (mut fleet, batch) = (fleet(&hosts), batch(&steps));
        let plan = plan(&fleet, &batch, &settings(Solver::Search, Objective::Order));
        let decisions = plan.decisions(&fleet, &batch).expect("valid");
        for (decision, spot) in decisions.iter().zip(&plan.spots) {
            prop_assert_eq!(spot.is_some(), matches!(decision, Decision::Placement(_)));
            if let Decision::Placement(placement) = decision {
                fleet.commit(placement).expect("nothing changed since");
            }
        }
        for (task, _) in batch.tasks.iter().zip(&plan.spots).filter(|(_, spot)| spot.is_none()) {
            let again = hetero_core::place(&fleet, &batch.requests[task.request], &hetero_core::Question::default());
            prop_assert!(matches!(again, Ok(Decision::NoFit(_))));
        }
    }
}

const ANY: Step = (1, 1000, 0, None, false, 0, 0);

fn step(count: u32, share_milli: u16, priority: i64, age_s: u64) -> Step {
    (count, share_milli, 0, None, false, priority, age_s)
}

#[test]
fn the_older_goes_first_whatever_it_takes() {
    let one = fleet(&[(8, "X", 2, 0)]);
    let (large, small) = (step(2, 1000, 0, 5), step(1, 500, 0, 10));
    let plan_for = |objective| plan(&one, &batch(&[large, small]), &settings(Solver::Search, objective));
    let placed = |plan: &Plan| plan.spots.iter().map(Option::is_some).collect::<Vec<_>>();
    assert_eq!(placed(&plan_for(Objective::Order)), [false, true], "the half is older");
    assert_eq!(placed(&plan_for(Objective::Allocation)), [true, false], "two devices are more than a half");
}

#[test]
fn priority_goes_before_age() {
    let one = fleet(&[(8, "X", 1, 0)]);
    let steps = [step(1, 1000, 0, 100), step(1, 1000, 1, 0)];
    let plan = plan(&one, &batch(&steps), &settings(Solver::Greedy, Objective::Order));
    assert_eq!(plan.spots.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn the_search_mends_what_one_after_the_other_cannot() {
    // Best first: 500, then 400, then 3 x 300 and 2 x 200 fill two devices in one way only: 500+300+200 and 400+300+300 leave
    // 0; largest first puts 500+400 on one device.
    let one = fleet(&[(64, "X", 2, 0)]);
    let part = |share_milli| step(1, share_milli, 0, 0);
    let steps: Vec<Step> = [500, 400, 300, 300, 300, 200].map(part).to_vec();
    let plan_of = |solver| plan(&one, &batch(&steps), &settings(solver, Objective::Allocation)).value;
    assert_eq!(plan_of(Solver::Search), 2000);
    assert!(plan_of(Solver::Greedy) <= 2000);
}

#[test]
fn an_interrupt_gives_what_there_is() {
    let watch = Watch::default();
    watch.stop();
    let control = Control { now: &|| Duration::ZERO, watch: &watch };
    let one = fleet(&[(8, "X", 1, 0)]);
    let plan = place_all(&one, &batch(&[ANY]), &settings(Solver::Search, Objective::Order), &control).expect("a plan");
    assert_eq!(plan.placed, 0);
}
