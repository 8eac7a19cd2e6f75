"""Plans of many steps: what a person gives, what comes back, and the published trace."""

import json
import os
import signal
import threading
import time
from itertools import pairwise

import pytest

from hetero_ops import Fleet, InvalidDocument, InvalidRequirement, NoFit, Step
from hetero_ops.placement.batch import Search
from hetero_ops.placement.batch_file import read_batch
from tests.placement.sample import fleet, node

QUICK = {"steps": 200, "threads": 1}


def two_nodes():
    return fleet(node("a", "8xH100-SXM5-80GB"), node("b", "2xL4"))


def test_each_step_has_its_decision_in_order():
    here = two_nodes()
    plan = here.place_all(["H100:8", Step("L4:1", age_s=9), "L4:2", "MI300X:1"], **QUICK)
    assert [decision.verdict for decision in plan.decisions] == ["placed", "placed", "busy", "impossible"]
    assert (plan.report["placed"], plan.report["waiting"]) == (2, 2)
    assert [placement.choice for placement in plan.placements] == ["H100", "L4"]
    assert plan.report["allocated_ratio"] == pytest.approx(0.9)
    for placement in plan.placements:
        here.commit(placement)
    assert not here.place("H100:1").ok


def test_priority_then_age_then_allocation():
    here = fleet(node("a", "2xL4"))

    def placed(*steps, objective="order"):
        plan = here.place_all(steps, objective=objective, **QUICK)
        return [decision.ok for decision in plan.decisions]

    large, half = Step("L4:2", age_s=5), Step("L4:0.5", age_s=10)
    assert placed(large, half) == [False, True]
    assert placed(large, half, objective="allocation") == [True, False]
    assert placed(Step("L4:2", priority=1), half) == [True, False]
    urgent = {"choices": [{"models": ["L4"], "count": 2}], "priority": 3}
    assert placed(urgent, half) == [True, False], "the priority of the requirement"
    assert placed(Step(urgent, priority=-1), half) == [False, True], "that of the step goes before it"


def test_islands_alternatives_and_ranges_are_kept():
    here = fleet(node("a", "4xH100-SXM5-80GB"), node("b", "4xA100-SXM4-80GB"))
    steps = ["H100:4 fabric | A100:4 fabric", "H100:4 fabric | A100:4 fabric", "A100:1..4"]
    plan = here.place_all(steps, **QUICK)
    assert all(decision.score > 0 for decision in plan.placements)
    assert sorted(decision.verdict for decision in plan.decisions) == ["busy", "degraded", "placed"]
    assert plan.report["bound"] <= plan.report["asked"]


def test_a_step_over_several_nodes_is_one():
    here = fleet(*[node(name, "8xH100-SXM5-80GB") for name in "ab"])
    plan = here.place_all(["H100:16 nodes=2", "H100:1"], **QUICK)
    assert [decision.ok for decision in plan.decisions] == [True, False]
    assert plan.decisions[0].nodes == ["a", "b"]
    here.commit(plan.placements[0])


def test_limits_of_a_team_hold_over_the_whole_plan():
    here = Fleet.from_document(
        {
            "apiVersion": "hetero-ops/v1",
            "kind": "Fleet",
            "clusters": [{"name": "c", "nodes": [node("a", "4xL4")]}],
            "limits": [{"team": "vision", "per": "class", "name": "gpu", "devices": 2}],
        }
    )
    asked = {"choices": [{"models": ["L4"], "count": 1}], "team": "vision"}
    plan = here.place_all([asked] * 4, **QUICK)
    assert sum(decision.ok for decision in plan.decisions) == 2
    (reason,) = {code for decision in plan.decisions if isinstance(decision, NoFit) for code in decision.codes}
    assert reason == "QUOTA"


def test_a_plan_as_json():
    plan = two_nodes().place_all([Step("L4:1", name="small")], **QUICK)
    told = json.loads(plan.to_json())
    assert (told["solver"], told["objective"], told["placed"]) == ("search", "order", 1)
    assert (told["decisions"][0]["name"], told["decisions"][0]["verdict"]) == ("small", "placed")


