//! What would have to end for a step of higher priority.

#![allow(missing_docs)]

mod sample;

use hetero_core::decision::{CountedFrom, Victims};
use hetero_core::{Decision, Request, why};
use proptest::prelude::*;
use sample::busy::{any_busy_nodes, decide, entry_of, fleet, loss, may_end, parties, request};
use sample::choice;
use serde_json::{Value, json};

fn victims_of(nodes: &[Value], request: &Request) -> Option<Victims> {
    match decide(&fleet(nodes), request) {
        Decision::NoFit(no_fit) => no_fit.victims,
        Decision::Placement(placement) => panic!("placed on {:?}", placement.nodes),
    }
}

fn big(count: u32, priority: i64) -> Request {
    request(&[choice(&["Big"], count, 1000, false)], Some(priority))
}

fn node(name: &str, used: &[Value]) -> Value {
    json!({"name": name, "cpu_milli": 8000, "devices": [{"sku": "Big", "count": 4}], "used": used})
}

/// All four devices of a node, preemptible, of priority 0.
fn whole(owner: &str, more: &Value) -> Value {
    let mut used = json!({"owner": owner, "devices": [0, 1, 2, 3], "preemptible": true, "priority": 0});
    for (key, value) in more.as_object().expect("an object") {
        used[key] = value.clone();
    }
    used
}

fn owners(victims: &Victims) -> Vec<&str> {
    victims.victims.iter().map(|victim| victim.owner.as_str()).collect()
}

#[test]
fn the_one_that_saved_last_ends() {
    let nodes = [("a", 500), ("b", 5), ("c", 50)];
    let nodes = nodes.map(|(name, minutes)| node(name, &[whole(name, &json!({"checkpoint_age_s": minutes * 60}))]));
    let found = victims_of(&nodes, &big(4, 1)).expect("one may end");
    assert_eq!((owners(&found), found.nodes.join(",").as_str(), found.is_least), (vec!["b"], "b", true));
    assert_eq!(found.lost_device_ms, Some(4 * 300 * 1000));
    assert_eq!(found.victims[0].counted_from, Some(CountedFrom::Checkpoint));
    let decision = decide(&fleet(&nodes), &big(4, 1));
    let text = why::why(&decision);
    assert!(text.contains("victims: Big would fit on b; 1200 device-seconds are lost\n"), "{text}");
    assert!(text.contains("b on b, devices 0,1,2,3, priority 0: 1200 since its last checkpoint\n"), "{text}");
}

#[test]
fn a_gang_counts_with_all_its_entries() {
    let of_gang = |owner| whole(owner, &json!({"gang": "train", "checkpoint_age_s": 60}));
    let single = |age: u64| whole("single", &json!({"checkpoint_age_s": age}));
    let nodes = |age| [node("a", &[of_gang("x")]), node("b", &[of_gang("y")]), node("c", &[single(age)])];
    let found = victims_of(&nodes(119), &big(4, 1)).expect("one may end");
    assert_eq!(owners(&found), ["single"]); // more than one entry of the gang, less than both
    let found = victims_of(&nodes(121), &big(4, 1)).expect("one may end");
    assert_eq!((owners(&found), found.nodes.join(",").as_str()), (vec!["x", "y"], "a"));
    assert_eq!(found.lost_device_ms, Some(2 * 4 * 60 * 1000));
    let mut kept = nodes(121);
    kept[1]["used"][0]["preemptible"] = json!(false); // so the gang stays whole
    assert_eq!(owners(&victims_of(&kept, &big(4, 1)).expect("one may end")), ["single"]);
}

#[test]
fn nothing_of_equal_priority_or_unsaid_ends() {
    let with = |more: Value| [node("a", &[whole("x", &more)])];
    assert!(victims_of(&with(json!({"priority": 4})), &big(4, 5)).is_some());
    assert!(victims_of(&with(json!({"priority": 5})), &big(4, 5)).is_none());
    assert!(victims_of(&with(json!({"priority": null})), &big(4, 5)).is_none());
    assert!(victims_of(&with(json!({"preemptible": false})), &big(4, 5)).is_none());
    assert!(victims_of(&with(json!({"preemptible": null})), &big(4, 5)).is_none());
    let unsaid = request(&[choice(&["Big"], 4, 1000, false)], None);
    assert!(victims_of(&with(json!({})), &unsaid).is_none());
    assert!(victims_of(&with(json!({})), &big(5, 5)).is_none()); // it would never fit
}

#[test]
fn an_unknown_age_counts_from_the_start_and_an_unknown_start_is_said() {
    let started = whole("started", &json!({"since": "2026-11-29T09:00:00Z"}));
    let silent = whole("silent", &json!({"since": "yesterday"}));
    let found = victims_of(&[node("a", std::slice::from_ref(&silent)), node("b", &[started])], &big(4, 1))
        .expect("one may end");
    assert_eq!((owners(&found), found.lost_device_ms), (vec!["started"], Some(4 * 3600 * 1000)));
    assert_eq!(found.victims[0].counted_from, Some(CountedFrom::Start));
    let alone = victims_of(&[node("a", &[silent])], &big(4, 1)).expect("it may end");
    assert_eq!((alone.lost_device_ms, alone.victims[0].counted_from), (None, None));
}

