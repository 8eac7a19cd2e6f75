import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.kubernetes import Imported, read_cluster
from tests.inventory.kube import AMD, GFD, codes, imported, node, only_node, text

EXAMPLE = Path(__file__).parents[2] / "examples" / "fleets" / "kube-mixed.json"


def read_file(path: Path) -> Imported:
    return read_cluster([read_text(path.read_bytes(), path.name)], Catalog.builtin())


def nodes_of(result: Imported) -> dict[str, dict[str, Any]]:
    return {found["name"]: found for found in result.document["clusters"][0]["nodes"]}


def test_the_packaged_example_is_the_one_that_is_shown() -> None:
    packaged = files("hetero_ops.inventory") / "data" / "kube-mixed.json"

    assert packaged.read_bytes() == EXAMPLE.read_bytes()


def test_the_example_is_a_fleet_of_three_vendors() -> None:
    result = read_file(EXAMPLE)
    found = nodes_of(result)
    devices = {
        name: [(group["sku"], group["count"]) for group in each.get("devices", [])] for name, each in found.items()
    }
    in_use = {name: sum(len(use.get("devices", [])) for use in each.get("used", [])) for name, each in found.items()}

    assert result.document["clusters"][0]["region"] == "eu-west"
    assert devices == {
        "amd-mi300x-01": [("MI300X", 8)],
        "amd-mi300x-02": [("MI300X", 8)],
        "cpu-01": [],
        "cpu-02": [],
        "intel-gaudi-01": [("unknown", 8)],
        "intel-max-01": [("Max-1550", 4)],
        "nv-a100-01": [("A100-SXM4-80GB", 4)],
        "nv-a100-02": [("A100-SXM4-80GB", 4)],
        "nv-h100-01": [("H100-SXM5-80GB", 8)],
        "nv-h100-02": [("H100-SXM5-80GB", 8)],
        "nv-l4-01": [("L4", 4)],
        "nv-t4-01": [("T4", 4)],
    }
    assert {name: count for name, count in in_use.items() if count} == {
        "amd-mi300x-02": 3,
        "intel-max-01": 1,
        "nv-a100-01": 2,
        "nv-h100-01": 4,
        "nv-h100-02": 4,
        "nv-t4-01": 1,
    }
    assert codes(result) == ["UNLABELLED"]
    assert found["nv-h100-01"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert found["nv-h100-01"]["used"][1] == {
        "owner": "pod team-a/train-llm-0",
        "devices": [0, 1, 2, 3],
        "cpu_milli": 64000,
        "memory_mib": 786432,
        "since": "2026-11-29T06:30:00Z",
        "priority": 100,
        "assumed": True,
    }


def test_three_vendors_and_an_unlabelled_node_make_one_finding() -> None:
    result = imported(
        node("nv", GFD, {"nvidia.com/gpu": "8"}),
        node("amd", AMD, {"amd.com/gpu": "8"}),
        node("xe", {"gpu.intel.com/product": "Max_1550"}, {"gpu.intel.com/xe": "4"}),
        node("bare", {}, {"nvidia.com/gpu": "2"}),
    )

    assert {name: found["devices"][0]["sku"] for name, found in nodes_of(result).items()} == {
        "nv": "A100-SXM4-40GB",
        "amd": "MI300X",
        "xe": "Max-1550",
        "bare": "unknown",
    }
    assert [(finding.code, finding.node) for finding in result.findings] == [("UNLABELLED", "bare")]


def test_a_label_of_another_vendor_names_nothing() -> None:
    result = imported(node("n", {"cloud.google.com/gke-accelerator": "nvidia-l4"}, {"amd.com/gpu": "1"}))

    assert only_node(result)["devices"] == [{"sku": "unknown", "vendor": "amd", "class": "gpu", "count": 1}]


@pytest.mark.parametrize(
    ("labels", "resources", "sku"),
    [
        ({"cloud.google.com/gke-accelerator": "nvidia-l4"}, {"nvidia.com/gpu": "1"}, "L4"),
        ({"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}, {"google.com/tpu": "4"}, "TPU-v6e"),
        ({"node.kubernetes.io/npu.chip.name": "910B3"}, {"huawei.com/Ascend910": "8"}, "Ascend-910B3"),
        ({}, {"huawei.com/Ascend910B4": "8"}, "Ascend-910B4"),
        ({"hetero-ops/product": "Gaudi3-HL-325L"}, {"habana.ai/gaudi": "8"}, "Gaudi3-HL-325L"),
        ({"gpu.intel.com/device-id.0300-e211.count": "2"}, {"gpu.intel.com/xe": "2"}, "Arc-Pro-B60"),
        ({"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"}, {"amd.com/gpu": "8"}, "MI300X"),
    ],
)
def test_each_vendor_has_its_own_labels(labels: dict[str, str], resources: dict[str, str], sku: str) -> None:
    result = imported(node("n", labels, resources))

    assert [group["sku"] for group in only_node(result)["devices"]] == [sku]
    assert result.findings == ()


@pytest.mark.parametrize(
    ("key", "vendor", "accelerator_class"),
    [
        ("habana.ai/gaudi", "intel", "npu"),
        ("cambricon.com/mlu", "cambricon", "npu"),
        ("aws.amazon.com/neuron", "aws", "npu"),
        ("kunlunxin.com/xpu", "kunlunxin", "npu"),
        ("metax-tech.com/gpu", "metax", "gpu"),
    ],
)
def test_a_key_alone_gives_vendor_and_class(key: str, vendor: str, accelerator_class: str) -> None:
    result = imported(node("n", {}, {key: "4"}))

    assert only_node(result)["devices"] == [
        {"sku": "unknown", "vendor": vendor, "class": accelerator_class, "count": 4}
    ]
    assert codes(result) == ["UNLABELLED"]


def test_keys_are_matched_whole() -> None:
    companions = {"nvidia.com/gpumem": "90000", "huawei.com/Ascend910B3-memory": "65536", "rdma/hca": "8"}
    result = imported(node("n", {}, companions | {"example.com/xpu": "4"}))

    assert "devices" not in only_node(result)
    assert codes(result) == ["UNKNOWN_RESOURCE"]


def test_one_silicon_under_two_keys_is_counted_once() -> None:
    result = imported(node("n", {}, {"aws.amazon.com/neuron": "16", "aws.amazon.com/neuroncore": "128"}))

    assert [group["count"] for group in only_node(result)["devices"]] == [16]


@pytest.mark.parametrize(
    ("labels", "resources"),
    [
        (GFD, {"nvidia.com/gpu": "4"}),  # labels count eight cards
        (GFD | {"nvidia.com/gpu.memory": "81920"}, {"nvidia.com/gpu": "8"}),  # no A100 of 40 GB has that
        ({"amd.com/gpu.device-id.74a1": "4", "amd.com/gpu.device-id.740f": "4"}, {"amd.com/gpu": "8"}),
        (
            {f"gpu.intel.com/device-id.0380-{device_id}.present": "true" for device_id in ("0bd5", "56c0")},
            {"gpu.intel.com/i915": "2"},
        ),
    ],
)
def test_labels_that_cannot_be_true_name_no_model(labels: dict[str, str], resources: dict[str, str]) -> None:
    result = imported(node("n", labels, resources))

    assert [group["sku"] for group in only_node(result)["devices"]] == ["unknown"]
    assert codes(result) == ["MODEL_AMBIGUOUS"]


def test_a_label_that_changed_without_the_hardware_names_no_model() -> None:
    other = GFD | {"nvidia.com/gpu.product": "NVIDIA-A100-PCIE-40GB"}
    first, second = (text(node("n", labels, {"nvidia.com/gpu": "8"})) for labels in (GFD, other))

    steady = read_cluster([first, first], Catalog.builtin())
    assert only_node(steady)["devices"][0]["sku"] == "A100-SXM4-40GB"
    flipping = read_cluster([first, second], Catalog.builtin())
    assert only_node(flipping)["devices"] == [{"sku": "unknown", "vendor": "nvidia", "class": "gpu", "count": 8}]
    assert codes(flipping) == ["MODEL_AMBIGUOUS"]


def test_cards_that_nobody_offers_are_said() -> None:
    assert codes(imported(node("n", GFD, {"nvidia.com/gpu": "0"}))) == ["NOT_OFFERED"]
    assert codes(imported(node("n", AMD))) == ["NOT_OFFERED"]


def test_what_is_not_allocatable_is_unhealthy_at_the_highest_ids() -> None:
    result = imported(node("n", GFD, {"nvidia.com/gpu": "8"}, allocatable={"nvidia.com/gpu": "6"}))

    assert [(group["count"], group.get("health")) for group in only_node(result)["devices"]] == [
        (6, None),
        (2, "unhealthy"),
    ]
    assert codes(result) == ["ALLOCATABLE_BELOW_CAPACITY"]


def test_state_follows_cordon_and_readiness() -> None:
    cordoned, lost = node("a"), node("b")
    cordoned["spec"]["unschedulable"] = True
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    result = imported(cordoned, lost)

    assert {name: found["state"] for name, found in nodes_of(result).items()} == {"a": "cordoned", "b": "maintenance"}
    assert codes(result) == ["NODE_NOT_READY"]


def test_nodes_are_read_in_every_form_the_api_has() -> None:
    plain = {key: value for key, value in node("n").items() if key != "kind"}
    for value in ([node("n")], {"kind": "NodeList", "items": [plain]}, node("n")):
        result = read_cluster([read_text(json.dumps(value), "f")], Catalog.builtin(), "west")
        assert only_node(result)["name"] == "n"
        assert result.document["clusters"][0]["name"] == "west"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ('{"kind": "List", "items": []}', "no node among the objects"),
        ('{"kind": "Pod", "metadata": {"name": "a"}}', "pods without their nodes"),
        ('{"kind": "List", "items": {}}', "expected a list"),
        ('{"kind": "List", "items": [1]}', "expected a mapping"),
        ('{"kind": 1}', "expected text"),
        ("{}", "without a kind"),
        ('{"kind": "Node", "metadata": {"name": "a", "labels": {"b": 1}}}', "expected text, found 1"),
        (
            '{"kind": "Node", "metadata": {"name": "a"}, "status": {"capacity": {"amd.com/gpu": "5000"}}}',
            "at most 4096",
        ),
        (
            '{"kind": "Node", "metadata": {"name": "a"}, "status": {"capacity": {"amd.com/gpu": "2000"}}}',
            "more than 1024",
        ),
        ('{"kind": "Node", "metadata": {"name": "a"}, "spec": {"taints": [{"key": "a"}]}}', "without an effect"),
    ],
)
def test_what_is_no_output_of_kubernetes_is_refused(value: str, what: str) -> None:
    with pytest.raises(InvalidDocument, match=what):
        read_cluster([read_text(value, "f")], Catalog.builtin())


def test_other_objects_are_left_out() -> None:
    assert codes(imported(node("n"), {"kind": "Service"}, {"kind": "Service"})) == ["NOT_A_NODE"]
