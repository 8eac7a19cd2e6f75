"""One job on 1,000 nodes: a decision of `aware` against the genetic planner on the same job, in the same run."""

import random

import pytest

from hetero_ops import Fleet

MODELS = ["A100-SXM4-80GB", "A100-SXM4-40GB", "T4", "L4"]
GENERATIONS = 4
CHILDREN = 8


@pytest.fixture(scope="module")
def half_full() -> Fleet:
    """1,000 nodes of 8 devices, steps of 1 to 4 on about half of them; seeded."""
    nodes = [
        {"name": f"n{i:04}", "cpu_milli": 96_000, "devices": [{"sku": MODELS[i % len(MODELS)], "count": 8}]}
        for i in range(1000)
    ]
    head = {"apiVersion": "hetero-ops/v1", "kind": "Fleet"}
    fleet = Fleet.from_document({**head, "clusters": [{"name": "one", "nodes": nodes}]})
    draw = random.Random(1)
    for _ in range(2000):
        fleet.commit(fleet.place(f"gpu:{draw.choice((1, 1, 2, 4))}"))
    return fleet


@pytest.mark.benchmark(group="one job of 4 devices on 1,000 nodes, half full")
@pytest.mark.parametrize("solver", ["aware", "genetic"])
def test_one_job(benchmark, half_full, solver):
    if solver == "aware":
        assert benchmark(half_full.place, "gpu:4").ok
    else:
        setting = {"solver": "genetic", "steps": GENERATIONS * CHILDREN, "threads": 1}
        plan = benchmark.pedantic(half_full.place_all, (["gpu:4"],), setting, rounds=3)
        assert plan.report["placed"] == 1
