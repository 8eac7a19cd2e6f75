"""Plans against the best that there are: an integer programme over every way to place every step."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero_ops.placement.batch import Step
from hetero_ops.placement.fleet import Fleet

pytest.importorskip("highspy")

HOST = st.tuples(
    st.integers(1, 12),
    st.sampled_from(["H100-SXM5-80GB", "A100-SXM4-80GB", "L4"]),
    st.integers(0, 4),
)
REQUEST = st.sampled_from(
    ["gpu:1", "gpu:2", "gpu:0.5", "gpu:0.3", "H100:1", "A100:2", "H100:1 | L4:2", "H100:2 fabric", "cpu:2", "cpu:5"]
)
STEP = st.tuples(REQUEST, st.integers(0, 2), st.integers(0, 2))


def fleet(hosts):
    nodes = [
        {"name": f"n{at}", "cpu_milli": cores * 1000, "memory_mib": 65536}
        | ({"devices": [{"sku": sku, "count": count}]} if count else {})
        for at, (cores, sku, count) in enumerate(hosts)
    ]
    return Fleet.from_document(
        {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "here", "nodes": nodes}]}
    )


def steps_of(drawn):
    return [Step(request, priority, age) for request, priority, age in drawn]


def by_level(plan, objective):
    """What is placed, level by level."""
    levels = {}
    for step, decision in zip(plan.steps, plan.decisions, strict=True):
        key = (-step.priority, -step.age_s) if objective == "order" else (0, 0)
        text = str(step.request)
        cores = int(text.split(":")[1]) if text.startswith("cpu") else None
        share = float(text.split("|", maxsplit=1)[0].split(maxsplit=1)[0].split(":")[1])
        value = max(cores, 1) if cores is not None else round(1000 * share)
        levels[key] = levels.get(key, 0) + (value if decision.ok else 0)
    return [levels[key] for key in sorted(levels)]


@settings(max_examples=40)
@given(st.lists(HOST, min_size=1, max_size=3), st.lists(STEP, min_size=1, max_size=8))
def test_no_plan_is_better_than_the_exact_one_and_the_search_is_near(hosts, drawn):
    here, steps = fleet(hosts), steps_of(drawn)
    for objective in ("order", "allocation"):
        exact = here.place_all(steps, solver="exact", objective=objective)
        best = by_level(exact, objective)
        for solver in ("greedy", "search", "genetic"):
            plan = here.place_all(steps, solver=solver, objective=objective, steps=150, threads=1)
            assert by_level(plan, objective) <= best, solver
            assert plan.report["value"] <= plan.report["bound"]
            if objective == "allocation":
                assert exact.report["value"] <= plan.report["bound"], "a bound is one"
        assert sum(best) == exact.report["value"]
