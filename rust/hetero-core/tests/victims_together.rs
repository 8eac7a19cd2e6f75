//! What would have to end for a step of higher priority that lies over several nodes, or has groups.

#![allow(missing_docs)]

mod sample;

use hetero_core::decision::Victims;
use hetero_core::{Decision, Fleet, Request};
use proptest::prelude::*;
use sample::busy::{Loss, decide, entry_of, fleet_with, loss, may_end, parties, request};
use sample::choice;
use serde_json::{Value, json};

fn victims_of(fleet: &Fleet, request: &Request) -> Option<Victims> {
    match decide(fleet, request) {
        Decision::NoFit(no_fit) => no_fit.victims,
        Decision::Placement(placement) => panic!("placed on {:?}", placement.nodes),
    }
}

fn owners(victims: &Victims) -> Vec<&str> {
    victims.victims.iter().map(|victim| victim.owner.as_str()).collect()
}

/// A node whose four devices are in use, each entry on as many as it says.
fn node(name: &str, used: &[(&str, &[u32], u64)]) -> Value {
    let entry = |(owner, devices, age): &(&str, &[u32], u64)| json!({"owner": owner, "devices": devices, "checkpoint_age_s": age, "preemptible": true, "priority": 0});
    let used: Vec<Value> = used.iter().map(entry).collect();
    json!({"name": name, "cpu_milli": 8000, "devices": [{"sku": "Big", "count": 4}], "used": used})
}

fn gang(count: u32, nodes: u32) -> Value {
    let mut gang = choice(&["Big"], count, 1000, false);
    gang["nodes"] = json!([nodes, nodes]);
    gang
}

const ALL: &[u32] = &[0, 1, 2, 3];

#[test]
fn the_cheapest_nodes_open_together() {
    let nodes = [("a", 50), ("b", 5), ("c", 7), ("d", 60)].map(|(name, age)| node(name, &[(name, ALL, age)]));
    let fleet = fleet_with(&nodes, &[]);
    let found = victims_of(&fleet, &request(&[gang(8, 2)], Some(1))).expect("two may end");
    assert_eq!((owners(&found), found.nodes.join(" ").as_str(), found.is_least), (vec!["b", "c"], "b c", true));
    assert_eq!(found.lost_device_ms, Some(4 * 12 * 1000));
    let text = hetero_core::why::why(&decide(&fleet, &request(&[gang(8, 2)], Some(1))));
    assert!(text.contains("victims: Big would fit on b, c; 48 device-seconds are lost\n"), "{text}");
}

#[test]
fn a_node_that_is_free_costs_nothing() {
    let nodes = [node("a", &[("a", ALL, 50)]), node("b", &[]), node("c", &[("c", &[0], 9)])];
    let found = victims_of(&fleet_with(&nodes, &[]), &request(&[gang(8, 2)], Some(1))).expect("one may end");
    assert_eq!((owners(&found), found.nodes.join(" ").as_str()), (vec!["c"], "b c"));
}

#[test]
fn one_gang_that_opens_both_nodes_may_cost_less_than_two_others() {
    let mut nodes = [("a", 10), ("b", 10), ("c", 9), ("d", 12)].map(|(name, age)| node(name, &[(name, ALL, age)]));
    (nodes[0]["used"][0]["gang"], nodes[1]["used"][0]["gang"]) = (json!("g"), json!("g"));
    let found = victims_of(&fleet_with(&nodes, &[]), &request(&[gang(8, 2)], Some(1))).expect("two may end");
    assert_eq!((owners(&found), found.is_least), (vec!["a", "b"], true));
    nodes[3]["used"][0]["checkpoint_age_s"] = json!(10);
    let found = victims_of(&fleet_with(&nodes, &[]), &request(&[gang(8, 2)], Some(1))).expect("two may end");
    assert_eq!((owners(&found), found.is_least), (vec!["c", "d"], true));
}

