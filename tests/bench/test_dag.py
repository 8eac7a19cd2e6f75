"""Pipelines: how long planning takes against placing step by step, and how many wait that need not."""

import random
import sys

import pytest

from hetero_ops.placement.pipeline import PipelineStep
from tests.placement.sample import fleet, node
from tests.placement.test_dag import large
from tests.property.test_dag_invariants import TIGHT, least_given_up, ordered, together

CASES = 1500


@pytest.mark.benchmark(group="a pipeline on 1,213 nodes")
@pytest.mark.parametrize("count", [10, 100, 1000])
@pytest.mark.parametrize("way", ["place_dag", "place and commit"])
def test_seconds(benchmark, openb, way, count):
    steps = large(count)

    def one_by_one():
        holds = [openb.commit(openb.place(step.request)) for step in steps]
        for hold in holds:
            openb.release(hold)

    if way == "place_dag":
        assert benchmark.pedantic(openb.place_dag, (steps,), rounds=3).ok
    else:
        benchmark.pedantic(one_by_one, rounds=3)


@pytest.mark.benchmark(group="300 steps side by side on ten nodes, most of which have to wait")
def test_side_by_side(benchmark):
    here = fleet(*[node(f"n{at}", "8xL4") for at in range(10)])
    steps = [PipelineStep(f"s{at}", f"L4:{at % 8 + 1}") for at in range(300)]
    assert benchmark.pedantic(here.place_dag, (steps,), rounds=3).waits


@pytest.mark.benchmark(group="random pipelines of 3 to 7 steps on three nodes")
def test_waiting(benchmark, capsys):
    here = fleet(node("a", "4xH100-SXM5-80GB"), node("b", "4xA100-SXM4-80GB"), node("c", "2xL4"))
    drawn = random.Random(5)

    def pipeline():
        count = drawn.randint(3, 7)
        asked = [drawn.choice(TIGHT) for _ in range(count)]
        return [
            PipelineStep(f"s{at}", asked[at], tuple(f"s{i}" for i in range(at) if drawn.random() < 0.3))
            for at in range(count)
        ]

    pipelines = [pipeline() for _ in range(CASES)]
    plans = benchmark.pedantic(lambda: [here.place_dag(steps) for steps in pipelines], rounds=1)
    possible = without = as_good = 0
    for steps, plan in zip(pipelines, plans, strict=True):
        least = least_given_up(steps, list(together(ordered(steps), [step.name for step in steps])))
        given_up = sum(decision.choice_index for decision in plan.decisions.values())
        possible += least is not None
        without += least is not None and not plan.waits
        as_good += least is not None and not plan.waits and given_up == least
    with capsys.disabled():
        sys.stdout.write(
            f"\nof {CASES} pipelines {possible} can run without waiting, by trying all ways; "
            f"{without} of their plans do, {as_good} of them on as early choices as the best\n"
        )
