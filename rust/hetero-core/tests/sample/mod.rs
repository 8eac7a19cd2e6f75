//! Small fleets for tests, and a catalog of three made-up models.

#![allow(dead_code, missing_docs)] // each test file uses its part

pub(crate) mod busy;

use hetero_core::document::FleetDocument;
use hetero_core::profile::Profiles;
use hetero_core::{Fleet, Request};
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) fn profiles() -> Profiles {
    let profile = |sku: &str, gib: u64, link: &str, shape: &str, pair: Option<u64>, bf16: f64| {
        json!({
            "sku": sku, "vendor": "acme", "class": "gpu", "model": sku, "memory_mib": gib * 1024,
            "bandwidth_mbps": 2_000_000, "rates": {"bf16": bf16}, "precisions": {"bf16": "native", "fp8": "unsupported"},
            "efficiency": {}, "default_efficiency": 0.75, "interconnect": link, "interconnect_topology": shape,
            "interconnect_mbps": pair, "pair_mbps": pair, "tdp_mw": 100_000, "max_per_node": 8, "scaleup_domain": 8
        })
    };
    let entries = [
        profile("Big", 80, "nvlink", "nvswitch", Some(900_000), 989.0),
        profile("Mid", 40, "pcie", "pcie-tree", None, 312.0),
        profile("Small", 16, "pcie", "pcie-tree", None, 65.0),
    ];
    let text = json!({"digest": "test", "resource_keys": {"acme": ["acme.com/gpu"]}, "entries": entries}).to_string();
    Profiles::from_json(text.as_bytes()).expect("valid")
}

pub(crate) fn document(nodes: &[Value]) -> FleetDocument {
    let fleet = json!({
        "apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "here", "nodes": nodes}]
    });
    FleetDocument::from_json(fleet.to_string().as_bytes()).expect("valid")
}

pub(crate) fn fleet(nodes: &[Value]) -> Fleet {
    Fleet::new(document(nodes), profiles()).expect("valid")
}

pub(crate) fn choice(skus: &[&str], count: u32, share_milli: u16, has_link: bool) -> Value {
    let names: Vec<Value> = skus
        .iter()
        .map(|sku| json!({"skus": [sku], "models": [], "is_any_model": false, "vendor": null, "partition": null}))
        .collect();
    json!({
        "label": if skus.is_empty() { "gpu".to_owned() } else { skus.join(",") }, "class": "gpu", "vendor": null,
        "names": names, "count": count, "share_milli": share_milli, "memory_floor_mib": null,
        "memory_ceiling_mib": null, "usable_floor_mib": null, "precisions": [],
        "link": if has_link { json!({"kind": "fabric"}) } else { Value::Null }, "link_floor_mbps": null,
        "compute_floor_tflops": null, "bandwidth_floor_mbps": null, "cpu_milli": 0, "host_memory_mib": 0
    })
}

pub(crate) fn request(choices: &[Value]) -> Request {
    let text = json!({"requirement": json!(choices).to_string(), "choices": choices}).to_string();
    Request::from_json(text.as_bytes()).expect("valid")
}

/// Nodes of 0 to 8 devices of one kind, some of them busy; some nodes are cordoned, some say their NUMA,
/// network cards and CPU, or their rack and zone.
pub(crate) fn any_nodes() -> impl Strategy<Value = Vec<Value>> {
    let sku = prop::sample::select(vec!["Big", "Mid", "Small"]);
    let used_quarters = prop::collection::vec(0u16..=4, 0..=8);
    let is_cordoned = prop::bool::weighted(0.1);
    let cpu_milli = prop::option::of(0u64..=64_000);
    let power_budget_mw = prop::option::of(0u64..=800_000);
    let labels = prop::sample::select(vec![json!({}), json!({"rack": "r1"}), json!({"rack": "r2", "zone": "z"})]);
    let node = (sku, used_quarters, any::<bool>(), is_cordoned, cpu_milli, power_budget_mw, labels).prop_map(node);
    prop::collection::vec(node, 1..6).prop_map(|mut nodes| {
        for (i, node) in nodes.iter_mut().enumerate() {
            node["name"] = json!(format!("n{i}"));
        }
        nodes
    })
}

type Drawn<'a> = (&'a str, Vec<u16>, bool, bool, Option<u64>, Option<u64>, Value);

fn node((sku, used_quarters, says_numa, is_cordoned, cpu_milli, power_budget_mw, labels): Drawn<'_>) -> Value {
    let state = if is_cordoned { "cordoned" } else { "active" };
    let mut node =
        json!({"labels": labels, "state": state, "cpu_milli": cpu_milli, "power_budget_mw": power_budget_mw});
    if !used_quarters.is_empty() {
        let numa: Vec<Option<usize>> = (0..used_quarters.len()).map(|id| says_numa.then_some(id / 4)).collect();
        let nic: Vec<Option<bool>> = (0..numa.len()).map(|id| says_numa.then_some(id % 4 > 0)).collect();
        node["devices"] = json!([{"sku": sku, "count": numa.len(), "numa": numa, "nic": nic}]);
    }
    let busy = used_quarters.iter().enumerate().filter(|(_, quarters)| **quarters > 0);
    let bound = |id: usize| [None, Some("compute"), Some("memory")][id % 3];
    let used = busy.map(
        |(id, quarters)| json!({"owner": "x", "devices": [id], "share_milli": quarters * 250, "bound": bound(id)}),
    );
    node["used"] = used.collect();
    node
}

/// Requests of one or two choices; some may lie on several nodes, some ask for network cards, some shares say what they
/// are bound by.
pub(crate) fn any_request() -> impl Strategy<Value = Request> {
    let skus = prop::sample::select(vec![vec![], vec!["Big"], vec!["Mid"], vec!["Big", "Small"]]);
    let nodes = prop::sample::select(vec![None, None, Some((2u32, 2u32)), Some((1, 3)), Some((3, 3))]);
    let share = prop::sample::select(vec![250u16, 500, 1000]);
    let bound = prop::sample::select(vec![None, Some("compute"), Some("memory")]);
    let one = (skus, 1u32..=8, share, any::<bool>(), prop::bool::weighted(0.2), nodes, bound).prop_map(
        |(skus, count, share, has_link, near_nic, nodes, bound)| {
            let most = nodes.map_or(1, |(_, most)| most);
            let mut choice = match share {
                1000 => choice(&skus, count.next_multiple_of(most), 1000, has_link),
                _ => choice(&skus, 1, share, false),
            };
            choice["near_nic"] = json!(near_nic);
            choice["bound"] = json!(bound);
            choice["prefers_nic"] = json!(count % 2 == 0);
            if share == 1000 {
                choice["nodes"] = json!(nodes);
            }
            choice
        },
    );
    prop::collection::vec(one, 1..=2).prop_map(|choices| request(&choices))
}
