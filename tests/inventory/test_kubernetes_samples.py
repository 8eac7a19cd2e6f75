"""Recorded nodes and documented objects of public projects: what their lists say that a correct reader finds."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops import Fleet
from hetero_ops.document.field import Field
from hetero_ops.document.text import DocumentText, read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.kubernetes import Imported, read_cluster, read_labels
from hetero_ops.inventory.kubernetes.zones import read_zones
from tests.inventory.kube import codes, node, only_node, pod, text

Find = Callable[[str], Path]
LABELS = "samples/kubernetes-nodes/labels-only-h100-mig-mixed.json"
MINIMAL = "samples/kubernetes-nodes/minimal-one-gpu.yaml"
GPU_ZONES = "samples/node-resource-topology/two-zones-gpu-flow-style.yaml"
OTHER_ZONES = "samples/node-resource-topology/two-zones-example-devices.yaml"
H100 = {"sku": "H100-SXM5-80GB"}
PARTITIONS = [
    H100 | {"partition": "1g.10gb", "memory_mib": 9984, "count": 2},
    H100 | {"partition": "2g.20gb", "memory_mib": 20096, "count": 1},
    H100 | {"partition": "3g.40gb", "memory_mib": 40320, "count": 1},
]


def document(path: Path) -> DocumentText:
    return read_text(path.read_bytes(), path.name)


def read_file(path: Path, name: str | None = None) -> Imported:
    return read_cluster([document(path)], Catalog.builtin(), node=name)


def test_a_whole_card_as_one_partition(test_data: Find) -> None:
    result = read_file(test_data("samples/kubernetes-nodes/a100-mig-7g-mixed.yaml"))
    found = only_node(result)

    # nvidia.com/gpu is "0", but the node is not empty; mig-1g.5gb and others at "0" are leftovers; gpu.replicas is "0".
    assert found["devices"] == [{"sku": "A100-SXM4-40GB", "partition": "7g.40gb", "memory_mib": 40192, "count": 1}]
    assert found["driver"] == {"nvidia": "520.56.06", "cuda": "11.8"}
    assert (found["cpu_milli"], found["memory_mib"]) == (12000, 85376)
    assert result.findings == ()


def test_two_plain_cards(test_data: Find) -> None:
    result = read_file(test_data("samples/kubernetes-nodes/t4-two-plain.yaml"))
    found = only_node(result)

    # mig.strategy is "mixed", but mig.capable is false. Nothing says how many are in use: that needs pods.
    assert found["devices"] == [{"sku": "T4", "memory_mib": 15360, "count": 2}]
    assert "used" not in found
    assert result.findings == ()


def test_labels_alone_are_no_node(test_data: Find) -> None:
    with pytest.raises(InvalidDocument, match=r"labels of a node.*`kubectl get nodes,pods -A -o json`") as refused:
        read_file(test_data(LABELS))
    assert "\n" not in str(refused.value)


def test_labels_alone_give_the_partitions_of_a_node_that_is_named(test_data: Find) -> None:
    labels = json.loads(test_data(LABELS).read_text())
    result = read_file(test_data(LABELS), "gpu-node-c")

    assert (labels["nvidia.com/gpu.count"], labels["nvidia.com/gpu.replicas"]) == ("1", "0")
    assert only_node(result)["devices"] == PARTITIONS
    assert only_node(result)["name"] == "gpu-node-c"
    assert codes(result) == ["NODE_MISSING"]
    assert read_labels(labels, Catalog.builtin(), "gpu-node-c").fields == only_node(result)


def test_the_same_labels_on_a_node_give_its_partitions(test_data: Find) -> None:
    labels = json.loads(test_data(LABELS).read_text())
    offered = {"nvidia.com/mig-1g.10gb": "2", "nvidia.com/mig-2g.20gb": "1", "nvidia.com/mig-3g.40gb": "1"}
    result = read_cluster([text(node("c", labels, {"nvidia.com/gpu": "0"} | offered))], Catalog.builtin())

    assert only_node(result)["devices"] == PARTITIONS
    assert result.findings == ()


def test_a_node_without_a_name_is_one_clear_error(test_data: Find) -> None:
    with pytest.raises(
        InvalidDocument, match=r"minimal-one-gpu\.yaml:1: metadata\.name: a node without metadata\.name"
    ):
        read_file(test_data(MINIMAL))


def test_a_node_that_is_named_by_hand_is_usable_as_unknown(test_data: Find) -> None:
    result = read_file(test_data(MINIMAL), "a")

    assert only_node(result)["devices"] == [{"sku": "unknown", "vendor": "nvidia", "class": "gpu", "count": 1}]
    assert codes(result) == ["UNLABELLED"]
    fleet = Fleet.from_document(result.document)
    assert fleet.place("nvidia:1").ok
    assert not fleet.place("H100:1").ok


def test_use_comes_from_pods_since_allocatable_does_not_fall(test_data: Find) -> None:
    using = pod("p", {"nvidia.com/gpu": "1"}, on="a")
    result = read_cluster([document(test_data(MINIMAL)), text(using)], Catalog.builtin(), node="a")

    assert only_node(result)["used"] == [{"owner": "pod team/p", "devices": [0], "assumed": True}]
    assert not Fleet.from_document(result.document).place("gpu:1").ok


def test_zones_tell_numa_policy_scope_and_distance(test_data: Find) -> None:
    path = test_data(GPU_ZONES)
    zones = read_zones(Field(document(path).value, document(path)))
    result = read_file(path)

    assert [zone.resources["nvidia.com/gpu"].capacity for zone in zones.zones] == [4, 4]
    assert (zones.policy, zones.scope) == ("single-numa-node", "container")
    assert only_node(result) == {
        "name": "gpu-node-e",
        "labels": {
            "hetero-ops/topology-distances": "10 21, 21 10",
            "hetero-ops/topology-policy": "single-numa-node",
            "hetero-ops/topology-scope": "container",
            "hetero-ops/topology-source": "node-resource-topology",
        },
        "cpu_milli": 32000,
        "memory_mib": 262144,
        "devices": [
            {"sku": "unknown", "vendor": "nvidia", "class": "gpu", "count": 8, "numa": [0, 0, 0, 0, 1, 1, 1, 1]}
        ],
    }
    assert codes(result) == ["NODE_MISSING", "UNLABELLED"]


def test_zones_place_the_devices_of_their_node(test_data: Find) -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8"}
    nodes = text(node("gpu-node-e", labels, {"nvidia.com/gpu": "8"}), node("other", labels, {"nvidia.com/gpu": "8"}))
    result = read_cluster([document(test_data(GPU_ZONES)), nodes], Catalog.builtin())

    with_zones, without = result.document["clusters"][0]["nodes"]
    assert with_zones["devices"] == [H100 | {"count": 8, "numa": [0, 0, 0, 0, 1, 1, 1, 1]}]
    assert with_zones["labels"]["hetero-ops/topology-source"] == "node-resource-topology"
    assert without["devices"] == [H100 | {"count": 8}]
    assert result.findings == ()


def test_unknown_resources_of_zones_are_no_accelerators(test_data: Find) -> None:
    path = test_data(OTHER_ZONES)
    zones = read_zones(Field(document(path).value, document(path)))
    result = read_file(path)

    assert [(zone.name, zone.number, zone.resources["cpu"].available) for zone in zones.zones] == [
        ("node-0", 0, 3000),
        ("node-1", 1, 3000),
    ]
    assert "devices" not in only_node(result)
    assert codes(result) == ["NODE_MISSING"]
