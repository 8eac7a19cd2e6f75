"""Speeds that were measured outrank those that a profile predicts."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from hetero_ops import Fleet, NoFit, Placement

TABLE = "workload,device,devices,throughput\nresnet,V100,1,4.3\nresnet,P100,1,10\nresnet,P100,4,32\nresnet,T4,1,0\n"


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    nodes = [
        {"name": name, "devices": [{"sku": sku, "count": 4}]}
        for name, sku in (("a", "V100-SXM2-16GB"), ("b", "P100-SXM2-16GB"), ("c", "T4"))
    ]
    document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "x", "nodes": nodes}]}
    (tmp_path / "fleet.json").write_text(json.dumps(document))
    (tmp_path / "t.csv").write_text(TABLE)
    return Fleet.load(tmp_path / "fleet.json", measured=tmp_path / "t.csv")


def step(*models: str, workload: str | None = "resnet", **clauses: Any) -> dict[str, Any]:
    choices = [{"models": [model], **clauses} for model in models]
    return {"accelerators": choices} | ({"workload": workload} if workload else {})


def performance(decision: Placement | NoFit) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(decision.to_json())["performance"]
    return found


def test_the_source_of_a_relative_speed_is_named(fleet: Fleet) -> None:
    full = {"models": ["P100"], "count": 8}
    decision = fleet.place({"accelerators": [full, {"models": ["V100"], "count": 4}], "workload": "resnet"})
    # The yardstick is 8 P100 at twice what 4 reach together; 4 V100 are 4 times what one reaches.
    assert performance(decision) == {
        "ratio": 0.2688,
        "source": "table t.csv, in proportion to 1 measured",
    }
    assert "speed relative to the first choice: 0.27 (table t.csv" in decision.why()


def test_what_was_not_measured_comes_from_the_roofline(fleet: Fleet) -> None:
    full = {"models": ["V100"], "count": 8}
    for workload in ("bert", None):
        asked: dict[str, Any] = {"accelerators": [full, {"models": ["P100"], "count": 4}]}
        decision = fleet.place(asked | ({"workload": workload} if workload else {}))
        assert performance(decision)["source"] == "roofline"


def test_a_floor_of_speed_compares_what_was_measured(fleet: Fleet) -> None:
    # By the sheet a V100 computes six times as fast as a P100.
    asked = {"accelerators": [{"models": ["P100"], "count": 8}, {"models": ["V100"], "count": 8}]}
    busy = {"accelerators": [{"models": ["P100"], "count": 8}, {"models": ["V100"], "perf": ">=0.9", "count": 4}]}
    assert not fleet.place(asked).ok
    assert fleet.place(busy).ok
    refused = fleet.place(busy | {"workload": "resnet"})
    assert isinstance(refused, NoFit)
    assert "PERF_BELOW_FLOOR" in refused.codes


def test_a_device_on_which_it_did_not_run_is_refused(fleet: Fleet) -> None:
    refused = fleet.place(step("T4"))
    assert isinstance(refused, NoFit)
    assert (refused.verdict, refused.codes[0]) == ("impossible", "PERF_BELOW_FLOOR")
    assert fleet.place(step("T4", workload=None)).ok


def test_of_equal_devices_the_measured_faster_one_is_scored_higher(fleet: Fleet) -> None:
    explained = fleet.explain({"accelerators": "gpu:1 kind=training", "workload": "resnet"})
    terms: dict[str, Any] = {}
    for candidate in explained["choices"][0]["candidates"]:
        terms[candidate["node"]] = next(term for term in candidate["terms"] if term["name"] == "performance")
    assert {node: term["value"] for node, term in terms.items()} == {"a": 0.43, "b": 1.0}
    assert terms["b"]["why"] == "measured against the fastest at resnet, table t.csv"
    assert explained["decision"]["nodes"] == ["b"]
    by_sheet = fleet.explain({"accelerators": "gpu:1 compute>=1 fp16", "workload": "bert"})
    assert {c["node"]: c["terms"][0]["value"] for c in by_sheet["choices"][0]["candidates"]}["a"] == 1.0


def test_the_table_is_part_of_the_question_it_answers(fleet: Fleet) -> None:
    again = pickle.loads(pickle.dumps(fleet))  # noqa: S301 - our own
    asked, other = step("V100"), step("V100", workload=None)
    assert again.place(asked) == fleet.place(asked)
    without = Fleet.from_json(fleet.to_json().replace(b'"throughput":4.3', b'"throughput":5.3'))
    assert without.place(asked).trace_id != fleet.place(asked).trace_id
    assert without.place(other).trace_id == fleet.place(other).trace_id
