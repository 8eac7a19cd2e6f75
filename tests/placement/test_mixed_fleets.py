"""What a mix of vendors answers: one request for all of them, and no device that only looks as if it would do."""

import json

import pytest

from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from tests.placement.sample import A100_40, H100, H100_PCIE, JSON, fleet, node

A100 = "A100-SXM4-80GB"
B300 = "B300-SXM6-270GB"
NVIDIA = node("nv", f"8x{H100}")
AMD = node("amd", "8xMI300X")


def candidates(of: Fleet, request: str) -> list[str]:
    """The nodes that fit the first choice, the best first."""
    return [candidate["node"] for candidate in of.explain(request)["choices"][0]["candidates"]]


def refusals(of: Fleet, request: str) -> dict[str, set[str]]:
    """The nodes that do not fit the first choice, by reason."""
    found: dict[str, set[str]] = {}
    for reason in of.explain(request)["choices"][0]["reasons"]:
        found.setdefault(reason["code"], set()).update(reason["nodes"])
    return found


NEUTRAL = [
    "gpu",
    "gpu:8 >=80GB bf16 fabric",
    "gpu fp8 >=24GB",
    "gpu:0.25 >=10GB",
    "tier-a:8 mem=hbm",
    "accel:4 compute>=900 bw>=3TB/s bf16",
    "80GB+:2",
]


@pytest.mark.parametrize("request_", NEUTRAL)
def test_a_request_without_a_vendor_fits_every_vendor(request_: str) -> None:
    assert candidates(fleet(NVIDIA), request_) == ["nv"]
    assert candidates(fleet(AMD), request_) == ["amd"]
    assert set(candidates(fleet(NVIDIA, AMD), request_)) == {"nv", "amd"}


LARGE = {"H200-SXM-141GB", "B200-SXM-180GB", "MI300X", "Gaudi3-HL-325L"}


@pytest.mark.parametrize("request_", ["accel >=100GB", "accel:8 >=100GB", "accel:100GB+:4"])
def test_a_hundred_gigabytes_are_offered_by_exactly_four_of_these(request_: str) -> None:
    mixed = fleet(*(node(sku, f"8x{sku}") for sku in (*LARGE, H100, A100, "L40S")))
    assert set(candidates(mixed, request_)) == LARGE
    assert {row["node"] for row in mixed.score(request_)["candidates"]} == LARGE
    assert refusals(mixed, request_) == {"MEMORY_TOO_SMALL": {H100, A100, "L40S"}}
    assert set(candidates(mixed, request_.replace("accel", "gpu"))) == LARGE - {"Gaudi3-HL-325L"}


def test_a_device_of_80_gb_never_serves_192() -> None:
    mixed = fleet(NVIDIA, node("pcie", f"8x{H100_PCIE}"), AMD)
    assert candidates(mixed, "gpu >=192GB fp8") == ["amd"]
    refused = fleet(NVIDIA).place("gpu >=192GB fp8")
    assert isinstance(refused, NoFit)
    assert (refused.verdict, refused.codes) == ("impossible", ["MEMORY_TOO_SMALL"])


def test_storage_in_a_precision_is_less_than_computing_in_it() -> None:
    old = fleet(node("a", f"1x{A100}"))
    assert old.place("gpu fp8").codes == ["PRECISION_UNSUPPORTED"]
    assert old.place("gpu fp8:weight").nodes == ["a"]
    assert candidates(fleet(node("a", f"1x{A100}"), node("h", f"1x{H100}")), "gpu fp8") == ["h"]


# By INT8 the RTX 4090 is before the A100, by BF16 it is behind; B300 has next to no INT8.
INT8 = ("MI300X", H100, "RTX-4090", A100, "T4")


@pytest.mark.parametrize("policy", ["classic", "aware"])
def test_int8_is_judged_by_the_int8_rate(policy: str) -> None:
    report = fleet(*(node(sku, f"1x{sku}") for sku in (*INT8, B300))).score("gpu int8", policy=policy)
    compute = {
        row["kind"]: next(term["value"] for term in row["terms"] if term["name"] == "compute")
        for row in report["kinds"]
        if row["code"] is None
    }
    assert sorted(compute, key=lambda kind: -compute[kind]) == list(INT8)
    assert [row["kind"] for row in report["kinds"] if row["code"] == "PRECISION_UNSUPPORTED"] == [B300]
    assert B300 not in {row["node"] for row in report["candidates"]}
    assert [(reason["code"], reason["nodes"]) for reason in report["refusals"]] == [("PRECISION_UNSUPPORTED", [B300])]


