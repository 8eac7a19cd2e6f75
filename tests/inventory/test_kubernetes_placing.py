"""What an imported cluster answers: a label that is missing or lies must never place a step on the wrong device."""

import json
from typing import Any

import pytest

from hetero_ops import Fleet
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.kubernetes import read_cluster
from tests.inventory.kube import AMD, GFD, codes, imported, node, text

T4 = {"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.count": "4", "nvidia.com/gpu.memory": "15360"}
CHIP = {"node.kubernetes.io/npu.chip.name": "910B3", "accelerator": "huawei-Ascend910"}
NVIDIA_NODES = [node(f"nv-{index}", GFD, {"nvidia.com/gpu": "8"}) for index in range(2)]
ASCEND_NODES = [node(f"npu-{index}", CHIP, {"huawei.com/Ascend910": "8"}) for index in range(2)]


def fleet_of(*nodes: dict[str, Any]) -> Fleet:
    return Fleet.from_document(imported(*nodes).document)


def candidates(fleet: Fleet, request: str) -> list[str]:
    """The nodes that fit, the best first."""
    (choice,) = fleet.explain(request)["choices"]
    return [each["node"] for each in choice["candidates"]]


def refusals(fleet: Fleet, request: str) -> dict[str, list[str]]:
    """Nodes that do not fit, by reason."""
    refused = json.loads(fleet.place(request).to_json())
    assert refused["verdict"] == "impossible"
    return {reason["code"]: reason["nodes"] for reason in refused["reasons"]}


def test_only_the_vendor_that_is_asked_for_judges_a_node() -> None:
    both, alone = fleet_of(*NVIDIA_NODES, *ASCEND_NODES), fleet_of(*ASCEND_NODES)

    assert set(candidates(both, "npu:2")) == {"npu-0", "npu-1"}
    assert candidates(both, "npu:2") == candidates(alone, "npu:2")
    assert refusals(both, "npu:9") == {"NOT_OFFERED": ["nv-0", "nv-1"], "COUNT_SHORT": ["npu-0", "npu-1"]}


def test_a_request_without_a_vendor_considers_every_vendor() -> None:
    fleet = fleet_of(
        *NVIDIA_NODES,
        node("amd", AMD, {"amd.com/gpu": "8"}),
        node("xe", {"gpu.intel.com/product": "Max_1550"}, {"gpu.intel.com/xe": "4"}),
        node("bare", {}, {"nvidia.com/gpu": "2"}),
    )

    assert set(candidates(fleet, "gpu:1")) == {"nv-0", "nv-1", "amd", "xe", "bare"}
    assert set(candidates(fleet, "gpu:1 >=80GB")) == {"amd", "xe"}


def test_a_model_is_never_placed_where_no_label_names_it() -> None:
    fleet = fleet_of(node("a", {}, {"nvidia.com/gpu": "8"}), node("b", {}, {"nvidia.com/gpu": "8"}))

    assert refusals(fleet, "A100:1") == {"MODEL_MISMATCH": ["a", "b"]}
    assert fleet.place("nvidia:1").ok


def test_a_node_whose_labels_flip_serves_only_who_asks_for_no_model() -> None:
    other = GFD | {"nvidia.com/gpu.product": "NVIDIA-L40S", "nvidia.com/gpu.memory": "46068"}
    snapshots = [text(node("n", labels, {"nvidia.com/gpu": "8"})) for labels in (GFD, other)]
    result = read_cluster(snapshots, Catalog.builtin())
    fleet = Fleet.from_document(result.document)

    assert codes(result) == ["MODEL_AMBIGUOUS"]
    for request in ("A100:1", "A100-40GB:1", "L40S:1", "gpu:1 >=24GB", "gpu:1 bf16"):
        assert not fleet.place(request).ok, request
    for request in ("nvidia:1", "gpu:8"):
        assert fleet.place(request).ok, request