def test_nothing_to_place_is_a_plan():
    plan = two_nodes().place_all([], **QUICK)
    assert (plan.decisions, plan.report["placed"], plan.report["gap"]) == ((), 0, 0)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"solver": "magic"}, "unknown solver 'magic'; there are greedy, search, genetic, exact"),
        ({"objective": "profit"}, "unknown objective 'profit'"),
        ({"time_limit_s": 0}, "time limit 0 s is not above 0"),
        ({"time_limit_s": float("nan")}, "time limit nan s is not above 0"),
        ({"weights": {"delta": 1}}, "unknown weight 'delta'"),
        ({"weights": {"alpha": -1}}, "weight alpha is -1"),
        ({"seed": -1}, "seed -1"),
    ],
)
def test_settings_that_are_none(settings, told):
    with pytest.raises(InvalidRequirement, match=told):
        two_nodes().place_all(["L4:1"], **settings)


def test_a_step_that_cannot_be_read_is_named():
    with pytest.raises(InvalidRequirement, match=r"step 2 \(tune\): 'H101' is a model that neither"):
        two_nodes().place_all(["L4:1", Step("H101:1", name="tune")])
    with pytest.raises(InvalidRequirement, match="step 1: an age of -1 s"):
        two_nodes().place_all([Step("L4:1", age_s=-1)])


def test_exact_refuses_what_it_does_not_know():
    pytest.importorskip("highspy")
    with pytest.raises(InvalidRequirement, match="exact plans know no such rule"):
        two_nodes().place_all(["H100:1..4"], solver="exact")


def test_a_file_of_steps(tmp_path):
    file = tmp_path / "steps.yaml"
    file.write_text(
        "steps:\n- L4:1\n- {request: 'H100:8', name: tune, priority: 3, age: 2h, times: 2}\n"
        "- choices: [{models: [L4]}]\n"
    )
    steps = read_batch(file)
    assert [(step.name, step.priority, step.age_s) for step in steps] == [
        (None, None, 0),
        ("tune", 3, 7200),
        ("tune", 3, 7200),
        (None, None, 0),
    ]
    file.write_text('["L4:1", "L4:2"]')
    assert [str(step.request) for step in read_batch(file)] == ["L4", "L4:2"]


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("steps: []", InvalidDocument, "no steps"),
        ("7", InvalidDocument, "no steps"),
        ("- {request: 'L4', prioritty: 1}", InvalidDocument, r"yaml:1: \[0\].prioritty: unknown key 'prioritty'"),
        ("- L4\n- {request: L4, priority: high}", InvalidDocument, r"yaml:2: \[1\].priority: a priority is"),
        ("- {request: L4, times: 0}", InvalidDocument, "`times` is a whole number"),
        ("- {request: L4, age: long}", InvalidDocument, "'long' is not a time"),
        ("- {request: L4, name: 7}", InvalidDocument, "a name is a text"),
        ("steps:\n- L4\n- 'L4 where nonsense'", InvalidRequirement, "yaml:3: unknown word 'nonsense'"),
    ],
)
def test_mistakes_in_a_file(tmp_path, text, error, told):
    file = tmp_path / "steps.yaml"
    file.write_text(text)
    with pytest.raises(error, match=told):
        read_batch(file)


def test_ctrl_c_ends_it_within_a_tenth_of_a_second(test_data):
    here = Fleet.load(test_data("openb/openb_node_list_gpu_node.csv"))
    steps = ["gpu:1", "gpu:0.3", "gpu:8", "cpu:4"] * 2500
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.5, send)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        here.place_all(steps, time_limit_s=60)
    assert time.monotonic() - sent[0] < 1, "a tenth on an idle machine"


def test_the_published_trace_fills_the_fleet(test_data):
    here = Fleet.load(test_data("openb/openb_node_list_gpu_node.csv"))
    searches = [Search(solver, "allocation", 60, 20_000, threads=2) for solver in ("greedy", "search")]
    report = here.simulate_batch(test_data("openb/openb_pod_list_default.csv"), searches)
    greedy, search = report["runs"]
    assert report["devices"] == 6212
    assert greedy["allocated_ratio"] > 0.985
    assert search["allocated_ratio"] > 0.998
    assert search["allocated_bound_ratio"] == pytest.approx(0.9990, abs=2e-4)
    assert search["gap"] < 5e-4
    assert search["cpu_only"][0] == search["cpu_only"][1]
    assert all(worse["value"] <= better["value"] for worse, better in pairwise(report["runs"]))