def test_a_need_of_speed_ranks_by_the_rate_asked() -> None:
    devices = (H100, "RTX-4090", A100, "T4")
    rows = fleet(*(node(sku, f"1x{sku}") for sku in devices)).score("gpu int8 kind=training")["candidates"]
    assert [row["node"] for row in rows] == list(devices)
    speeds = [term["value"] for row in rows for term in row["terms"] if term["name"] == "performance"]
    assert speeds == sorted(set(speeds), reverse=True)


CPX: JSON = {"sku": "MI300X", "partition": "cpx_nps4", "count": 8}


def test_a_card_cut_in_eight_is_eight_devices_of_24_gb_and_whole_one_of_192() -> None:
    def shown(of: Fleet) -> list[tuple[str | None, int, int | None]]:
        return [(row["kind"], row["devices"], row["memory_mib"]) for row in of.overview()]

    cut, whole = fleet(node("cpx", CPX)), fleet(node("spx", "1xMI300X"))
    assert shown(cut) == [("MI300X/cpx_nps4", 8, 24 * 1024)]
    assert shown(whole) == [("MI300X", 1, 192 * 1024)]
    assert [grant.id for grant in cut.place("MI300X/cpx_nps4:8").devices] == list(range(8))
    assert cut.place("MI300X/cpx_nps4:9").codes == ["COUNT_SHORT"]
    assert not cut.place("MI300X/cpx_nps4 >=25GB").ok


def test_memory_of_a_partition_is_never_that_of_the_card() -> None:
    both = fleet(node("cpx", CPX), node("spx", "1xMI300X"))
    assert candidates(both, "gpu >=192GB") == ["spx"]
    assert candidates(both, "MI300X") == ["spx"]
    assert candidates(both, "amd/*/cpx_nps4 >=24GB") == ["cpx"]


def test_eight_ranks_prefer_the_switch_over_pcie_cards_of_the_same_model() -> None:
    report = fleet(node("pcie", f"8x{H100_PCIE}"), node("switch", f"8x{H100}")).score("H100:8")
    assert [row["node"] for row in report["candidates"]] == ["switch", "pcie"]
    topology = [term["value"] for row in report["candidates"] for term in row["terms"] if term["name"] == "topology"]
    assert topology[0] > topology[1]


def topology_of(numa: list[int]) -> float:
    one = fleet(node("a", {"sku": "L40S", "count": len(numa), "numa": numa}))
    answer: JSON = json.loads(one.place(f"L40S:{len(numa)}").to_json())
    return float(next(term["value"] for term in answer["terms"] if term["name"] == "topology"))


def test_a_split_over_numa_nodes_costs_fifteen_percent_of_the_topology() -> None:
    assert topology_of([0, 1]) == pytest.approx(0.85 * topology_of([0, 0]))
    near = {"sku": "L40S", "count": 2, "numa": [0, 0]}
    far = {"sku": "L40S", "count": 2, "numa": [0, 1]}
    report = fleet(node("far", far), node("near", near)).score("L40S:2")
    assert [row["node"] for row in report["candidates"]] == ["near", "far"]


def test_a_share_is_judged_by_its_bytes_on_each_card() -> None:
    two = fleet(node("forty", f"1x{A100_40}"), node("eighty", f"1x{A100}"))
    assert set(candidates(two, "gpu:0.25 >=10GB")) == {"forty", "eighty"}
    assert candidates(two, "gpu:0.25 >=20GB") == ["eighty"]
    assert refusals(two, "gpu:0.25 >=20GB") == {"MEMORY_TOO_SMALL": {"forty"}}
    granted = two.place("gpu:0.25 >=20GB")
    assert isinstance(granted, Placement)
    assert granted.memory_mib == 20 * 1024


CPU = node("host", cpu_milli=4000)


@pytest.mark.parametrize(
    ("nodes", "placed"),
    [([NVIDIA, CPU], "nv"), ([CPU], "host"), ([node("npu", "2xGaudi3-HL-325L"), NVIDIA, CPU], "npu")],
)
def test_cores_are_the_last_choice(nodes: list[JSON], placed: str) -> None:
    decision = fleet(*nodes).place("npu:2 | gpu:1 | cpu")
    assert decision.nodes == [placed]


ASCEND = [node(f"npu-{index}", "8xAscend-910B3") for index in range(2)]


def test_nodes_of_another_vendor_neither_block_nor_rank() -> None:
    nvidia = [
        node(f"nv-{index}", "8xL40S", taints=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]) for index in range(2)
    ]
    both, alone = fleet(*nvidia, *ASCEND), fleet(*ASCEND)
    for request in ("npu:2", "910B3:8", "huawei:1"):
        assert candidates(both, request) == candidates(alone, request) == ["npu-0", "npu-1"]
    assert refusals(both, "npu:2") == {"NOT_OFFERED": {"nv-0", "nv-1"}}
    assert both.place("npu:2").nodes == alone.place("npu:2").nodes
