"""Where devices sit: the annotation hetero-ops/topology, NodeResourceTopology, and labels of node-feature-discovery."""

import json
from typing import Any

import pytest

from hetero_ops import Fleet
from hetero_ops.errors import InvalidDocument
from hetero_ops.inventory.kubernetes import Imported
from hetero_ops.placement.decision import Placement
from tests.inventory.kube import GFD, codes, imported, node, only_node

GPU = "nvidia.com/gpu"
FOUR = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.count": "4"}


def annotated(said: object, allocatable: str = "4") -> Imported:
    text = said if isinstance(said, str) else json.dumps(said)
    return imported(node("n", FOUR, {GPU: "4"}, {GPU: allocatable}, {"hetero-ops/topology": text}))


def zone(name: str, resources: dict[str, str], **more: object) -> dict[str, Any]:
    listed = [{"name": key, "capacity": amount, "allocatable": amount} for key, amount in resources.items()]
    return {"name": name, "type": "Node", "resources": listed, **more}


def topology(*zones: dict[str, Any], **more: object) -> dict[str, Any]:
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": {"name": "n"},
        "zones": list(zones),
        **more,
    }


def test_an_annotation_tells_near_network_cards() -> None:
    found = annotated({"nic": [True, False, None, True]})
    assert [group.get("nic") for group in only_node(found)["devices"]] == [[True, False, None, True]]
    near = {"models": ["A100"], "count": 2, "topology": {"nic": "same-root"}}
    granted = Fleet.from_document(found.document).place(near)
    assert isinstance(granted, Placement)
    assert [grant.id for grant in granted.devices] == [0, 3]


def test_an_annotation_tells_islands_and_numa() -> None:
    found = only_node(annotated({"islands": [[0, 1], [3, 2]], "numa": [0, 0, 1, None], "at": "2026-11-30T08:00:00Z"}))

    assert found["devices"] == [
        {"sku": "A100-SXM4-40GB", "count": 4, "numa": [0, 0, 1, None], "islands": [[0, 1], [2, 3]]}
    ]
    assert found["labels"]["hetero-ops/topology-source"] == "annotation"
    assert found["labels"]["hetero-ops/topology-at"] == "2026-11-30T08:00:00Z"


def test_an_annotation_names_each_device() -> None:
    uuids = ["GPU-a", None, "GPU-c", "GPU-d"]
    result = annotated({"uuids": uuids, "pci": ["0000:17:00.0", None, None, None], "islands": []}, allocatable="3")
    sku = {"sku": "A100-SXM4-40GB", "count": 1, "islands": []}

    assert only_node(result)["devices"] == [
        sku | {"uuid": "GPU-a", "pci": "0000:17:00.0"},
        sku,
        sku | {"uuid": "GPU-c"},
        sku | {"uuid": "GPU-d", "health": "unhealthy"},
    ]
    fleet = Fleet.from_document(result.document)
    assert [device.uuid for device in fleet.place("A100:1").devices] == ["GPU-a"]


def test_islands_of_the_annotation_bind_placements() -> None:
    fleet = Fleet.from_document(annotated({"islands": [[0, 1], [2, 3]]}).document)

    assert fleet.place("A100:2 fabric").ok
    assert not fleet.place("A100:4 fabric").ok
    assert Fleet.from_document(annotated({"numa": [0, 0, 1, 1]}).document).place("A100:4 fabric").ok


def test_islands_reach_over_healthy_and_unhealthy_devices() -> None:
    result = annotated({"islands": [[0, 1, 2, 3]]}, allocatable="3")

    assert [group["islands"] for group in only_node(result)["devices"]] == [[[0, 1, 2, 3]], []]
    assert Fleet.from_document(result.document).place("A100:3 fabric").ok


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("{", "it is no JSON object"),
        ("[" * 100_000, "it is no JSON object"),
        ([1], "it is no JSON object"),
        ({}, "it says nothing of the devices"),
        ({"at": "2026-11-30T08:00:00Z"}, "it says nothing of the devices"),
        ({"island": []}, "it has the key 'island'; known are at, islands, nic, numa, pci, uuids"),
        ({"numa": [0, 0]}, "numa has 2 entries for 4 devices"),
        ({"numa": [0, 0, 0, -1]}, "numa is no list of what it should be"),
        ({"numa": [0, 0, 0, True]}, "numa is no list of what it should be"),
        ({"numa": [0, 0, 0, 70000]}, "numa is no list of what it should be"),
        ({"numa": 0}, "numa is no list of what it should be"),
        ({"nic": [True, True, False, 1]}, "nic is no list of what it should be"),
        ({"nic": [True]}, "nic has 1 entries for 4 devices"),
        ({"uuids": ["a", "b", "c"]}, "uuids has 3 entries for 4 devices"),
        ({"uuids": ["a", "b", "c", "a"]}, "two devices have the same entry in uuids"),
        ({"pci": ["a", "b", "c", ""]}, "pci is no list of what it should be"),
        ({"pci": ["a", "b", "c", "\n"]}, "pci is no list of what it should be"),
        ({"islands": [[0, 4]]}, "islands names a device that is none of the 4"),
        ({"islands": [[0, 1], [1, 2]]}, "islands names a device twice"),
        ({"islands": [0, 1]}, "islands is no list of lists of devices"),
        ({"numa": [0, 0, 1, 1], "at": "yesterday"}, "at is no time of RFC 3339"),
        ({"numa": [0, 0, 1, 1], "at": "2026-11-30T08:00:00"}, "at is no time of RFC 3339"),
        ({"numa": [0, 0, 1, 1], "at": 1}, "at is no time of RFC 3339"),
    ],
)
def test_an_annotation_that_cannot_be_true_is_told_and_not_used(said: object, why: str) -> None:
    result = annotated(said)

    assert only_node(result)["devices"] == [{"sku": "A100-SXM4-40GB", "count": 4}]
    assert codes(result) == ["TOPOLOGY_IGNORED"]
    assert f"the annotation hetero-ops/topology is not used: {why}" in result.findings[0].message
    assert not [label for label in only_node(result)["labels"] if label.startswith("hetero-ops/topology")]


