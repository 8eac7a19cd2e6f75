"""What has to be done before a step can start on a partition that a cut makes."""

import pytest

from hetero_ops import CutFirst, Fleet, Placement
from hetero_ops.inject.cutting import cut_first
from hetero_ops.inject.environment import environment


def placed(requirement: str, **device: object) -> Placement:
    node = {"name": "n", "pool": "cut", "devices": [device]}
    cluster = {"name": "here", "pools": [{"name": "cut", "repartition": True}], "nodes": [node]}
    decision = Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [cluster]}).place(
        requirement
    )
    assert isinstance(decision, Placement), decision.why()
    return decision


def test_slices_are_told_with_their_places() -> None:
    uuid = "GPU-5c0b9e63"
    lines = cut_first(placed("A100/3g.40gb:2", sku="A100-SXM4-80GB", id=3, uuid=uuid))
    assert lines[1:3] == (
        f"    nvidia-smi -i {uuid} -mig 1",
        f"    nvidia-smi mig -i {uuid} -cgi 3g.40gb:0,3g.40gb:4 -C",
    )


def test_a_mode_is_set_for_the_device() -> None:
    assert cut_first(placed("MI300X/cpx_nps1", sku="MI300X", count=2))[1:] == (
        "    amd-smi set --gpu 0 --compute-partition CPX",
        "then read the fleet anew and place the step again",
    )


def test_where_no_tool_is_known_words_remain() -> None:
    assert cut_first(placed("Max-1100/sriov-2", sku="Max-1100", count=1)) == (
        "device 0 of n (Max-1100) has to be cut into 2 x sriov-2 first",
        "then read the fleet anew and place the step again",
    )


def test_an_environment_does_not_pretend() -> None:
    with pytest.raises(CutFirst, match=r"device 0 of n .* first, on n:\n    nvidia-smi"):
        environment(placed("A100/7g.80gb", sku="A100-SXM4-80GB", count=1))


def test_devices_that_are_there_need_nothing() -> None:
    assert cut_first(placed("A100", sku="A100-SXM4-80GB", count=1)) == ()