def test_a_mixed_node_of_amd_serves_a_model_only_where_keys_tell() -> None:
    counted = {"amd.com/gpu.device-id.740f": "4", "amd.com/gpu.device-id.74a1": "4"}
    one_key = fleet_of(node("n", counted, {"amd.com/gpu": "8"}))
    two_keys = fleet_of(node("n", counted, {"amd.com/gpu": "4", "amd.com/spx_nps1": "4"}))

    assert one_key.place("amd:8").ok
    assert not one_key.place("MI300X:1").ok
    assert two_keys.place("MI300X:4").ok
    assert not two_keys.place("MI300X:5").ok


def test_a_stale_partition_mode_serves_no_request_for_a_partition() -> None:
    mode = {"amd.com/gpu.compute-memory-partition": "cpx_nps4"}
    stale = imported(node("n", AMD | mode, {"amd.com/gpu": "8"}))  # eight cards in this mode are 64 devices
    right = fleet_of(node("n", AMD | mode, {"amd.com/gpu": "64"}))

    assert codes(stale) == ["PARTITION_STALE"]
    for request in ("MI300X/cpx_nps4:1", "amd/*/cpx_nps4:1", "MI300X:1", "gpu:1 >=24GB"):
        assert not Fleet.from_document(stale.document).place(request).ok, request
    assert right.place("MI300X/cpx_nps4:64").ok
    assert not right.place("MI300X:1").ok


@pytest.mark.parametrize(
    ("label", "request_", "is_meant"),
    [
        ("NVIDIA-A100-SXM4-40GB", "A100-40GB:1", True),
        ("NVIDIA-A100-SXM4-40GB", "A100-80GB:1", False),
        ("A100-SXM4-40GB", "A100:1", True),
        ("NVIDIA-L40S", "L40S:1", True),
        ("NVIDIA-L40S", "L40:1", False),
        ("NVIDIA-L40", "L40S:1", False),
        ("Tesla-V100-SXM2-16GB", "V100:1", True),
        ("Tesla-V100-SXM2-16GB", "V100-32GB:1", False),
        ("NVIDIA-H100-80GB-HBM3", "H100:1", True),
        ("NVIDIA-H100-NVL", "H100-80GB:1", False),
        ("NVIDIA-A10G", "A10:1", False),
        ("NVIDIA-GeForce-RTX-4090", "RTX-4090:1", True),
    ],
)
def test_variants_are_not_taken_for_one_another(label: str, request_: str, *, is_meant: bool) -> None:
    fleet = fleet_of(node("n", {"nvidia.com/gpu.product": label}, {"nvidia.com/gpu": "1"}))

    assert fleet.place(request_).ok is is_meant


def test_a_share_is_asked_for_in_bytes() -> None:
    a80 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.count": "8"}
    fleet = fleet_of(
        node("forty", GFD, {"nvidia.com/gpu": "8"}),
        node("eighty", a80, {"nvidia.com/gpu": "8"}),
        node("sixteen", T4, {"nvidia.com/gpu": "4"}),
    )

    # A quarter of 40 GB is 10 GB, of 80 GB 20 GB, of 16 GB 4 GB.
    assert set(candidates(fleet, "gpu:0.25 >=10GB")) == {"forty", "eighty"}
    assert set(candidates(fleet, "gpu:0.25 >=20GB")) == {"eighty"}
    assert set(candidates(fleet, "gpu:0.75 >=12GB")) == {"forty", "eighty", "sixteen"}


def test_a_partition_is_never_taken_for_a_card() -> None:
    fleet = fleet_of(
        node("mig", GFD | {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}, {"nvidia.com/gpu": "8"}),
        node("sgpu", {}, {"metax-tech.com/sgpu": "8"}),
        node("vnpu", {}, {"huawei.com/Ascend910-16c": "2"}),
    )

    for request in ("A100:1", "gpu:1", "npu:1", "nvidia:1"):
        assert not fleet.place(request).ok, request
    assert fleet.place("A100/1g.5gb:1").ok


def test_chips_that_are_named_as_faulty_get_no_step() -> None:
    marked = {"huawei.com/Ascend910-Unhealthy": "Ascend910-0,Ascend910-1"}
    fleet = fleet_of(node("n", CHIP, {"huawei.com/Ascend910": "8"}, annotations=marked))

    placed = fleet.place("npu:6")
    assert sorted(device.id for device in placed.devices) == [2, 3, 4, 5, 6, 7]
    assert not fleet.place("npu:7").ok
