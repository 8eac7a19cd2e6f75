"""`place` from Python at 1,213 nodes, against the slow reference in the same run: the ratio is what counts."""

import csv

import pytest

from hetero_ops import Catalog, Fleet, Requirement
from hetero_ops.gap.compile import _BLANK, compile_choice
from hetero_ops.inventory.openb import read_nodes
from tests.reference import fragmentation, placing
from tests.reference.reader import read_fleet

NODES = "openb/openb_node_list_gpu_node.csv"
TASKS = "openb/openb_pod_list_default.csv"


def requests(path):
    """The tasks of the trace that ask for devices, as requests."""
    with path.open(newline="") as file:
        for task in csv.DictReader(file):
            count, share_milli = int(task["num_gpu"]), int(task["gpu_milli"])
            if count:
                yield f"gpu:{count}" if share_milli == 1000 else f"gpu:{share_milli / 1000:g}"


@pytest.fixture(scope="module")
def half_full(openb, test_data):
    """The fleet after the first half of the tasks."""
    fleet = Fleet.from_json(openb.to_json())
    tasks = list(requests(test_data(TASKS)))
    for request in tasks[: len(tasks) // 2]:
        decision = fleet.place(request)
        if decision.ok:
            fleet.commit(decision)
    return fleet


@pytest.mark.benchmark(group="place one device, 1,213 nodes")
def test_place_empty(benchmark, openb):
    assert benchmark(openb.place, "gpu:1").ok


@pytest.mark.benchmark(group="place one device, 1,213 nodes")
def test_place_half_full(benchmark, half_full):
    assert benchmark(half_full.place, "gpu:1").ok


@pytest.mark.benchmark(group="place one device, 1,213 nodes")
def test_place_share_half_full(benchmark, half_full):
    assert benchmark(half_full.place, "gpu:0.46").ok


@pytest.mark.benchmark(group="place one device, 1,213 nodes")
def test_place_reference(benchmark, test_data):
    catalog = Catalog.builtin()
    document = read_nodes(test_data(NODES).read_bytes(), NODES, catalog)
    fleet = read_fleet(document, catalog)
    choices = [compile_choice(choice, catalog, ()) for choice in Requirement.parse("gpu:1").choices]
    mix = fragmentation.default_mix(fleet, _BLANK)
    answer = benchmark.pedantic(placing.place, (fleet, choices, mix), rounds=2)
    assert answer.verdict == "placed"


@pytest.mark.benchmark(group="a no-fit with all its reasons, 1,213 nodes")
def test_no_fit(benchmark, half_full):
    assert not benchmark(half_full.place, "gpu:8 >=80GB fabric").ok
