"""The speed of a whole replay, policy by policy, one core: what counts is the ratio to fgd in the same run."""

import sys
from statistics import fmean

import pytest

from hetero_ops import _core
from hetero_ops.gap.catalog import Catalog
from hetero_ops.placement.simulation import read_trace

TASKS = "openb/openb_pod_list_default.csv"
ARRIVAL_MILLI, SQUEEZE_MILLI, PATIENCE_S = 1300, 400_000, 3600


@pytest.fixture(scope="module")
def trace(test_data):
    """The trace as the core reads it: reading the file is not measured."""
    return read_trace(test_data(TASKS), Catalog.default(), with_times=True)


def first(_task, candidates):
    return candidates[0]


@pytest.mark.benchmark(group="replay the default trace of openb, 10,802 decisions, one core")
@pytest.mark.parametrize("policy", ["fgd", "first-fit", "aware"])
def test_replay(benchmark, openb, trace, policy):
    asked = (openb._core, trace, [(policy, None)], [42], ARRIVAL_MILLI, 1)
    benchmark.pedantic(_core.simulate, asked, rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group="replay the default trace of openb, 10,802 decisions, one core")
def test_replay_of_a_function(benchmark, openb, trace):
    benchmark.pedantic(_core.simulate, (openb._core, trace, [("first", first)], [42], ARRIVAL_MILLI, 1), rounds=1)


@pytest.mark.benchmark(group="replay the default trace of openb with time, 7,255 tasks, one core")
@pytest.mark.parametrize("policy", ["fgd", "aware"])
def test_replay_with_time(benchmark, openb, trace, policy):
    asked = (openb._core, trace, [(policy, None)], [42], ["backfill"], SQUEEZE_MILLI, PATIENCE_S, 1)
    benchmark.pedantic(_core.simulate_timed, asked, rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group="placing only, against fgd")
def test_ratio_to_fgd(benchmark, openb, test_data, capsys):
    policies = ["fgd", "first-fit", "aware"]
    asked = {"policies": policies, "seeds": range(42, 45), "threads": 1}
    report = benchmark.pedantic(openb.simulate, (test_data(TASKS),), asked, rounds=1)
    runs = {policy: [run for run in report["runs"] if run["policy"] == policy] for policy in policies}
    seconds = {policy: fmean(run["seconds"] for run in of_policy) for policy, of_policy in runs.items()}
    with capsys.disabled():
        for policy, of_policy in runs.items():
            p50, p99 = (fmean(run["decision_us"][part] for run in of_policy) for part in ("p50", "p99"))
            sys.stdout.write(
                f"\n{policy}: {seconds[policy]:.2f} s placing, {seconds[policy] / seconds['fgd']:.2f} times fgd; "
                f"decision p50 {p50:.1f} us, p99 {p99:.1f} us"
            )
