import json

import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.placement.decision import Placement
from hetero_ops.placement.fleet import Fleet
from tests.placement.sample import H100, JSON, fleet, node

KW = 1_000_000


def classic(of: Fleet, request: str, **asked: JSON) -> JSON:
    decision = of.place(request, policy="classic", **asked)
    assert isinstance(decision, Placement), decision.why()
    answer: JSON = json.loads(decision.to_json())
    return answer


def term(answer: JSON, name: str) -> JSON:
    (found,) = (term for term in answer["terms"] if term["name"] == name)
    return found


def test_performance_is_the_affinity_of_the_device() -> None:
    answer = classic(fleet(node("a", f"8x{H100}")), "H100:8 >=40GB bf16")
    assert answer["policy"] == "classic"
    assert [(term["name"], term["weight"]) for term in answer["terms"]] == [
        *(("performance", 50), ("topology", 25), ("fragmentation", 15), ("power", 10))
    ]
    expected = float(Catalog.builtin()[H100].affinity("H100:8 >=40GB bf16", preset="classic"))
    assert term(answer, "performance")["value"] == pytest.approx(expected / 100, abs=1e-4)
    assert "compute 13.2/40.0 (989.4 TFLOPS bf16), bandwidth 14.0/25.0" in term(answer, "performance")["why"]


def test_it_prefers_the_fastest_card_and_aware_the_one_that_suffices() -> None:
    two = fleet(node("a", f"1x{H100}"), node("b", "1xL4"))
    assert two.place("gpu:1", policy="classic").nodes == ["a"]
    assert two.place("gpu:1").nodes == ["b"]


def test_int8_goes_to_the_fastest_int8_device_and_never_to_one_that_nearly_lost_it() -> None:
    mixed = fleet(node("a", "1xA100-SXM4-80GB"), node("b", "1xB300-SXM6-270GB"), node("c", f"1x{H100}"))
    assert mixed.place("gpu int8", policy="classic").nodes == ["c"]
    (reason,) = mixed.explain("gpu int8", policy="classic")["choices"][0]["reasons"]
    assert (reason["code"], reason["nodes"]) == ("PRECISION_UNSUPPORTED", ["b"])


POWER = [
    (3.5, (0, 1, 2, 3), 0, "devices draw up to 3500 of 3500 W, estimated by TDP"),
    (3.4, (0, 1, 2, 3), -20, "devices draw up to 3500 of 3400 W, estimated by TDP"),
    (0.7, (), 0, "devices draw up to 700 of 700 W, estimated by TDP"),
    (0.699, (), -20, "devices draw up to 700 of 699 W, estimated by TDP"),
    (None, (0, 1), 0, "not judged: no power budget is stated"),
]


@pytest.mark.parametrize(("budget_kw", "used", "penalty", "why"), POWER)
def test_missing_power_headroom_costs_its_term_and_twenty_points(
    budget_kw: float | None, used: tuple[int, ...], penalty: int, why: str
) -> None:
    budget = {} if budget_kw is None else {"power_budget_mw": int(budget_kw * KW)}
    answer = classic(fleet(node("a", f"8x{H100}", used=used, **budget)), "H100:1")
    power = term(answer, "power")
    assert (power["value"], power["why"]) == (0 if penalty else 1, why)
    assert [(p["name"], p["points"], p["why"]) for p in answer["penalties"]] == (
        [("power_headroom", penalty, why)] if penalty else []
    )
    points = sum(term["points"] for term in answer["terms"])
    assert answer["score"] == pytest.approx(max(0, points + penalty), abs=1e-3)


