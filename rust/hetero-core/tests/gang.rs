//! Steps over several nodes: all of them or none.

#![allow(missing_docs)]

mod sample;

use hetero_core::{Decision, Fleet, Placement, Question, place};
use proptest::prelude::*;
use sample::{any_nodes, choice, fleet, request};
use serde_json::{Value, json};

fn ask(fleet: &Fleet, count: u32, nodes: u32) -> Decision {
    let mut choice = choice(&[], count, 1000, false);
    choice["nodes"] = json!([nodes, nodes]);
    place(fleet, &request(&[choice]), &Question::default()).expect("the question is valid")
}

fn placed(fleet: &Fleet, count: u32, nodes: u32) -> Placement {
    match ask(fleet, count, nodes) {
        Decision::Placement(placement) => *placement,
        Decision::NoFit(no_fit) => panic!("{:?}", no_fit.reasons),
    }
}

fn node(name: &str) -> Value {
    json!({"name": name, "cpu_milli": 8000, "devices": [{"sku": "Big", "count": 4}]})
}

proptest! {
    #[test]
    fn a_commit_that_is_refused_leaves_nothing_taken(nodes in any_nodes(), parts in 2u32..=3, part in 1u32..=4, at in 0usize..3) {
        let mut fleet = fleet(&nodes);
        if let Decision::Placement(placement) = ask(&fleet, parts * part, parts) {
            prop_assert_eq!(placement.nodes.len(), parts as usize);
            let mut stale = (*placement).clone();
            let last = (at % parts as usize + 1) * part as usize - 1;
            stale.devices[last].free_milli ^= 1; // one device on one of its nodes changed since
            let (before, digest) = (fleet.to_json(), fleet.digest());
            let capacity = fleet.capacity().clone();
            prop_assert!(fleet.commit(&stale).is_err());
            prop_assert_eq!(fleet.capacity(), &capacity);
            prop_assert_eq!((fleet.to_json(), fleet.digest()), (before, digest));
            prop_assert!(fleet.commit(&placement).is_ok());
        }
    }

    #[test]
    fn every_node_gives_as_many_and_none_what_it_has_not(nodes in any_nodes(), parts in 2u32..=3, part in 1u32..=4) {
        if let Decision::Placement(placement) = ask(&fleet(&nodes), parts * part, parts) {
            for name in &placement.nodes {
                let ids: Vec<u32> = placement.devices.iter().filter(|g| g.node == *name).map(|g| g.id).collect();
                prop_assert_eq!(ids.len(), part as usize);
                prop_assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
            }
            prop_assert_eq!(placement.devices.len(), (parts * part) as usize);
            prop_assert!(placement.devices.iter().all(|grant| grant.free_milli == 1000));
        }
    }
}

#[test]
fn cpu_and_host_memory_are_what_each_node_gives() {
    let mut fleet = fleet(&[node("a"), node("b")]);
    let mut choice = choice(&[], 8, 1000, false);
    (choice["nodes"], choice["cpu_milli"]) = (json!([2, 2]), json!(6000));
    let request = request(&[choice]);
    let answer = place(&fleet, &request, &Question::default()).expect("valid");
    let Decision::Placement(placement) = answer else { panic!("it fits") };
    let hold = fleet.commit(&placement).expect("nothing changed since");
    assert_eq!(fleet.capacity().free_cpu_milli, [Some(2000), Some(2000)]);
    assert_eq!(fleet.capacity().free_milli, [0; 8]);
    fleet.release(hold).expect("it is held");
    assert_eq!(fleet.capacity().free_cpu_milli, [Some(8000), Some(8000)]);
}

#[test]
fn a_host_that_runs_out_on_one_node_leaves_the_other_alone() {
    let mut fleet = fleet(&[node("a"), node("b")]);
    let mut placement = placed(&fleet, 4, 2);
    placement.cpu_milli = 9000; // more than either has
    let before = fleet.to_json();
    assert!(fleet.commit(&placement).is_err());
    assert_eq!(fleet.to_json(), before);
    assert_eq!(fleet.capacity().free_milli, [1000; 8]);
}

#[test]
fn a_snapshot_has_a_line_for_each_node_and_reads_those_of_one() {
    let mut fleet = fleet(&[node("a"), node("b"), node("c")]);
    let two = fleet.commit(&placed(&fleet, 8, 2)).expect("free");
    let one = fleet.commit(&placed(&fleet, 1, 1)).expect("free");
    let snapshot: Value = serde_json::from_str(&fleet.to_json()).expect("JSON");
    let ids: Vec<u64> =
        snapshot["holds"].as_array().expect("a list").iter().filter_map(|h| h["hold"].as_u64()).collect();
    assert_eq!(ids, [two.0, two.0, one.0]);
    let of_one = json!({
        "hold": one.0, "cluster": "here", "node": "c", "devices": [0], "share_milli": 1000, "cpu_milli": 0, "memory_mib": 0
    });
    assert_eq!(snapshot["holds"][2], of_one);
    let mut copy = Fleet::from_json(fleet.to_json().as_bytes()).expect("own snapshot");
    copy.release(two).expect("it is held");
    assert_eq!(copy.capacity().free_milli, [1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 0, 1000, 1000, 1000]);
    assert!(copy.release(two).is_err());
    copy.release(one).expect("it is held");
}

#[test]
fn what_does_not_split_is_refused() {
    for (count, nodes, ranks) in
        [(9, json!([2, 2]), 1), (4, json!([0, 2]), 1), (4, json!([3, 2]), 1), (6, json!([1, 1]), 4)]
    {
        let mut choice = choice(&[], count, 1000, false);
        (choice["nodes"], choice["tensor_ranks"]) = (nodes, json!(ranks));
        let text = json!({"requirement": "", "choices": [choice]}).to_string();
        assert!(hetero_core::Request::from_json(text.as_bytes()).is_err(), "{choice}");
    }
}