def test_numa_comes_from_the_zones_where_the_annotation_is_silent() -> None:
    annotation = {"hetero-ops/topology": json.dumps({"islands": [[0, 1], [2, 3]]})}
    zones = topology(zone("node-1", {GPU: "2"}), zone("node-0", {GPU: "2"}))
    found = only_node(imported(node("n", FOUR, {GPU: "4"}, annotations=annotation), zones))

    (group,) = found["devices"]
    assert (group["numa"], group["islands"]) == ([0, 0, 1, 1], [[0, 1], [2, 3]])
    assert found["labels"]["hetero-ops/topology-source"] == "annotation, node-resource-topology"


def test_zones_place_cards_and_not_their_replicas() -> None:
    labels = GFD | {"nvidia.com/gpu.replicas": "4"}
    zones = topology(zone("node-0", {GPU: "16"}), zone("node-1", {GPU: "16"}))

    (group,) = only_node(imported(node("n", labels, {GPU: "32"}), zones))["devices"]
    assert group["numa"] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_zones_place_the_devices_of_each_key() -> None:
    zones = topology(zone("node-0", {"amd.com/gpu": "1"}), zone("node-1", {GPU: "1"}))
    result = imported(node("n", {}, {GPU: "1", "amd.com/gpu": "1", "habana.ai/gaudi": "1"}), zones)

    assert [group.get("numa") for group in only_node(result)["devices"]] == [[1], [0], None]


@pytest.mark.parametrize(
    ("zones", "why"),
    [
        ([zone("node-0", {GPU: "2"}), zone("node-1", {GPU: "1"})], "its zones have 3 of nvidia.com/gpu, the node 4"),
        ([zone("left", {GPU: "2"}), zone("right", {GPU: "2"})], "a zone has no number in its name"),
    ],
)
def test_zones_that_contradict_the_node_are_told_and_not_used(zones: list[dict[str, Any]], why: str) -> None:
    result = imported(node("n", FOUR, {GPU: "4"}), topology(*zones))

    assert "numa" not in only_node(result)["devices"][0]
    assert codes(result) == ["TOPOLOGY_IGNORED"]
    assert why in result.findings[0].message


def test_zones_that_are_no_numa_nodes_place_nothing() -> None:
    result = imported(node("n", FOUR, {GPU: "4"}), topology(zone("socket-0", {GPU: "4"}, type="Socket")))

    assert "numa" not in only_node(result)["devices"][0]
    assert result.findings == ()


@pytest.mark.parametrize(
    ("said", "policy", "scope"),
    [
        # v1alpha2: attributes. v1alpha1: topologyPolicies, with the names of scheduler-plugins.
        ({"attributes": [{"name": "topologyManagerPolicy", "value": "restricted"}]}, "restricted", None),
        ({"topologyPolicies": ["SingleNUMANodePodLevel"]}, "single-numa-node", "pod"),
        ({"topologyPolicies": ["BestEffort"]}, "best-effort", None),
        ({"topologyPolicies": ["Unheard"]}, None, None),
        (
            {
                "attributes": [{"name": "topologyManagerScope", "value": "pod"}],
                "topologyPolicies": ["SingleNUMANodeContainerLevel"],
            },
            "single-numa-node",
            "pod",
        ),
    ],
)
def test_the_policy_of_the_kubelet_is_kept(said: dict[str, Any], policy: str | None, scope: str | None) -> None:
    version = "v1alpha1" if "attributes" not in said else "v1alpha2"
    zones = topology(zone("node-0", {GPU: "4"}), **said, apiVersion=f"topology.node.k8s.io/{version}")
    labels = only_node(imported(node("n", FOUR, {GPU: "4"}), zones))["labels"]

    assert labels.get("hetero-ops/topology-policy") == policy
    assert labels.get("hetero-ops/topology-scope") == scope


def test_zones_of_nodes_that_were_not_exported_make_no_nodes() -> None:
    other = topology(zone("node-0", {GPU: "4"}), metadata={"name": "elsewhere"})

    assert only_node(imported(node("n", FOUR, {GPU: "4"}), other))["name"] == "n"


def test_a_list_of_zones_alone_makes_nodes() -> None:
    listed = {"kind": "NodeResourceTopologyList", "items": []}
    with pytest.raises(InvalidDocument, match="no node among the objects"):
        imported(listed)
    with pytest.raises(InvalidDocument, match="a NodeResourceTopology without a name"):
        imported(topology(metadata={}))
    with pytest.raises(InvalidDocument, match="more than 1024 devices in one node"):
        imported(topology(zone("node-0", {GPU: "4000000000"})))


@pytest.mark.parametrize(
    ("labels", "rdma"),
    [
        ({"feature.node.kubernetes.io/rdma.capable": "true"}, ["rdma"]),
        ({"feature.node.kubernetes.io/rdma.available": "true"}, ["rdma"]),
        ({"feature.node.kubernetes.io/rdma.capable": "false"}, None),
        ({}, None),
    ],
)
def test_remote_memory_access_is_known_only_where_a_label_says_so(
    labels: dict[str, str], rdma: list[str] | None
) -> None:
    assert only_node(imported(node("n", labels, {"rdma/hca": "8"}))).get("rdma") == rdma
