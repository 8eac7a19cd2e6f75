"""`@task.accelerated` in a real Airflow: every DAG runs once, and the tests look at what became of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from hetero_ops import Fleet, Placement
from hetero_ops.inject.environment import environment
from hetero_ops.placement.decision import Decision
from tests.airflow.conftest import EXAMPLES, RunPython

pytestmark = [pytest.mark.airflow, pytest.mark.timeout(300)]  # the first test waits for all runs


def tasks(runs: dict[str, Any], dag: str) -> dict[str, Any]:
    return dict(runs[dag]["tasks"])


def only_task(runs: dict[str, Any], dag: str) -> dict[str, Any]:
    (task,) = tasks(runs, dag).values()
    return dict(task)


def decision(task: dict[str, Any]) -> Decision:
    return Decision.from_json(json.dumps(task["xcom"]["accelerators"]))


def test_the_example_runs_and_only_training_takes_its_second_choice(runs: dict[str, Any]) -> None:
    found = {
        name: (task["state"], task["xcom"]["accelerators"]["verdict"], task["xcom"]["accelerators"]["choice"])
        for name, task in tasks(runs, "mixed_fleet").items()
    }

    assert found == {
        "prepare[-1]": ("success", "placed", "cpu"),
        "train[-1]": ("success", "degraded", "MI300X"),
        "distill[-1]": ("success", "placed", "A100"),
        "evaluate[-1]": ("success", "placed", "gpu"),
    }


@pytest.mark.parametrize("name", ["prepare", "train", "distill", "evaluate"])
def test_a_process_of_the_example_sees_what_was_decided(runs: dict[str, Any], name: str) -> None:
    task = tasks(runs, "mixed_fleet")[f"{name}[-1]"]
    reported = json.loads(task["xcom"]["return_value"].splitlines()[-1])
    placement = decision(task)

    assert isinstance(placement, Placement)
    given = environment(placement).values
    # How CUDA numbers its devices is set as well, but the process does not report it.
    assert {key: reported[key] for key in given if key != "CUDA_DEVICE_ORDER"} == {
        key: value for key, value in given.items() if key != "CUDA_DEVICE_ORDER"
    }


def test_training_sees_its_eight_devices_and_nothing_that_filters_twice(runs: dict[str, Any]) -> None:
    reported = json.loads(tasks(runs, "mixed_fleet")["train[-1]"]["xcom"]["return_value"].splitlines()[-1])

    assert reported["ROCR_VISIBLE_DEVICES"] == "0,1,2,3,4,5,6,7"
    assert "CUDA_VISIBLE_DEVICES" not in reported


def test_a_decision_survives_xcom(runs: dict[str, Any]) -> None:
    for dag in runs:
        for task in tasks(runs, dag).values():
            if "accelerators" in task["xcom"]:
                assert json.loads(decision(task).to_json()) == task["xcom"]["accelerators"]


def test_the_trace_id_belongs_to_the_task_run(runs: dict[str, Any], fleet_file: Path) -> None:
    key = f"mixed_fleet/train/{runs['mixed_fleet']['run_id']}/-1"
    again = Fleet.load(fleet_file).place("H100:8 | MI300X:8 where >=80GB bf16 fabric", key=key)

    assert again == decision(tasks(runs, "mixed_fleet")["train[-1]"])


@pytest.mark.parametrize(
    ("dag", "tries"),
    [("impossible", 1), ("several_nodes", 1), ("unknown_name", 1), ("no_fleet_file", 1), ("busy", 2), ("cut_first", 2)],
)
def test_only_what_can_change_is_worth_a_retry(runs: dict[str, Any], dag: str, tries: int) -> None:
    task = only_task(runs, dag)

    assert (task["state"], task["tries"]) == ("failed", tries)


@pytest.mark.parametrize("dag", ["impossible", "busy"])
def test_a_refusal_is_in_xcom(runs: dict[str, Any], dag: str) -> None:
    refusal = only_task(runs, dag)["xcom"]["accelerators"]

    assert refusal["verdict"] == dag
    assert refusal["reasons"][0]["want"] > refusal["reasons"][0]["have"]


@pytest.mark.parametrize("dag", ["environment", "async_callable"])
def test_the_callable_sees_its_devices_and_no_conflicting_variable(runs: dict[str, Any], dag: str) -> None:
    task = only_task(runs, dag)
    devices = [str(device["id"]) for device in task["xcom"]["accelerators"]["devices"]]

    assert len(devices) == 2
    assert task["xcom"]["return_value"] == ",".join([*devices, "unset"])


def test_the_environment_is_given_back_after_success_refusal_and_exceptions(runs: dict[str, Any]) -> None:
    assert only_task(runs, "raising")["state"] == "failed"
    assert {dag: run["environment_kept"] for dag, run in runs.items()} == dict.fromkeys(runs, True)


def test_mapped_tasks_are_placed_one_by_one(runs: dict[str, Any]) -> None:
    found = tasks(runs, "mapped")

    assert [found[f"shard[{index}]"]["xcom"]["return_value"] for index in (0, 1)] == [
        "11 on nv-t4-01",
        "12 on nv-t4-01",
    ]
    assert len({task["xcom"]["accelerators"]["trace_id"] for task in found.values()}) == 2


@pytest.mark.parametrize(("task", "asked"), [("by_xcom", "cpu:2"), ("by_template", "cpu:3"), ("by_override", "cpu:4")])
def test_the_requirement_may_be_known_only_when_the_task_runs(runs: dict[str, Any], task: str, asked: str) -> None:
    assert tasks(runs, "rendered")[f"{task}[-1]"]["xcom"]["accelerators"]["requirement"] == asked


@pytest.mark.usefixtures("runs")
def test_the_decisions_of_the_example_are_shown(run_python: RunPython) -> None:
    lines = run_python(str(EXAMPLES / "airflow" / "show_decisions.py")).splitlines()

    assert lines[0].split()[:5] == ["task", "verdict", "choice", "node", "devices"]
    assert lines[2].split()[:5] == ["train", "degraded", "MI300X", "amd-mi300x-01", "0,1,2,3,4,5,6,7"]
    assert "H100: NOT_ONE_ISLAND 4/8" in lines[2]
