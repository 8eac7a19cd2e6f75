"""The speed of a whole replay, policy by policy, one core: what counts is the ratio to fgd in the same run."""

import pytest

TASKS = "openb/openb_pod_list_default.csv"


@pytest.mark.benchmark(group="replay the default trace of openb, 10,802 decisions, one core")
@pytest.mark.parametrize("policy", ["fgd", "first-fit", "best-fit", "aware"])
def test_replay(benchmark, openb, test_data, policy):
    report = benchmark.pedantic(
        openb.simulate, (test_data(TASKS),), {"policies": [policy], "threads": 1}, rounds=3, warmup_rounds=1
    )
    (run,) = report["runs"]
    benchmark.extra_info.update(run["decision_us"] | {"placing_s": run["seconds"]})
    assert run["decisions"] > 10_000


@pytest.mark.benchmark(group="replay the default trace of openb, 10,802 decisions, one core")
def test_replay_of_a_function(benchmark, openb, test_data):
    policy = {"policies": [lambda _, candidates: candidates[0]], "threads": 1}
    benchmark.pedantic(openb.simulate, (test_data(TASKS),), policy, rounds=1)


@pytest.mark.benchmark(group="replay the default trace of openb with time, 7,255 tasks, one core")
@pytest.mark.parametrize("policy", ["fgd", "aware"])
def test_replay_with_time(benchmark, openb, test_data, policy):
    setting = {"policies": [policy], "threads": 1, "squeeze": 400}
    report = benchmark.pedantic(openb.simulate_timed, (test_data(TASKS),), setting, rounds=3, warmup_rounds=1)
    assert report["runs"][0]["started"] == 7255
