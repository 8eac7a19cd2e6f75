//! What a reservation keeps of a placement, by names: another process takes the same by it, in whatever order it hears of it.

#![allow(missing_docs)]

mod sample;

use std::collections::BTreeMap;

use hetero_core::{Decision, Fleet, Placement, Question, Request, place};
use proptest::prelude::*;
use sample::{any_nodes, any_request, choice, fleet, request};
use serde_json::json;

fn ask(fleet: &Fleet, request: &Request) -> Option<Placement> {
    match place(fleet, request, &Question::default()).expect("the question is valid") {
        Decision::Placement(placement) => Some(*placement),
        Decision::NoFit(_) => None,
    }
}

/// Two devices with cores and memory.
fn two() -> Fleet {
    fleet(&[json!({"name": "a", "cpu_milli": 8000, "memory_mib": 4096, "devices": [{"sku": "Big", "count": 2}]})])
}

fn placed(fleet: &Fleet, count: u32, share_milli: u16) -> Placement {
    ask(fleet, &request(&[choice(&["Big"], count, share_milli, false)])).expect("there is room")
}

#[test]
fn it_names_what_is_held_and_counts_each_thing_once() {
    let holding = two().holding(&placed(&two(), 2, 1000)).expect("nothing changed since");
    assert_eq!(holding.holds.len(), 1);
    assert_eq!((holding.holds[0].node.as_str(), holding.holds[0].devices.as_slice()), ("a", [0, 1].as_slice()));
    let takes: Vec<_> = holding.takes.iter().map(|take| (take.item.as_str(), take.amount, take.most)).collect();
    assert_eq!(takes, [("0", 1000, 1000), ("1", 1000, 1000)]);
}

#[test]
fn of_a_share_the_memory_counts_too() {
    let holding = two().holding(&placed(&two(), 1, 250)).expect("nothing changed since");
    let [device, memory] = holding.takes.as_slice() else { panic!("{:?}", holding.takes) };
    assert_eq!((device.amount, device.most), (250, 1000));
    assert_eq!(memory.amount * 4, memory.most);
}

#[test]
fn what_is_taken_is_not_taken_again() {
    let (mut fleet, before) = (two(), two());
    let holds = fleet.holding(&placed(&fleet, 1, 500)).expect("nothing changed since").holds;
    let (first, second) = (fleet.occupy(&holds).expect("it is there"), fleet.occupy(&holds).expect("it is there"));
    let full = fleet.capacity().clone();
    let third = fleet.occupy(&holds).expect("nothing is left, and nothing is taken");
    assert_eq!(fleet.capacity(), &full);
    for hold in [third, first, second] {
        fleet.release(hold).expect("it is held");
    }
    assert_eq!(fleet.capacity(), before.capacity());
}

#[test]
fn what_this_fleet_does_not_know_is_not_taken() {
    let mut fleet = two();
    let mut holds = fleet.holding(&placed(&fleet, 2, 1000)).expect("nothing changed since").holds;
    holds[0].devices = vec![1, 7];
    fleet.occupy(&holds).expect("the one that is there");
    assert_eq!(fleet.capacity().free_milli, [1000, 0]);
    holds[0].node = "elsewhere".to_owned();
    fleet.occupy(&holds).expect("nothing of it is there");
    assert_eq!(fleet.capacity().free_milli, [1000, 0]);
}

proptest! {
    #[test]
    fn any_order_of_occupying_is_as_committing(
        nodes in any_nodes(),
        requests in prop::collection::vec(any_request(), 1..12),
        order in any::<prop::sample::Index>(),
        is_turned in any::<bool>(),
    ) {
        let (empty, mut committed, mut occupied) = (fleet(&nodes), fleet(&nodes), fleet(&nodes));
        let mut reserved = Vec::new();
        for request in &requests {
            if let Some(placement) = ask(&committed, request) {
                reserved.push(committed.holding(&placement).expect("nothing changed since").holds);
                committed.commit(&placement).expect("nothing changed since");
            }
        }
        if !reserved.is_empty() {
            let turns = order.index(reserved.len());
            reserved.rotate_left(turns);
        }
        if is_turned {
            reserved.reverse();
        }
        let holds: Vec<_> = reserved.iter().map(|holds| occupied.occupy(holds).expect("it is there")).collect();
        prop_assert_eq!(occupied.capacity(), committed.capacity());
        for hold in holds {
            occupied.release(hold).expect("it is held");
        }
        prop_assert_eq!(occupied.capacity(), empty.capacity());
    }

    /// What others hold does not change it: a store adds up what all take, and compares.
    #[test]
    fn what_may_be_taken_is_what_the_document_leaves(
        nodes in any_nodes(),
        requests in prop::collection::vec(any_request(), 1..12),
    ) {
        let mut fleet = fleet(&nodes);
        let (mut most, mut taken) = (BTreeMap::new(), BTreeMap::<_, u64>::new());
        for request in &requests {
            if let Some(placement) = ask(&fleet, request) {
                for take in fleet.holding(&placement).expect("nothing changed since").takes {
                    let thing = (take.resource, take.node, take.item);
                    prop_assert_eq!(*most.entry(thing.clone()).or_insert(take.most), take.most);
                    *taken.entry(thing.clone()).or_default() += take.amount;
                    prop_assert!(taken[&thing] <= take.most);
                }
                fleet.commit(&placement).expect("nothing changed since");
            }
        }
    }
}
