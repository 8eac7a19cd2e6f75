import copy

import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.intake import Imported
from hetero_ops.inventory.update import homes_of, update

CATALOG = Catalog.builtin()
SKU = "H100-SXM5-80GB"


def document(*clusters, **fields):
    return {"apiVersion": "hetero-ops/v1", "kind": "Fleet", **fields, "clusters": list(clusters)}


def cluster(name, *nodes, **fields):
    return {"name": name, **fields, "nodes": list(nodes)}


FLEET = document(
    cluster(
        "west",
        {
            "name": "nv-1",
            "pool": "train",
            "project": "speech",
            "power_budget_mw": 1,
            "labels": {"rack": "r1"},
            "driver": {"nvidia": "570.1"},
            "runtime": ["cudnn"],
            "devices": [{"sku": SKU, "count": 2}],
            "used": [{"owner": "pod a/b", "devices": [0], "movable": "checkpoint"}],
        },
        {"name": "nv-2", "devices": [{"sku": SKU, "count": 2}]},
        pools=[{"name": "train", "price": {SKU: 2.1}}],
    ),
    mix=[{"request": "H100:2", "weight": 1.0}],
    limits=[{"team": "t", "per": "model", "name": "H100", "devices": 1}],
)


def updated(*nodes, name="west", **fields):
    before = copy.deepcopy(FLEET)
    result = update(FLEET, Imported(document(cluster(name, *nodes, **fields)), []), CATALOG, "fleet.yaml")
    assert before == FLEET
    return result.document, [finding.message for finding in result.findings]


def test_what_a_person_wrote_stays():
    node = {"name": "nv-1", "pool": "other", "devices": [{"sku": SKU, "count": 2}]}
    after, messages = updated(node)
    assert after == FLEET
    assert messages == ["pool is 'other' in the import and 'train' in fleet.yaml; fleet.yaml counts"]


def test_new_facts_count():
    devices = [{"id": at, "sku": SKU, "serial": f"S{at}"} for at in range(2)]
    node = {"name": "nv-1", "driver": {"nvidia": "580.1", "cuda": "13.0"}, "labels": {"zone": "a"}, "devices": devices}
    after, messages = updated(node)
    changed = after["clusters"][0]["nodes"][0]
    assert changed["driver"] == {"nvidia": "580.1", "cuda": "13.0"}
    assert changed["labels"] == {"rack": "r1", "zone": "a"}
    assert changed["runtime"] == ["cudnn"]
    assert changed["devices"] == devices
    assert changed["used"] == FLEET["clusters"][0]["nodes"][0]["used"]  # nobody looked
    assert messages == ["driver nvidia is '580.1' in the import and '570.1' in fleet.yaml; the import counts"]


def test_a_group_stays_a_group_where_its_devices_have_nothing_new():
    after, _ = updated({"name": "nv-2", "state": "cordoned", "devices": [{"sku": SKU, "count": 2}]})
    assert after["clusters"][0]["nodes"][1] == {
        "name": "nv-2",
        "state": "cordoned",
        "devices": [{"sku": SKU, "count": 2}],
    }


PODS = FLEET["clusters"][0]["nodes"][0]["used"]


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([], PODS),
        ([{"owner": "process:x", "devices": [0]}], PODS),
        ([{"owner": "process:x", "devices": [1]}], [*PODS, {"owner": "process:x", "devices": [1]}]),
    ],
)
def test_a_tool_that_sees_processes_ends_no_pod(seen, expected):
    after, _ = updated({"name": "nv-1", "devices": [{"sku": SKU, "count": 2}], "used": seen})
    assert after["clusters"][0]["nodes"][0]["used"] == expected
    again = update(after, Imported(document(cluster("west", {"name": "nv-1", "used": []})), []), CATALOG, "f").document
    assert again["clusters"][0]["nodes"][0]["used"] == PODS  # the process has ended


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ([], []),
        ([{"owner": "pod c/d", "devices": [1]}], [{"owner": "pod c/d", "devices": [1]}]),
        (
            [{"owner": "pod a/b", "devices": [1]}],
            [{"owner": "pod a/b", "devices": [1], "movable": "checkpoint"}],
        ),
    ],
)
def test_what_is_held_is_replaced_by_what_a_scheduler_tells(used, expected):
    node = {"name": "nv-1", "state": "active", "devices": [{"sku": SKU, "count": 2}], "used": used}
    after, _ = updated(node)
    assert after["clusters"][0]["nodes"][0]["used"] == expected


def test_a_card_that_was_replaced_is_told():
    before = copy.deepcopy(FLEET)
    before["clusters"][0]["nodes"][1]["devices"] = [{"id": 0, "sku": SKU, "pci": "1", "serial": "old"}]
    node = {"name": "nv-2", "devices": [{"id": 0, "sku": SKU, "pci": "1", "serial": "new"}]}
    result = update(before, Imported(document(cluster("west", node)), []), CATALOG, "f")
    assert result.document["clusters"][0]["nodes"][1]["devices"] == node["devices"]
    assert [finding.message for finding in result.findings] == [
        "device 0: serial is 'new' in the import and 'old' in f; the import counts"
    ]


def test_new_nodes_and_clusters_are_added():
    after, messages = updated({"name": "nv-3"})
    assert [node["name"] for node in after["clusters"][0]["nodes"]] == ["nv-1", "nv-2", "nv-3"]
    after, messages = updated({"name": "nv-1"}, name="east", region="eu")
    assert [each["name"] for each in after["clusters"]] == ["west", "east"]
    assert messages == []


def test_homes_are_those_of_nodes_that_one_cluster_has():
    twice = document(cluster("a", {"name": "x"}, {"name": "y"}), cluster("b", {"name": "y"}))
    assert homes_of(twice) == {"x": "a"}