#[test]
fn nodes_are_apart_as_asked() {
    let mut nodes = [("a", 5), ("b", 5), ("c", 90)].map(|(name, age)| node(name, &[(name, ALL, age)]));
    for (node, rack) in nodes.iter_mut().zip(["r1", "r1", "r2"]) {
        node["labels"] = json!({"rack": rack});
    }
    let mut asked = gang(8, 2);
    asked["place"] = json!({
        "clusters": [], "regions": [], "compliance": [], "data": [], "labels": {}, "spread": "rack"
    });
    let found = victims_of(&fleet_with(&nodes, &[]), &request(&[asked], Some(1))).expect("two may end");
    assert_eq!((owners(&found), found.is_least), (vec!["a", "c"], true));
}

#[test]
fn many_nodes_are_proven_without_trying_every_set() {
    let entries = |n: u64| [("w", &[0u32, 1][..], n), ("x", &[2, 3], n + 1)];
    let nodes: Vec<Value> = (0..60).map(|n| node(&format!("n{n:02}"), &entries((n * 7) % 60))).collect();
    let found = victims_of(&fleet_with(&nodes, &[]), &request(&[gang(16, 4)], Some(1))).expect("eight may end");
    assert_eq!((found.victims.len(), found.nodes.len(), found.is_least), (8, 4, true));
    assert_eq!(found.lost_device_ms, Some((0..4).map(|n| 2 * n + 2 * (n + 1)).sum::<u64>() * 1000));
}

#[test]
fn of_gangs_that_lie_across_each_other_none_need_not_end() {
    let mut nodes = Vec::new();
    for n in 0..120u64 {
        let owners = [format!("w{n}"), format!("x{n}")];
        let mut here =
            node(&format!("n{n:03}"), &[(&owners[0], &[0, 1][..], n * 37 % 61), (&owners[1], &[2, 3], n * 53 % 67)]);
        here["used"][0]["gang"] = json!(format!("g{}", n * 7 % 50));
        here["used"][1]["gang"] = json!(format!("g{}", n * 11 % 45));
        nodes.push(here);
    }
    let asked = [gang(24, 6)];
    let found = victims_of(&fleet_with(&nodes, &[]), &request(&asked, Some(1))).expect("some may end");
    assert!(!found.is_least); // too many sets to rule them out
    assert_they_help(&nodes, &[], &asked, 1, &found);
}

#[test]
fn groups_are_made_room_for_on_near_nodes() {
    let with = |name: &str, sku: &str, age: u64| {
        let mut node = node(name, &[(name, ALL, age)]);
        (node["devices"][0]["sku"], node["labels"]) = (json!(sku), json!({"rack": "r1"}));
        node
    };
    let nodes = [with("a", "Big", 40), with("b", "Big", 20), with("c", "Mid", 30)];
    let mut asked = choice(&["Big"], 2, 1000, false);
    asked["groups"] = json!([choice(&["Mid"], 1, 1000, false)]);
    assert!(victims_of(&fleet_with(&nodes, &[]), &request(&[asked.clone()], Some(1))).is_none()); // no node has both
    asked["nearness"] = json!("rack");
    let found = victims_of(&fleet_with(&nodes, &[]), &request(&[asked], Some(1))).expect("two may end");
    assert_eq!((owners(&found), found.nodes.join(" ").as_str(), found.is_least), (vec!["b", "c"], "b c", true));
}

