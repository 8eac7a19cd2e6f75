//! What a fleet document may not say: each mistake is named with its place.

#![allow(missing_docs)]

mod sample;

use hetero_core::{Error, Fleet};
use sample::{document, fleet, profiles};
use serde_json::{Value, json};

fn refused(nodes: &[Value]) -> (String, String) {
    match Fleet::new(document(nodes), profiles()) {
        Err(Error::InvalidDocument { path, message, .. }) => (path, message),
        other => panic!("{other:?}"),
    }
}

fn node(devices: &Value, used: &Value) -> Value {
    json!({"name": "n", "devices": devices, "used": used})
}

#[test]
fn contradictions_are_named_with_their_place() {
    let none = json!([]);
    let group = json!([{"sku": "Big", "count": 4}]);
    let cases = [
        (
            node(&json!([{"sku": "Bigg", "count": 1}]), &none),
            "clusters[0].nodes[0].devices[0].sku",
            "did you mean \"Big\"?",
        ),
        (node(&json!([{"sku": "Big"}]), &none), "clusters[0].nodes[0].devices[0]", "`count` is missing"),
        (
            node(&json!([{"sku": "Big", "count": 4_000_000_000u32}]), &none),
            "clusters[0].nodes[0].devices[0].count",
            "at most 1024",
        ),
        (
            node(&json!([{"sku": "Big", "count": 2, "id": 1}]), &none),
            "clusters[0].nodes[0].devices[0]",
            "drop it or `count`",
        ),
        (
            node(&json!([{"sku": "Big", "id": 1}, {"sku": "Big", "id": 1}]), &none),
            "clusters[0].nodes[0].devices[1]",
            "given twice",
        ),
        (
            node(&json!([{"sku": "Big", "count": 4, "islands": [[0, 1], [1, 2]]}]), &none),
            "clusters[0].nodes[0].devices[0].islands[1]",
            "in two islands",
        ),
        (
            node(&json!([{"sku": "Big", "count": 4, "islands": [[0, 9]]}]), &none),
            "clusters[0].nodes[0].devices[0].islands[0]",
            "not on the node",
        ),
        (
            node(&json!([{"sku": "Big", "count": 4, "numa": [0, 1]}]), &none),
            "clusters[0].nodes[0].devices[0].numa",
            "2 NUMA nodes for 4 devices",
        ),
        (
            node(&json!([{"sku": "Big", "count": 4, "nic": [true, null]}]), &none),
            "clusters[0].nodes[0].devices[0].nic",
            "2 answers for 4 devices",
        ),
        (node(&group, &json!([{"owner": "a", "devices": [7]}])), "clusters[0].nodes[0].used[0]", "does not have"),
        (
            node(&group, &json!([{"owner": "a", "devices": [0]}, {"owner": "b", "devices": [0], "share_milli": 1}])),
            "clusters[0].nodes[0].used[1]",
            "more of a device than is left",
        ),
    ];
    for (node, place, words) in cases {
        let (path, message) = refused(&[node]);
        assert_eq!(path, place, "{message}");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_node_named_twice_is_refused() {
    let (path, message) = refused(&[json!({"name": "n"}), json!({"name": "m"}), json!({"name": "n"})]);
    assert_eq!(path, "clusters[0].nodes[2]");
    assert!(message.contains("\"n\" is named twice"));
}

#[test]
fn islands_follow_the_profile_unless_stated() {
    let implied = fleet(&[json!({"name": "n", "devices": [{"sku": "Big", "count": 8}]})]);
    assert_eq!(implied.inventory().nodes[0].islands.len(), 1);
    let stated = fleet(&[json!({"name": "n", "devices": [{"sku": "Mid", "count": 4, "islands": [[0, 1], [2, 3]]}]})]);
    assert_eq!(stated.inventory().nodes[0].islands.len(), 2);
    let listed =
        json!([{"sku": "Mid", "id": 0, "islands": [[0, 1]]}, {"sku": "Mid", "id": 1}, {"sku": "Mid", "id": 2}]);
    assert_eq!(fleet(&[node(&listed, &json!([]))]).inventory().nodes[0].islands[0].devices.len(), 2);
    let none = fleet(&[json!({"name": "n", "devices": [{"sku": "Big", "count": 8, "islands": []}]})]);
    assert!(none.inventory().nodes[0].islands.is_empty());
}
