//! Small fleets and traces for the tests of this crate.

#![allow(dead_code, missing_docs)] // each test file is a crate of its own, and uses some of it

use hetero_core::Fleet;
use hetero_core::document::FleetDocument;
use hetero_core::profile::Profiles;
use hetero_plan::Trace;
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) fn fleet(nodes: &[Value]) -> Fleet {
    let document = json!({
        "apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "here", "nodes": nodes}]
    });
    let document = FleetDocument::from_json(document.to_string().as_bytes()).expect("valid");
    let profiles = json!({"digest": "test", "resource_keys": {}, "entries": []}).to_string();
    Fleet::new(document, Profiles::from_json(profiles.as_bytes()).expect("valid")).expect("valid")
}

pub(crate) fn node(name: &str, cores: u64, model: &str, count: usize) -> Value {
    let mut node = json!({"name": name, "cpu_milli": cores * 1000, "memory_mib": cores * 4096});
    if count > 0 {
        node["devices"] = json!([{"sku": "unknown", "class": "gpu", "model": model, "count": count}]);
    }
    node
}

/// A task: devices, share of each, cores, permitted model.
pub(crate) type Task = (u32, u16, u64, Option<&'static str>);

pub(crate) fn class(&(count, share_milli, cores, model): &Task) -> Value {
    let name = |model| json!({"skus": [], "models": [model], "is_any_model": false, "vendor": null, "partition": null});
    json!({
        "label": "task", "class": null, "vendor": null, "names": model.map(name).into_iter().collect::<Vec<_>>(),
        "count": count, "share_milli": share_milli, "memory_floor_mib": null, "memory_ceiling_mib": null,
        "usable_floor_mib": null, "precisions": [], "link": null, "link_floor_mbps": null,
        "compute_floor_tflops": null, "bandwidth_floor_mbps": null, "cpu_milli": cores * 1000,
        "host_memory_mib": cores * 1024
    })
}

pub(crate) fn trace(tasks: &[Task]) -> Trace {
    let classes: Vec<Value> = tasks.iter().map(class).collect();
    let mix: Vec<Value> = classes.iter().map(|choice| json!({"choice": choice, "weight": 1})).collect();
    let text = json!({
        "mix": {"source": "test", "classes": mix}, "classes": classes, "tasks": (0..tasks.len()).collect::<Vec<_>>()
    });
    Trace::from_json(text.to_string().as_bytes()).expect("valid")
}

pub(crate) fn any_fleet() -> impl Strategy<Value = Vec<Value>> {
    let one = (1u64..=16, prop::sample::select(vec!["X", "Y"]), 0usize..=4);
    prop::collection::vec(one, 1..6).prop_map(|drawn| {
        let named = drawn.into_iter().enumerate();
        let mut nodes: Vec<Value> =
            named.map(|(i, (cores, model, count))| node(&format!("n{i}"), cores, model, count)).collect();
        nodes.push(node("last", 8, "X", 2));
        nodes
    })
}

pub(crate) fn any_tasks() -> impl Strategy<Value = Vec<Task>> {
    let model = prop::sample::select(vec![None, None, Some("X"), Some("Y")]);
    let size = prop::sample::select(vec![(0, 1000), (1, 200), (1, 500), (1, 1000), (2, 1000), (4, 1000)]);
    let task = (size, 1u64..=6, model).prop_map(|((count, share), cores, model)| (count, share, cores, model));
    prop::collection::vec(task, 1..12).prop_map(|mut tasks| {
        tasks.push((1, 500, 1, None));
        tasks
    })
}
