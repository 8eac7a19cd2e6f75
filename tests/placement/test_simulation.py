"""The replay of traces: the published figures on the published trace, and what a person may get wrong."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest

from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.report import SimulationReport
from tests.placement.sample import JSON, fleet, node

# Share of all devices allocated in the end, mean of ten seeds, % (Weng et al., USENIX ATC 2023, and the results in
# hkust-adsl/kubernetes-scheduler-simulator). First-fit and worst-fit are not published: measured with the same
# protocol and five seeds.
PUBLISHED = {
    "random": 87.47,
    "worst-fit": 88.60,
    "dot-product": 90.85,
    "gpu-clustering": 91.88,
    "gpu-packing": 92.00,
    "best-fit": 93.08,
    "first-fit": 94.66,
    "fgd": 95.39,
}
FGD_AT_CAPACITY = 95.23
HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"


@pytest.fixture
def trace(tmp_path: Path) -> Callable[..., Path]:
    def write(*tasks: str) -> Path:
        file = tmp_path / "tasks.csv"
        file.write_text(HEADER + "".join(f"t{at},{task}\n" for at, task in enumerate(tasks)))
        return file

    return write


def host(name: str, *devices: str, memory_mib: int = 65_536) -> JSON:
    return node(name, *devices) | {"cpu_milli": 64_000, "memory_mib": memory_mib}


def replay(test_data: Callable[[str], Path], policies: list[str], seeds: range) -> SimulationReport:
    nodes, tasks = (test_data(f"openb/openb_{name}.csv") for name in ("node_list_gpu_node", "pod_list_default"))
    return Fleet.load(nodes).simulate(tasks, policies=policies, seeds=seeds)


def percent(report: SimulationReport, policy: str, level: str) -> float:
    runs = [run for run in report["runs"] if run["policy"] == policy]
    return 100 * fmean(run["allocated_ratio"][level] for run in runs)


def test_one_seed_of_fgd_is_near_the_published_mean(test_data):
    report = replay(test_data, ["fgd"], range(42, 43))
    assert (report["devices"], report["tasks"], report["mix"]) == (6212, 8152, "openb_pod_list_default.csv")
    assert abs(percent(report, "fgd", "1.3") - PUBLISHED["fgd"]) < 0.6  # single seeds differ by a few tenths
    (run,) = report["runs"]
    assert 10_000 < run["decisions"] < 12_000  # the trace asks for 0.98 of the capacity, so a third more comes
    assert run["allocated_ratio"]["0.9"] > 0.89
    assert run["seconds"] > 0 < run["decision_us"]["p50"] <= run["decision_us"]["p99"]


@pytest.mark.thorough
@pytest.mark.timeout(1800)
def test_many_seeds_give_the_published_figures(test_data):
    # Single seeds of random and the packing policies differ by 0.3 to 0.5, so the mean of ten is known to 0.15 only:
    # with forty the figures are near, or the rules are not those of the publication.
    report = replay(test_data, list(PUBLISHED), range(42, 82))
    found = {policy: round(percent(report, policy, "1.3"), 2) for policy in PUBLISHED}
    assert found == {policy: pytest.approx(figure, abs=0.3) for policy, figure in PUBLISHED.items()}


@pytest.mark.thorough
def test_ten_seeds_of_fgd_give_the_published_figures(test_data):
    report = replay(test_data, ["fgd"], range(42, 52))
    assert percent(report, "fgd", "1.0") == pytest.approx(FGD_AT_CAPACITY, abs=0.3)
    assert percent(report, "fgd", "1.3") == pytest.approx(PUBLISHED["fgd"], abs=0.3)


def test_a_trace_is_its_own_mix_and_changes_nothing(trace):
    small = fleet(host("a", "2xL4"))
    before = small.fragmentation()
    report = small.simulate(trace("1000,0,1,500,", "1000,0,1,500,"), policies=["fgd", "aware"], seeds=[1, 2], arrival=1)
    assert [(run["policy"], run["seed"]) for run in report["runs"]] == [
        ("fgd", 1),
        ("fgd", 2),
        ("aware", 1),
        ("aware", 2),
    ]
    assert all(run["allocated_ratio"] == {"0.9": 1.0, "1.0": 1.0} for run in report["runs"])
    assert small.fragmentation() == before


def test_host_memory_is_asked_for(trace):
    report = fleet(host("a", "2xL4", memory_mib=1000)).simulate(
        trace("1000,600,1,1000,"), policies=["first-fit"], arrival=1
    )
    assert (report["runs"][0]["decisions"], report["runs"][0]["failed"]) == (2, 1)


def test_only_permitted_models_are_taken(trace):
    both = fleet(host("a", "1xL4"), host("b", "1xT4"))
    report = both.simulate(trace("1000,0,1,1000,T4"), policies=["best-fit", "aware"], arrival=1)
    assert [run["allocated_ratio"]["1.0"] for run in report["runs"]] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("tasks", "told"),
    [
        (["1000,0,0,0,"], "no task asks for a device"),
        (["1000,0,1,0,"], r"tasks\.csv:2: gpu_milli is 0 for a task with a device; write a share from 1 to 1000"),
        (["1000,0,2,500,"], r"tasks\.csv:2: gpu_milli is 500 for 2 devices"),
        (["1000,x,1,500,"], r"tasks\.csv:2: memory_mib is 'x'"),
        ([], "no tasks"),
    ],
)
def test_a_broken_trace_is_refused(trace, tasks, told):
    with pytest.raises(InvalidDocument, match=told):
        fleet(host("a", "1xL4")).simulate(trace(*tasks))


@pytest.mark.parametrize("arrival", [0, -1, 11, float("nan"), float("inf"), 0.0001])
def test_an_arrival_that_cannot_be_is_refused(trace, arrival):
    with pytest.raises(InvalidDocument, match="write demand over capacity"):
        fleet(host("a", "1xL4")).simulate(trace("1000,0,1,500,"), arrival=arrival)


def test_an_unknown_policy_is_told_the_nearest(trace):
    with pytest.raises(InvalidRequirement, match='unknown policy "fdg"; did you mean "fgd"'):
        fleet(host("a", "1xL4")).simulate(trace("1000,0,1,500,"), policies=["fdg"])


def test_the_number_of_threads_changes_nothing(trace):
    some = fleet(host("a", "2xL4"), host("b", "2xT4"), host("c", "4xL4"))
    tasks = trace("1000,0,1,500,", "2000,0,1,300,L4", "1000,0,2,1000,", "4000,0,0,0,", "1000,0,1,1000,")
    policies = [*PUBLISHED, "aware"]
    one, many = (some.simulate(tasks, policies=policies, seeds=range(3), threads=threads) for threads in (1, 4))
    for run in one["runs"] + many["runs"]:
        run["seconds"], run["decision_us"] = 0, {"p50": 0, "p99": 0}
    assert one == many


def test_what_is_refused_is_told_by_size(trace):
    tasks = trace("1000,0,1,1000,", "1000,0,2,1000,", "1000,0,0,0,")
    report = fleet(host("a", "1xL4")).simulate(tasks, policies=["fgd"], arrival=3)
    (run,) = report["runs"]
    assert run["failed_by_size"] == {"0": 0, "1": run["failed"] - 1, "2": 1}


def test_policies_are_compared_seed_by_seed(trace):
    tasks = trace("1000,0,1,1000,", "1000,0,1,1000,", "1000,0,2,1000,")
    report = fleet(host("a", "2xL4"), host("b", "2xL4")).simulate(
        tasks, policies=["worst-fit", "fgd"], seeds=range(8), arrival=1, against="fgd"
    )
    (difference,) = report["differences"]
    assert (difference["policy"], difference["against"], difference["seeds"]) == ("worst-fit", "fgd", 8)
    mean = percent(report, "worst-fit", "1.0") - percent(report, "fgd", "1.0")
    found = difference["allocated_ratio"]["1.0"]
    assert found["mean"] == pytest.approx(mean / 100, abs=1e-6)
    assert found["low"] is not None
    assert found["high"] is not None
    assert found["low"] < found["mean"] < found["high"]


def test_one_seed_says_nothing_of_the_spread(trace):
    tasks = trace("1000,0,1,500,")
    report = fleet(host("a", "2xL4")).simulate(tasks, policies=["worst-fit", "fgd"], against="fgd", arrival=1)
    assert report["differences"][0]["allocated_ratio"]["1.0"] == {"mean": 0, "low": None, "high": None}


def test_a_baseline_that_is_not_replayed_is_refused(trace):
    with pytest.raises(InvalidRequirement, match='against "best-fit": it is not replayed here; name one of fgd'):
        fleet(host("a", "1xL4")).simulate(trace("1000,0,1,500,"), policies=["fgd"], against="best-fit")


def many(trace: Callable[..., Path]) -> tuple[Fleet, Path]:
    """What takes seconds to replay."""
    hosts = [host(f"n{at}", "8xL4") for at in range(2000)]
    return fleet(*hosts), trace(*[f"{1000 + at},0,1,{50 + at},X" for at in range(900)], "1000,0,1,10,L4")


def test_progress_is_told_and_what_it_raises_ends_the_replay(trace):
    large, tasks = many(trace)
    seen: list[tuple[int, int]] = []

    def show(done: int, expected: int) -> None:
        seen.append((done, expected))
        if done:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        large.simulate(tasks, policies=["fgd"], seeds=range(64), progress=show)
    assert 0 < seen[-1][0] < seen[-1][1]


@pytest.mark.usefixtures("_heeds_ctrl_c")
def test_ctrl_c_ends_a_replay_within_a_tenth_of_a_second(trace):
    large, tasks = many(trace)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        large.simulate(tasks, policies=["fgd"], seeds=range(640))
    assert time.monotonic() - sent[0] < 0.5  # a tenth, and what other processes take
