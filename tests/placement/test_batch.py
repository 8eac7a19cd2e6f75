"""Plans of many steps: what a person gives, what comes back, and the published trace."""

import csv
import json
import os
import signal
import threading
import time
from collections import defaultdict

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


def test_power_budgets_and_shares_by_memory_are_kept():
    budget = node("a", "4xH100-SXM5-80GB", power_budget_mw=1_500_000)  # two of 700 W
    plan = fleet(budget).place_all(["H100:1"] * 4, **QUICK)
    assert sum(decision.ok for decision in plan.decisions) == 2
    by_memory = {"choices": [{"models": ["L4"], "share": {"memory": "10GB"}}]}
    plan = fleet(node("b", "1xL4")).place_all([by_memory] * 3, **QUICK)
    assert sum(decision.ok for decision in plan.decisions) == 2, "24 GB hold two of 10"


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
    steps, _ = read_batch(file)
    assert [(step.name, step.priority, step.age_s) for step in steps] == [
        (None, None, 0),
        ("tune", 3, 7200),
        ("tune", 3, 7200),
        (None, None, 0),
    ]
    file.write_text('["L4:1", "L4:2"]')
    assert [str(step.request) for step in read_batch(file)[0]] == ["L4", "L4:2"]


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


@pytest.mark.usefixtures("_heeds_ctrl_c")
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


def checked(nodes, tasks, run):
    """Checks a plan with sums of its own, from the two files alone; the share of devices that it allocates."""
    hosts = {row["sn"]: row for row in csv.DictReader(nodes.read_text().splitlines())}
    rows = csv.DictReader(tasks.read_text().splitlines())
    # Tasks are of one class when they ask for the same, whatever the order of the models.
    classes = list(dict.fromkeys((*(row[key] for key in ASKED), frozenset(row["gpu_spec"].split("|"))) for row in rows))
    cpu, memory, shares = defaultdict(int), defaultdict(int), defaultdict(int)
    for planned in run["planned"]:
        host = planned["node"]
        if host is None:
            continue
        task_cpu, task_memory, count, share, models = classes[planned["task_class"]]
        assert len(set(planned["devices"])) == len(planned["devices"]) == int(count)
        assert all(device < int(hosts[host]["gpu"]) for device in planned["devices"])
        assert models == {""} or count == "0" or hosts[host]["model"] in models
        cpu[host] += int(task_cpu)
        memory[host] += int(task_memory)
        for device in planned["devices"]:
            shares[host, device] += int(share) if count == "1" else 1000
    assert all(used <= int(hosts[host]["cpu_milli"]) for host, used in cpu.items())
    assert all(used <= int(hosts[host]["memory_mib"]) for host, used in memory.items())
    assert all(used <= 1000 for used in shares.values())
    return sum(shares.values()) / sum(1000 * int(host["gpu"]) for host in hosts.values())


ASKED = ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli")


@pytest.mark.parametrize(
    ("trace", "least", "bound"),
    [("default", 0.998, 0.9990), ("gpuspec33", 0.993, 0.9979), ("gpushare60", 0.965, 0.974)],
)
def test_published_traces_fill_the_fleet(test_data, trace, least, bound):
    nodes, tasks = (test_data(f"openb/openb_{name}.csv") for name in ("node_list_gpu_node", f"pod_list_{trace}"))
    searches = [Search(solver, "allocation", 100, 5000, threads=2) for solver in ("greedy", "search")]
    report = Fleet.load(nodes).simulate_batch(tasks, searches, with_tasks=True)
    greedy, search = report["runs"]
    assert report["devices"] == 6212
    for run in report["runs"]:
        assert checked(nodes, tasks, run) == pytest.approx(run["allocated_ratio"], abs=1e-12)
    assert search["allocated_ratio"] > least
    assert search["allocated_ratio"] <= search["allocated_bound_ratio"] <= bound + 5e-4
    assert greedy["value"] <= search["value"] <= search["bound"]