#[test]
fn an_overcommitted_host_frees_what_the_others_leave() {
    let on_host = |owner: &str, cpu: u64, more: Value| {
        let mut used = json!({"owner": owner, "cpu_milli": cpu, "preemptible": true, "priority": 0});
        used["checkpoint_age_s"] = more;
        used
    };
    let nodes = [node("a", &[on_host("x", 8000, json!(1)), on_host("y", 6000, json!(1))])];
    let mut cpu = choice(&[], 0, 1000, false);
    (cpu["class"], cpu["cpu_milli"]) = (json!("cpu"), json!(2000));
    let found = victims_of(&nodes, &request(&[cpu.clone()], Some(1))).expect("x may end");
    assert_eq!((owners(&found), found.lost_device_ms), (vec!["x"], Some(0)));
    cpu["cpu_milli"] = json!(3000);
    assert_eq!(owners(&victims_of(&nodes, &request(&[cpu], Some(1))).expect("both may end")), ["x", "y"]);
}

#[test]
fn of_many_on_one_node_what_is_not_needed_is_spared() {
    let quarter = |n: u64| {
        let age = (n * 5) % 13;
        json!({"owner": format!("s{n:02}"), "devices": [n / 4], "share_milli": 250, "preemptible": true, "priority": 0,
               "checkpoint_age_s": age})
    };
    let used: Vec<Value> = (0..16).map(quarter).collect();
    let found = victims_of(&[node("a", &used)], &big(1, 1)).expect("four may end");
    // Too many for every set to be tried, but none that opens a device costs less.
    assert_eq!((owners(&found), found.is_least), (vec!["s00", "s01", "s02", "s03"], true));
    assert_eq!(found.lost_device_ms, Some(250 * (5 + 10 + 2)));
    let core = |n: u64| json!({"owner": format!("c{n:02}"), "cpu_milli": 600, "preemptible": true, "priority": 0});
    let used: Vec<Value> = (0..13).map(core).collect();
    let mut cpu = choice(&[], 0, 1000, false);
    (cpu["class"], cpu["cpu_milli"]) = (json!("cpu"), json!(2000));
    let found = victims_of(&[node("a", &used)], &request(&[cpu], Some(1))).expect("some may end");
    assert_eq!((found.victims.len(), found.is_least), (3, false));
}

/// The least loss over all nodes and all sets of parties, by asking a fleet of that node without them.
fn least(nodes: &[Value], choices: &[Value], priority: i64) -> Option<sample::busy::Loss> {
    let ending: Vec<_> = parties(nodes).into_iter().filter(|party| may_end(nodes, party, priority)).collect();
    let mut best = None;
    for n in 0..nodes.len() {
        let here: Vec<_> = ending.iter().filter(|party| party.iter().any(|entry| entry.0 == n)).collect();
        for set in 1u32..1 << here.len() {
            let chosen = || here.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1).map(|(_, party)| *party);
            let lost =
                chosen().map(|party| loss(nodes, party)).fold((0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2));
            if best.is_some_and(|best| best <= lost) {
                continue;
            }
            let mut left = nodes[n].clone();
            let used = left["used"].as_array().expect("a list").iter().enumerate();
            let stays = |u: usize| !chosen().any(|party| party.contains(&(n, u)));
            left["used"] = used.filter(|(u, _)| stays(*u)).map(|(_, used)| used.clone()).collect();
            if matches!(decide(&fleet(&[left]), &request(choices, None)), Decision::Placement(_)) {
                best = Some(lost);
            }
        }
    }
    best
}

proptest! {
    #[test]
    fn no_set_of_parties_loses_less(
        nodes in any_busy_nodes(),
        amounts in prop::collection::vec((1u32..=6, any::<bool>()), 1..=2),
        share in prop::sample::select(vec![250u16, 500, 1000]),
        priority in 1i64..=3,
    ) {
        let one = |&(count, has_link): &(u32, bool)| match share {
            1000 => choice(&[], count, share, has_link),
            _ => choice(&["Big"], 1, share, false),
        };
        let choices: Vec<Value> = amounts.iter().map(one).collect();
        let asked = request(&choices, Some(priority));
        let fleet = fleet(&nodes);
        let before = fleet.capacity().clone();
        if let Decision::NoFit(no_fit) = decide(&fleet, &asked) {
            let told = no_fit.victims.as_ref().map(|victims| {
                assert!(victims.is_least);
                let all: Vec<(usize, usize)> = victims.victims.iter().map(|victim| entry_of(&nodes, victim)).collect();
                loss(&nodes, &all)
            });
            prop_assert_eq!(told, least(&nodes, &choices, priority));
            let mut turned = nodes.clone();
            turned.reverse();
            prop_assert_eq!(&no_fit.victims, &victims_of(&turned, &asked));
        }
        prop_assert_eq!(fleet.capacity(), &before);
    }
}
