"""Compute units instead of a count: each model is asked for as few devices as do the work."""

import json

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.placement.decision import Placement
from tests.placement.sample import A100_40, H100, JSON, fleet, node

A100_UNITS = 2  # an A100 of 40 GB does 0.295 of the work of an H100, and so half a unit takes two


def placed(requirement: str, *nodes: JSON) -> tuple[list[str], int]:
    decision = fleet(*nodes).place(requirement)
    assert isinstance(decision, Placement), decision.why()
    return decision.nodes, len(decision.devices)


def test_each_model_is_asked_for_a_count_of_its_own() -> None:
    big, small, amd = node("big", f"8x{H100}"), node("small", f"8x{A100_40}"), node("amd", "8xMI300X")
    assert placed("gpu units=2.5", big) == (["big"], 3)
    assert placed("gpu units=1", big) == (["big"], 1)
    assert placed("gpu units=0.5", small) == (["small"], A100_UNITS)
    assert placed("gpu units=2.5", amd)[0] == ["amd"]
    assert placed("A100 units=0.5", big, small) == (["small"], A100_UNITS)


def test_the_best_candidate_over_all_models_wins() -> None:
    decision = fleet(node("big", f"8x{H100}"), node("small", f"8x{A100_40}")).explain("gpu units=2")
    rows = decision["choices"][0]["candidates"]
    assert {row["node"]: len(row["devices"]) for row in rows} == {"big": 2, "small": 7}
    assert decision["decision"]["nodes"] == [rows[0]["node"]]
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert decision["choices"][0]["reasons"] == []


def test_every_node_is_refused_by_the_count_of_its_own_model() -> None:
    nodes = node("big", f"1x{H100}"), node("small", f"8x{A100_40}", used=(0, 1, 2)), node("odd", "8xTPU-v5e")
    refused = fleet(*nodes).place("accel units=2")
    told = json.loads(refused.to_json())["reasons"]
    assert {name: (r["code"], r["have"], r["want"], r["is_permanent"]) for r in told for name in r["nodes"]} == {
        "big": ("COUNT_SHORT", 1, 2, True),
        "small": ("COUNT_SHORT", 5, 7, False),
        "odd": ("COMPUTE_TOO_LOW", None, None, True),
    }
    assert refused.verdict == "busy"


def test_nodes_give_as_many_as_do_the_work_together() -> None:
    one, two, three = (node(name, f"2x{H100}") for name in ("one", "two", "three"))
    assert placed("gpu units=3.5 nodes=2", one, two) == (["one", "two"], 4)
    assert placed("gpu units=2.5 nodes=2", one, two) == (["one", "two"], 4)  # as many on each
    assert placed("gpu units=2.5 nodes=1..3", one, two, three)[1] == 4  # two nodes before three
    assert placed("gpu units=1.5 nodes=1..3", one, two, three)[1] == 2
    assert placed("gpu units=4.5 nodes=1..3", one, two, three)[1] == 6
    small = [node(name, f"4x{A100_40}") for name in ("small", "little")]
    assert placed("gpu units=2 nodes=2", *small) == (["little", "small"], 8)  # four each are more than seven
    assert placed("gpu units=2 nodes=2", one, two, *small)[1] in {2, 8}


def test_nodes_that_cannot_do_the_work_together_are_told_so() -> None:
    nodes = node("one", f"2x{H100}", used=(0,)), node("two", f"2x{H100}"), node("odd", "8xTPU-v5e")
    refused = fleet(*nodes).place("accel units=4 nodes=2")
    told = json.loads(refused.to_json())["reasons"]
    assert {name: (r["code"], r["have"], r["want"], r["is_permanent"]) for r in told for name in r["nodes"]} == {
        "one": ("COUNT_SHORT", 1, 2, False),
        "two": ("NODES_SHORT", 1, 2, False),
        "odd": ("COMPUTE_TOO_LOW", None, None, True),
    }
    assert "lie on 2 nodes" in fleet(*nodes[1:], node("three", f"2x{H100}")).place("H100 units=4").why()
    assert fleet(*nodes).place("accel units=4 nodes=3").verdict == "impossible"


def test_a_mix_counts_devices() -> None:
    with pytest.raises(InvalidDocument, match="compute units are another count for each model"):
        fleet(node("big", f"8x{H100}"), mix=[{"request": "gpu units=2", "weight": 1}])


def test_speed_is_compared_with_what_the_first_choice_would_take() -> None:
    report = fleet(node("small", f"8x{A100_40}")).place("H100-SXM5-80GB units=2 | A100:4 perf>=0.9")
    assert "PERF_BELOW_FLOOR" in report.why()
    assert placed("H100-SXM5-80GB units=1 | A100:4 perf>=0.9", node("small", f"8x{A100_40}")) == (["small"], 4)