/// Nodes with one to three entries each.
fn busy_nodes(nodes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<Value>> {
    let sku = prop::sample::select(vec!["Big", "Big", "Big", "Big", "Mid"]);
    let preemptible = prop::sample::select(vec![json!(true), json!(true), json!(true), json!(false)]);
    let priority = prop::sample::select(vec![0, 0, 0, 1, 2]);
    let gang = prop::sample::select(vec![Value::Null, Value::Null, json!("g"), json!("h")]);
    let age = prop::sample::select(vec![Value::Null, json!(0), json!(10), json!(10), json!(25), json!(60)]);
    let share = prop::sample::select(vec![1000, 1000, 500]);
    let entry = (1usize..=3, preemptible, priority, gang, age, share);
    let labels = prop::sample::select(vec![json!({}), json!({"rack": "r1"}), json!({"rack": "r2", "switch": "s"})]);
    let host = (2000u64..=4000, prop::option::weighted(0.15, 200_000u64..=400_000), labels);
    let node = (sku, 2usize..=4, prop::collection::vec(entry, 1..=3), host);
    let node = node.prop_map(|(sku, count, entries, (cpu_milli, power_budget_mw, labels))| {
        let (mut at, mut used) = (0, Vec::new());
        for (n, (devices, preemptible, priority, gang, age, share)) in entries.into_iter().enumerate() {
            let ids: Vec<usize> = (at..(at + devices).min(count)).collect();
            at += devices;
            used.push(json!({
                "owner": format!("o{n}"), "devices": ids, "share_milli": share, "cpu_milli": 1000,
                "preemptible": preemptible, "priority": priority, "gang": gang, "checkpoint_age_s": age
            }));
        }
        json!({"devices": [{"sku": sku, "count": count}], "cpu_milli": cpu_milli, "used": used,
               "power_budget_mw": power_budget_mw, "labels": labels})
    });
    prop::collection::vec(node, nodes).prop_map(|mut nodes| {
        for (i, node) in nodes.iter_mut().enumerate() {
            node["name"] = json!(format!("n{i}"));
        }
        nodes
    })
}

/// A step over two or three nodes, perhaps kept apart, or of cores alone, or one with groups.
fn any_together() -> impl Strategy<Value = Value> {
    let sku = prop::sample::select(vec![vec![], vec!["Big"]]);
    let spread = prop::sample::select(vec![Value::Null, Value::Null, Value::Null, json!("rack")]);
    let over =
        (sku.clone(), 2u32..=3, 1u32..=3, any::<bool>(), spread).prop_map(|(sku, nodes, each, has_link, spread)| {
            let mut asked = choice(&sku, nodes * each, 1000, has_link && each > 1);
            asked["nodes"] = json!([nodes, nodes]);
            asked["place"] = json!({
                "clusters": [], "regions": [], "compliance": [], "data": [], "labels": {}, "spread": spread
            });
            asked
        });
    let nearness = prop::sample::select(vec![Value::Null, json!("switch"), json!("rack")]);
    let further = prop::sample::select(vec![
        choice(&["Mid"], 1, 1000, false),
        choice(&["Big"], 2, 1000, false),
        choice(&["Big"], 1, 500, false),
    ]);
    let grouped = (sku, 1u32..=3, further, nearness).prop_map(|(sku, count, further, nearness)| {
        let mut asked = choice(&sku, count, 1000, false);
        (asked["groups"], asked["nearness"]) = (json!([further]), nearness);
        asked
    });
    let cores = (2u32..=3, 1u64..=3).prop_map(|(nodes, each)| {
        let mut asked = gang(0, nodes);
        (asked["class"], asked["names"]) = (json!("cpu"), json!([]));
        (asked["cpu_milli"], asked["label"]) = (json!(u64::from(nodes) * each * 1000), json!("cpu"));
        asked
    });
    let of_devices = prop_oneof![2 => over, 1 => grouped]
        .prop_flat_map(|asked| (Just(asked), prop::sample::select(vec![0u64, 0, 1500])))
        .prop_map(|(mut asked, cpu)| {
            asked["cpu_milli"] = json!(cpu);
            asked
        });
    prop_oneof![5 => of_devices, 1 => cores]
}

/// The fleet's nodes without some entries.
fn without(nodes: &[Value], ended: &[(usize, usize)]) -> Vec<Value> {
    let mut left = nodes.to_vec();
    for (n, node) in left.iter_mut().enumerate() {
        let used = node["used"].as_array().expect("a list").iter().enumerate();
        let stays = |u: usize| !ended.contains(&(n, u));
        node["used"] = used.filter(|(u, _)| stays(*u)).map(|(_, used)| used.clone()).collect();
    }
    left
}

fn is_placed(nodes: &[Value], racks: &[Value], asked: &[Value]) -> bool {
    matches!(decide(&fleet_with(nodes, racks), &request(asked, None)), Decision::Placement(_))
}

/// The least loss over all sets of parties of the whole fleet, by asking a fleet without them.
fn least(nodes: &[Value], racks: &[Value], asked: &[Value], ending: &[Vec<(usize, usize)>]) -> Option<Loss> {
    let mut best: Option<Loss> = None;
    for set in 1u32..1 << ending.len() {
        let chosen = ending.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, party)| party);
        let ended: Vec<(usize, usize)> = chosen.flatten().copied().collect();
        let lost = loss(nodes, &ended);
        if best.is_none_or(|best| lost < best) && is_placed(&without(nodes, &ended), racks, asked) {
            best = Some(lost);
        }
    }
    best
}

