//! Fleets in use, whose entries may end, and what ends together there.

use hetero_core::document::FleetDocument;
use hetero_core::{Decision, Fleet, Question, Request, place};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{any_nodes, profiles};

pub(crate) fn fleet(nodes: &[Value]) -> Fleet {
    fleet_with(nodes, &[])
}

/// A fleet with budgets of racks.
pub(crate) fn fleet_with(nodes: &[Value], racks: &[Value]) -> Fleet {
    let text = json!({
        "apiVersion": "hetero-ops/v1", "kind": "Fleet", "generated": {"at": "2026-11-29T10:00:00Z", "by": "test"},
        "clusters": [{"name": "here", "nodes": nodes, "racks": racks}]
    });
    Fleet::new(FleetDocument::from_json(text.to_string().as_bytes()).expect("valid"), profiles()).expect("valid")
}

pub(crate) fn request(choices: &[Value], priority: Option<i64>) -> Request {
    let text = json!({"requirement": json!(choices).to_string(), "choices": choices, "priority": priority});
    Request::from_json(text.to_string().as_bytes()).expect("valid")
}

pub(crate) fn decide(fleet: &Fleet, request: &Request) -> Decision {
    place(fleet, request, &Question::default()).expect("the question is valid")
}

/// Sets of entries that go together, found by joining until nothing changes.
pub(crate) fn parties(nodes: &[Value]) -> Vec<Vec<(usize, usize)>> {
    let entry = |&(n, u): &(usize, usize)| &nodes[n]["used"][u];
    let mut all: Vec<Vec<(usize, usize)>> = Vec::new();
    for (n, node) in nodes.iter().enumerate() {
        all.extend((0..node["used"].as_array().expect("a list").len()).map(|u| vec![(n, u)]));
    }
    let are_one = |a: &(usize, usize), b: &(usize, usize)| {
        let (one, other) = (entry(a), entry(b));
        (a.0 == b.0 && one["owner"] == other["owner"]) || (!one["gang"].is_null() && one["gang"] == other["gang"])
    };
    let touch = |a: &Vec<(usize, usize)>, b: &Vec<(usize, usize)>| {
        a.iter().any(|one| b.iter().any(|other| are_one(one, other)))
    };
    while let Some((a, b)) =
        (0..all.len()).flat_map(|a| (a + 1..all.len()).map(move |b| (a, b))).find(|&(a, b)| touch(&all[a], &all[b]))
    {
        let joined = all.remove(b);
        all[a].extend(joined);
    }
    all
}

pub(crate) type Loss = (u64, u64, usize);

pub(crate) fn loss(nodes: &[Value], party: &[(usize, usize)]) -> Loss {
    let each = party.iter().map(|&(n, u)| {
        let used = &nodes[n]["used"][u];
        let milli =
            used["share_milli"].as_u64().expect("said") * used["devices"].as_array().expect("a list").len() as u64;
        used["checkpoint_age_s"].as_u64().map_or((milli, 0, 1), |age| (0, milli * age, 1))
    });
    each.fold((0, 0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2))
}

/// Whether all entries of a party may end for a step of this priority.
pub(crate) fn may_end(nodes: &[Value], party: &[(usize, usize)], priority: i64) -> bool {
    party.iter().all(|&(n, u)| {
        let used = &nodes[n]["used"][u];
        used["preemptible"] == json!(true) && used["priority"].as_i64().is_some_and(|of| of < priority)
    })
}

pub(crate) fn any_busy_nodes() -> impl Strategy<Value = Vec<Value>> {
    let preemptible = prop::sample::select(vec![json!(true), json!(true), json!(true), json!(false), Value::Null]);
    let priority = prop::sample::select(vec![json!(0), json!(0), json!(1), json!(2), Value::Null]);
    let gang = prop::sample::select(vec![Value::Null, Value::Null, Value::Null, json!("g"), json!("h")]);
    let age = prop::sample::select(vec![Value::Null, json!(0), json!(10), json!(10), json!(25), json!(60)]);
    let entry = (preemptible, priority, gang, age, prop::bool::weighted(0.1));
    (any_nodes(), prop::collection::vec(entry, 40)).prop_map(|(mut nodes, entries)| {
        let mut entries = entries.into_iter();
        for node in &mut nodes {
            node["labels"] = json!({});
            let used = node["used"].as_array_mut().expect("a list");
            for (at, used) in used.iter_mut().enumerate() {
                let (preemptible, priority, gang, age, is_same_owner) = entries.next().expect("enough for five nodes");
                used["owner"] = json!(if is_same_owner { "shared".to_owned() } else { format!("o{at}") });
                (used["preemptible"], used["priority"], used["gang"]) = (preemptible, priority, gang);
                used["checkpoint_age_s"] = age;
            }
        }
        nodes
    })
}

pub(crate) fn entry_of(nodes: &[Value], victim: &hetero_core::decision::Victim) -> (usize, usize) {
    let n = nodes.iter().position(|node| node["name"] == json!(victim.node)).expect("a node");
    let used = nodes[n]["used"].as_array().expect("a list").iter();
    let is_it = |used: &Value| used["devices"] == json!(victim.devices) && used["owner"] == json!(victim.owner);
    (n, used.clone().position(is_it).expect("an entry"))
}
