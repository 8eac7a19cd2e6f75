//! What always holds, on random small fleets.

#![allow(missing_docs)]

mod sample;

use hetero_core::fragmentation_report::report;
use hetero_core::score::Weights;
use hetero_core::{Decision, Fleet, Policy, Question, place};
use proptest::prelude::*;
use sample::{any_nodes, any_request, choice, document, fleet, profiles, request};
use serde_json::json;

fn ask(fleet: &Fleet, request: &hetero_core::Request) -> Decision {
    judged(fleet, request, Policy::default())
}

fn judged(fleet: &Fleet, request: &hetero_core::Request, policy: Policy) -> Decision {
    place(fleet, request, &Question { policy, ..Question::default() }).expect("the question is valid")
}

fn bytes(decision: &Decision) -> String {
    serde_json::to_string(decision).expect("finite numbers")
}

proptest! {
    #[test]
    fn the_order_of_nodes_changes_no_byte(nodes in any_nodes(), request in any_request(), seed in any::<u64>()) {
        let mut shuffled = nodes.clone();
        let turns = usize::try_from(seed % 7).expect("small") % shuffled.len();
        shuffled.rotate_left(turns);
        if seed % 2 == 0 {
            shuffled.reverse();
        }
        let (a, b) = (fleet(&nodes), fleet(&shuffled));
        for policy in Policy::ALL {
            prop_assert_eq!(bytes(&judged(&a, &request, policy)), bytes(&judged(&b, &request, policy)));
        }
        prop_assert_eq!(report(&a), report(&b));
    }

    #[test]
    fn release_undoes_commit(nodes in any_nodes(), request in any_request()) {
        let mut fleet = fleet(&nodes);
        let (before, capacity) = (bytes(&ask(&fleet, &request)), fleet.capacity().clone());
        if let Decision::Placement(placement) = ask(&fleet, &request) {
            let hold = fleet.commit(&placement).expect("nothing changed since");
            prop_assert_ne!(fleet.capacity(), &capacity);
            prop_assert!(fleet.commit(&placement).is_err());
            fleet.release(hold).expect("it is held");
            prop_assert!(fleet.release(hold).is_err());
        }
        prop_assert_eq!(fleet.capacity(), &capacity);
        prop_assert_eq!(bytes(&ask(&fleet, &request)), before);
    }

    #[test]
    fn steps_never_share_more_than_a_device(nodes in any_nodes(), requests in prop::collection::vec(any_request(), 1..20)) {
        let mut fleet = fleet(&nodes);
        for request in &requests {
            let free_before: u64 = fleet.capacity().free_milli.iter().map(|&free| u64::from(free)).sum();
            if let Decision::Placement(placement) = ask(&fleet, request) {
                let granted: u64 = placement.devices.iter().map(|grant| u64::from(grant.share_milli)).sum();
                fleet.commit(&placement).expect("nothing changed since");
                let free_after: u64 = fleet.capacity().free_milli.iter().map(|&free| u64::from(free)).sum();
                prop_assert_eq!(free_before - granted, free_after);
            }
        }
    }

    /// A clone remembers nothing.
    #[test]
    fn what_is_remembered_changes_no_answer(
        nodes in any_nodes(),
        requests in prop::collection::vec(any_request(), 1..5),
        turns in prop::collection::vec((0usize..5, prop::bool::weighted(0.3)), 1..60),
    ) {
        let (mut fleet, mut holds) = (fleet(&nodes), Vec::new());
        for (turn, is_release) in turns {
            let request = &requests[turn % requests.len()];
            for policy in Policy::ALL {
                prop_assert_eq!(bytes(&judged(&fleet, request, policy)), bytes(&judged(&fleet.clone(), request, policy)));
            }
            if is_release && !holds.is_empty() {
                fleet.release(holds.swap_remove(turn % holds.len())).expect("it is held");
            } else if let Decision::Placement(placement) = ask(&fleet, request) {
                holds.push(fleet.commit(&placement).expect("nothing changed since"));
            }
        }
    }

    /// Smaller choices tell larger ones how good a state can be; a clone has none to ask.
    #[test]
    fn what_smaller_choices_found_changes_no_answer(
        nodes in any_nodes(),
        (skus, share, memory) in (
            prop::sample::select(vec![vec![], vec!["Mid"], vec!["Big", "Small"]]),
            prop::sample::select(vec![[250u16, 250], [250, 500], [1000, 1000], [500, 1000]]),
            0usize..4,
        ),
        turns in prop::collection::vec((0usize..2, 0u64..4, 0u64..3, 0u32..=2), 1..40),
    ) {
        let nodes: Vec<_> = nodes.into_iter().enumerate().map(|(i, mut node)| {
            node["memory_mib"] = json!((i + memory) % 4 * 10_000);
            node
        }).collect();
        let mut fleet = fleet(&nodes);
        for (size, cores, gib, count) in turns {
            let mut asked = choice(&skus, if share[size] < 1000 { 1 } else { count }, share[size], false);
            asked["cpu_milli"] = json!(cores * 1700);
            asked["host_memory_mib"] = json!(gib * 3000);
            let request = request(&[asked]);
            for policy in Policy::ALL {
                prop_assert_eq!(bytes(&judged(&fleet, &request, policy)), bytes(&judged(&fleet.clone(), &request, policy)));
            }
            if let Decision::Placement(placement) = ask(&fleet, &request) {
                fleet.commit(&placement).expect("nothing changed since");
            }
        }
    }

    #[test]
    fn terms_stay_between_zero_and_one_and_add_up(nodes in any_nodes(), request in any_request()) {
        for policy in Policy::ALL {
            if let Decision::Placement(placement) = judged(&fleet(&nodes), &request, policy) {
                prop_assert!(placement.terms.iter().all(|term| (0.0..=1.0).contains(&term.value)));
                let points: f64 = placement.terms.iter().map(|term| term.points).sum();
                let penalties: f64 = placement.penalties.iter().map(|penalty| penalty.points).sum();
                let weights: f64 = placement.terms.iter().map(|term| term.weight).sum();
                prop_assert!(((points + penalties).clamp(0.0, 100.0) - placement.score).abs() < 1e-3);
                prop_assert!((weights - 100.0).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn a_snapshot_answers_as_the_fleet_does(nodes in any_nodes(), requests in prop::collection::vec(any_request(), 1..6)) {
        let mut fleet = fleet(&nodes);
        for request in &requests {
            if let Decision::Placement(placement) = ask(&fleet, request) {
                fleet.commit(&placement).expect("nothing changed since");
            }
        }
        let copy = Fleet::from_json(fleet.to_json().as_bytes()).expect("own snapshot");
        prop_assert_eq!(copy.to_json(), fleet.to_json());
        prop_assert_eq!(copy.digest(), fleet.digest());
        prop_assert_eq!(bytes(&ask(&copy, &requests[0])), bytes(&ask(&fleet, &requests[0])));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,200}") {
        if let Ok(document) = hetero_core::document::FleetDocument::from_json(text.as_bytes()) {
            let _ = Fleet::new(document, profiles());
        }
    }
}

#[test]
fn a_score_of_nothing_is_remembered_as_a_score() {
    let nodes = [json!({"name": "n", "power_budget_mw": 0, "devices": [{"sku": "Small", "count": 6}],
        "used": [{"owner": "x", "devices": [0, 1, 2, 3, 5], "share_milli": 250}]})];
    let (fleet, request) = (fleet(&nodes), request(&[choice(&["Small"], 1, 1000, false)]));
    let weights = Weights { power: 1000, ..Policy::Classic.weights() };
    let question = Question { policy: Policy::Classic, weights, ..Question::default() };
    let answers = [(); 2].map(|()| place(&fleet, &request, &question).expect("the question is valid"));
    assert!(matches!(&answers[0], Decision::Placement(placement) if placement.score <= 0.0), "{:?}", answers[0]);
    assert_eq!(bytes(&answers[0]), bytes(&answers[1]));
}

#[test]
fn rollback_restores_bytes() {
    use hetero_core::hold::Hold;
    use hetero_core::units::NodeIdx;

    let nodes = [json!({"name": "n", "cpu_milli": 8000, "devices": [{"sku": "Big", "count": 4}]})];
    let (_, mut capacity) = hetero_core::inventory::Inventory::build(&document(&nodes), &profiles()).expect("valid");
    let before = capacity.clone();
    let hold = |devices: Vec<usize>, share_milli, cpu_milli| Hold {
        share_memory_mib: None,
        bound: None,
        node: NodeIdx::new(0),
        devices,
        share_milli,
        cpu_milli,
        memory_mib: 0,
        team: None,
        pool: None,
    };
    let start = capacity.checkpoint();
    capacity.take(&hold(vec![0, 1], 1000, 4000)).expect("free");
    let middle = capacity.checkpoint();
    capacity.take(&hold(vec![2], 300, 4000)).expect("free");
    assert!(capacity.take(&hold(vec![2, 3, 0], 700, 0)).is_err(), "device 0 is taken: all or nothing");
    assert!(capacity.take(&hold(vec![3], 1000, 1)).is_err(), "no CPU is left: all or nothing");
    assert_eq!(capacity.free_milli, [0, 0, 700, 1000]);
    capacity.rollback(middle);
    assert_eq!(capacity.free_milli, [0, 0, 1000, 1000]);
    capacity.rollback(start);
    assert_eq!(capacity, before);
}