/// Ends the victims: the step is placed then, and with one party less it is not. All of them may end.
fn assert_they_help(nodes: &[Value], racks: &[Value], asked: &[Value], priority: i64, victims: &Victims) {
    let ended: Vec<(usize, usize)> = victims.victims.iter().map(|victim| entry_of(nodes, victim)).collect();
    assert!(is_placed(&without(nodes, &ended), racks, asked));
    let chosen: Vec<_> = parties(nodes).into_iter().filter(|party| ended.contains(&party[0])).collect();
    assert_eq!(chosen.iter().flatten().count(), ended.len());
    for party in &chosen {
        assert!(may_end(nodes, party, priority));
        let fewer: Vec<(usize, usize)> = ended.iter().filter(|entry| !party.contains(entry)).copied().collect();
        assert!(!is_placed(&without(nodes, &fewer), racks, asked), "{party:?} need not end");
    }
}

proptest! {
    #[test]
    fn no_set_of_parties_of_the_fleet_loses_less(
        nodes in busy_nodes(2..=4),
        asked in any_together(),
        rack_mw in prop::option::weighted(0.3, 200_000u64..=700_000),
        priority in 1i64..=3,
    ) {
        let racks: Vec<Value> = rack_mw.iter().map(|mw| json!({"name": "r1", "power_budget_mw": mw})).collect();
        let ending: Vec<_> = parties(&nodes).into_iter().filter(|party| may_end(&nodes, party, priority)).collect();
        let fleet = fleet_with(&nodes, &racks);
        let (before, digest, asked) = (fleet.capacity().clone(), fleet.digest(), [asked]);
        if let Decision::NoFit(no_fit) = decide(&fleet, &request(&asked, Some(priority))) {
            let told = no_fit.victims.as_ref().map(|victims| {
                assert!(victims.is_least);
                assert_they_help(&nodes, &racks, &asked, priority, victims);
                let all: Vec<(usize, usize)> = victims.victims.iter().map(|v| entry_of(&nodes, v)).collect();
                loss(&nodes, &all)
            });
            prop_assume!(ending.len() <= 7);
            prop_assert_eq!(told, least(&nodes, &racks, &asked, &ending));
            let mut turned = nodes.clone();
            turned.reverse();
            prop_assert_eq!(&no_fit.victims, &victims_of(&fleet_with(&turned, &racks), &request(&asked, Some(priority))));
        }
        prop_assert_eq!((fleet.capacity(), fleet.digest()), (&before, digest));
    }

    #[test]
    fn victims_of_busier_fleets_help_and_none_need_not_end(
        nodes in busy_nodes(5..=8),
        asked in any_together(),
        priority in 1i64..=3,
    ) {
        let (fleet, asked) = (fleet_with(&nodes, &[]), [asked]);
        if let Decision::NoFit(no_fit) = decide(&fleet, &request(&asked, Some(priority))) {
            if let Some(victims) = &no_fit.victims {
                assert_they_help(&nodes, &[], &asked, priority, victims);
            } else if no_fit.verdict == hetero_core::Verdict::Busy {
                let ending = parties(&nodes).into_iter().filter(|party| may_end(&nodes, party, priority));
                let all: Vec<(usize, usize)> = ending.flatten().collect();
                prop_assert!(!is_placed(&without(&nodes, &all), &[], &asked));
            }
        }
    }
}
