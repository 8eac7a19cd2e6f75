import json

import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from tests.placement.sample import H100, H100_PCIE, JSON, fleet, node


def best(of: Fleet, request: str) -> tuple[str, list[int]]:
    decision = of.place(request)
    assert isinstance(decision, Placement), decision.why()
    return decision.nodes[0], [grant.id for grant in decision.devices]


def terms(of: Fleet, request: str) -> dict[str, float]:
    answer: JSON = json.loads(of.place(request).to_json())
    return {term["name"]: term["value"] for term in answer["terms"]}


@pytest.mark.parametrize("count", [2, 4, 8])
def test_a_job_of_several_prefers_the_switched_island(count: int) -> None:
    both = fleet(node("a", f"8x{H100_PCIE}"), node("b", f"8x{H100}"))
    assert best(both, f"H100:{count}") == ("b", list(range(count)))


@pytest.mark.parametrize("small", ["L4", "T4"])
def test_a_small_step_leaves_large_cards_alone(small: str) -> None:
    island = node("a", f"8x{H100}")
    broken = node("b", f"8x{H100}", used=tuple(range(1, 8)))
    assert best(fleet(island, broken, node("z", f"4x{small}")), "gpu:1 >=10GB") == ("z", [0])
    assert best(fleet(island, node("z", f"1x{small}")), "gpu:1 >=10GB") == ("z", [0])
    assert best(fleet(island, broken), "gpu:1 >=10GB") == ("b", [0])


def test_a_share_goes_where_shares_are() -> None:
    half = {"owner": "x", "devices": [2], "share_milli": 500}
    assert best(fleet(node("a", "4xL4") | {"used": [half]}), "gpu:0.5") == ("a", [2])


def test_crossing_numa_nodes_costs() -> None:
    near = {"sku": "L4", "count": 4, "numa": [0, 1, 1, 0]}
    assert best(fleet(node("a", near)), "L4:2") == ("a", [0, 3])
    apart = node("a", near, used=(0, 1))
    assert best(fleet(apart, node("b", near)), "L4:2") == ("b", [0, 3])
    assert terms(fleet(apart), "L4:2")["topology"] == 0.493
    assert terms(fleet(node("b", near)), "L4:2")["topology"] == 0.58
    assert terms(fleet(node("c", "2xL4")), "L4:2")["topology"] == 0.493  # unknown is not near


def test_an_island_is_nearer_than_a_numa_node_and_a_switch_nearer_than_a_mesh() -> None:
    pcie = terms(fleet(node("a", {"sku": H100_PCIE, "count": 8, "numa": 0})), "H100:8")["topology"]
    mesh = terms(fleet(node("a", "8xMI300X")), "MI300X:8")["topology"]
    switch = terms(fleet(node("a", f"8x{H100}")), "H100:8")["topology"]
    assert pcie < mesh < switch


def test_an_h100_has_80_gb_and_no_more() -> None:
    request = "gpu:1 >=192GB fp8"
    refused = fleet(node("a", f"8x{H100}")).place(request)
    assert isinstance(refused, NoFit)
    assert (refused.verdict, refused.codes) == ("impossible", ["MEMORY_TOO_SMALL"])
    (reason,) = json.loads(refused.to_json())["reasons"]
    assert (reason["have"], reason["want"]) == (80 * 1024, 192 * 1024)
    assert best(fleet(node("a", f"8x{H100}"), node("b", "8xMI300X")), request)[0] == "b"


LARGE = ("H200-SXM-141GB", "B200-SXM-180GB", "MI300X", "Gaudi3-HL-325L")


@pytest.mark.parametrize("sku", LARGE)
def test_a_hundred_gigabytes_fit_on_many_cards(sku: str) -> None:
    request = "accel:1 >=100GB"
    assert best(fleet(node("a", f"8x{H100}"), node("b", f"8x{sku}")), request)[0] == "b"
    candidates = fleet(*(node(name, f"8x{name}") for name in LARGE), node("h", f"8x{H100}")).explain(request)
    assert {candidate["node"] for candidate in candidates["choices"][0]["candidates"]} == set(LARGE)


def test_weights_are_data() -> None:
    near = {"sku": "L4", "count": 2, "numa": 0}
    two = fleet(node("a", "2xL4"), node("b", near, "1xL4"), mix=[{"request": "gpu:3", "weight": 1}])
    told = json.loads(
        two.place("L4:2", weights={"performance": 0, "topology": 1, "fragmentation": 0, "power": 1}).to_json()
    )
    assert [(term["name"], term["weight"]) for term in told["terms"]] == [
        *(("performance", 0), ("topology", 50), ("fragmentation", 0), ("power", 50))
    ]
    assert told["nodes"] == ["b"]


def achieved_bf16(profile: JSON) -> float:
    return float(profile["rates"]["bf16"] * profile["efficiency"].get("bf16", profile["default_efficiency"]))


def test_speed_relative_to_the_first_choice_names_its_source() -> None:
    answer = json.loads(fleet(node("a", "8xMI300X")).place("H100-SXM5-80GB:8 | MI300X:4 where bf16").to_json())
    granted, first = (Catalog.builtin()[sku].for_core() for sku in ("MI300X", H100))
    expected = 4 * achieved_bf16(dict(granted)) / (8 * achieved_bf16(dict(first)))
    assert answer["performance"]["source"] == "roofline"
    assert answer["performance"]["ratio"] == pytest.approx(expected, abs=1e-4)
    unknown = fleet(node("a", {"sku": "unknown", "class": "gpu", "model": "G9", "count": 1}))
    assert json.loads(unknown.place("H100 | gpu").to_json())["performance"] == {"ratio": None, "source": "unknown"}