def test_a_part_used_device_counts_whole_and_once() -> None:
    half = {"owner": "x", "devices": [0], "share_milli": 500}
    shared = fleet(node("a", f"1x{H100}", power_budget_mw=7 * KW // 10) | {"used": [half]})
    assert classic(shared, "H100:0.25")["penalties"] == []


UNKNOWN = {"sku": "unknown", "class": "gpu", "model": "G9", "count": 1}
SLICE = {"sku": "A100-SXM4-40GB", "partition": "1g.5gb", "memory_mib": 4864, "count": 1}


@pytest.mark.parametrize(("group", "request_"), [(UNKNOWN, "gpu"), (SLICE, "A100/1g.5gb")])
def test_what_is_not_known_to_draw_too_much_is_not_penalised(group: JSON, request_: str) -> None:
    answer = classic(fleet(node("a", group, power_budget_mw=1)), request_)
    assert answer["penalties"] == []
    assert term(answer, "power")["why"] == "not judged: the TDP of a device is unknown"


def test_the_score_never_falls_below_zero() -> None:
    weights = {"performance": 0, "topology": 0, "fragmentation": 0, "power": 1}
    answer = classic(fleet(node("a", f"1x{H100}", power_budget_mw=1)), "H100", weights=weights)
    assert (answer["score"], answer["penalties"][0]["points"]) == (0, -20)


def test_nodes_that_differ_in_their_budget_only_are_told_apart() -> None:
    two = fleet(node("a", "1xL4", power_budget_mw=1), node("b", "1xL4", power_budget_mw=KW))
    assert two.place("L4", policy="classic").nodes == ["b"]
    assert two.place("L4").nodes == ["b"]
    assert two.place({"models": ["L4"], "power": {"cap_ok": True}}).nodes == ["b"]


def test_cores_are_placed_too() -> None:
    answer = classic(fleet(node("a", cpu_milli=8000, power_budget_mw=1)), "cpu:4")
    assert (term(answer, "performance")["why"], answer["penalties"]) == ("no device asked", [])


def test_words_and_explanation_show_the_penalty() -> None:
    tight = fleet(node("a", f"1x{H100}", power_budget_mw=1))
    line = "    power_headroom penalty        -20.0  devices draw up to 700 of 0 W, estimated by TDP"
    assert line in tight.place("H100", policy="classic").why().splitlines()
    (candidate,) = tight.explain("H100", policy="classic")["choices"][0]["candidates"]
    assert candidate["penalties"][0]["name"] == "power_headroom"
    assert [reason["code"] for reason in tight.explain("H100")["choices"][0]["reasons"]] == ["POWER_BUDGET"]


def test_one_weight_changes_no_value() -> None:
    one = fleet(node("a", f"8x{H100}", power_budget_mw=KW))
    weights = {"performance": 50, "topology": 25, "fragmentation": 15, "power": 10}
    before = classic(one, "H100:2", weights=weights)
    assert before["terms"] == classic(one, "H100:2")["terms"]
    after = classic(one, "H100:2", weights=weights | {"topology": 70})
    assert [t["value"] for t in before["terms"]] == [t["value"] for t in after["terms"]]
    assert before["penalties"] == after["penalties"]


MIXED = (node("a", f"8x{H100}", used=(0,)), node("b", "8xMI300X"), node("c", "4xL4"))


@pytest.mark.parametrize("policy", ["aware", "classic"])
def test_all_scores_of_a_request(policy: str) -> None:
    request = "H100:2 | gpu:2 >=40GB | cpu:2"
    mixed = fleet(*MIXED, node("d", cpu_milli=4000))
    report, explanation = mixed.score(request, policy=policy), mixed.explain(request, policy=policy)
    scores = [row["score"] for row in report["candidates"]]
    assert scores == sorted(scores, reverse=True)
    told = [
        (choice["choice"], candidate["node"], candidate["devices"], candidate["score"], candidate["terms"])
        for choice in explanation["choices"]
        for candidate in choice["candidates"]
    ]
    rows = sorted(report["candidates"], key=lambda row: row["choice_index"])
    assert [(row["choice"], row["node"], row["devices"], row["score"], row["terms"]) for row in rows] == told
    assert report["refusals"] == [reason for choice in explanation["choices"] for reason in choice["reasons"]]
    affinities = {row["node"]: row["affinity"] for row in rows if row["choice_index"] > 0}
    catalog = Catalog.builtin()
    assert affinities == {
        "a": float(catalog[H100].affinity("gpu:2 >=40GB", preset=policy)),
        "b": float(catalog["MI300X"].affinity("gpu:2 >=40GB", preset=policy)),
        "d": None,
    }


def test_every_kind_of_the_fleet_has_its_affinity() -> None:
    report = fleet(*MIXED, node("d", UNKNOWN)).score("gpu:1 fp8 | gpu:2", policy="classic")
    rows = [(row["choice_index"], row["kind"], row["code"]) for row in report["kinds"]]
    assert [row for row in rows if row[2]] == [(0, "G9", "PRECISION_UNSUPPORTED")]
    assert [kind for index, kind, _ in rows if index == 1] == ["MI300X", H100, "L4", "G9"]
    values = [row["affinity"] for row in report["kinds"] if row["choice_index"] == 1]
    assert values == sorted(values, reverse=True)
    assert values[-1] == 0.1  # nothing is known of it, and it can serve
    assert report["kinds"][-1]["sku"] is None
