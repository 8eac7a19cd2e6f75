"""The replay with time: the trace's own times, the order of the queue, and what a person may get wrong."""

import pytest

from hetero_ops.errors import InvalidDocument, InvalidRequirement
from tests.placement.sample import fleet, node

HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time,scheduled_time\n"


@pytest.fixture
def trace(tmp_path):
    def write(*tasks, header=HEADER):
        file = tmp_path / "tasks.csv"
        file.write_text(header + "".join(f"t{at},1000,0,{task}\n" for at, task in enumerate(tasks)))
        return file

    return write


def one_node(devices):
    return fleet(node("a", f"{devices}xL4") | {"cpu_milli": 64_000, "memory_mib": 65_536})


def test_tasks_wait_run_and_end(trace):
    # created at 0 and 4, run for 10 (scheduled at 2, deleted at 12), and 10
    report = one_node(1).simulate_timed(trace("1,1000,,LS,0,12,2", "1,1000,,LS,4,14,4", "1,1000,,LS,9,,"[:-1] + "20,"))
    assert (report["tasks"], report["without_duration"], report["arrival_s"]) == (3, 1, 4)
    (run,) = report["runs"]
    assert (run["policy"], run["order"], run["seed"]) == ("aware", "backfill", 42)
    assert run["waiting_s"] == {"1": {"tasks": 2, "p50": 0, "p99": 6, "max": 6}}
    assert (run["started"], run["never_started"], run["retries"], run["kept"]) == (2, 0, 1, 0)
    assert run["allocated_ratio"] == 1
    assert len(run["allocated_over_time"]) == 100


def test_service_classes_are_priorities(trace):
    tasks = trace("1,1000,,BE,0,10,0", "1,1000,,BE,1,11,1", "1,1000,,Burstable,2,12,2", "2,1000,,LS,3,13,3")
    runs = one_node(2).simulate_timed(tasks, policies=["fgd"], orders=["backfill", "fifo"])["runs"]
    # backfill: 0 to 10 and 1 to 11 run; the pair is first in line at 11, then the burstable one
    assert [run["order"] for run in runs] == ["backfill", "fifo"]
    backfill, fifo = (run["waiting_s"] for run in runs)
    assert backfill["1"]["max"] == 8  # device free at 10, the pair does not fit, the other passes it
    assert backfill["2"]["max"] == 17  # until 20
    assert fifo["1"]["max"] == 8
    assert fifo["2"]["max"] == 17


def test_patience_keeps_a_node_for_a_pair(trace):
    singles = [f"1,1000,,BE,{5 * at},{5 * at + 10},{5 * at}" for at in range(60)]
    tasks = trace(*singles, "2,1000,,BE,7,17,7")
    waits = {
        patience_s: one_node(2).simulate_timed(tasks, policies=["fgd"], patience_s=patience_s)["runs"][0]
        for patience_s in (20, 3600)
    }
    assert waits[3600]["waiting_s"]["2"]["max"] == 298
    assert waits[20]["waiting_s"]["2"]["max"] == 28
    assert (waits[3600]["kept"], waits[20]["kept"]) == (0, 1)


def test_a_function_can_be_replayed_with_time(trace):
    tasks = trace("1,1000,,LS,0,12,2", "1,1000,,LS,4,14,4")
    runs = one_node(1).simulate_timed(tasks, policies=[lambda _, candidates: candidates[0], "first-fit"])["runs"]
    assert runs[0]["waiting_s"] == runs[1]["waiting_s"]


def test_a_learned_mix_with_time(trace):
    runs = one_node(1).simulate_timed(trace("1,1000,,LS,0,12,2"), with_learned_mix=True)["runs"]
    assert [run["policy"] for run in runs] == ["aware", "aware, learned mix"]


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ("1,1000,,LS,x,12,2", r"tasks\.csv:2: creation_time is 'x'; write an integer"),
        ("1,1000,,LS,5,12,2", r"tasks\.csv:2: created at 5, scheduled at 2, deleted at 12; write times in this order"),
        ("1,1000,,LS,5,6,7", r"tasks\.csv:2: created at 5, scheduled at 7, deleted at 6"),
        ("1,1000,,LS,5,6,", "no task ran"),
    ],
)
def test_broken_times_are_refused(trace, task, told):
    with pytest.raises(InvalidDocument, match=told):
        one_node(1).simulate_timed(trace(task))


def test_a_trace_without_times_is_refused(trace):
    tasks = trace("1,1000", header="name,cpu_milli,memory_mib,num_gpu,gpu_milli\n")
    with pytest.raises(InvalidDocument, match="no column creation_time, scheduled_time, deletion_time"):
        one_node(1).simulate_timed(tasks)


def test_settings_that_cannot_be_are_refused(trace):
    tasks = trace("1,1000,,LS,0,12,2")
    for squeeze in (0, -1, float("nan"), float("inf"), 2e6):
        with pytest.raises(InvalidDocument, match="squeeze"):
            one_node(1).simulate_timed(tasks, squeeze=squeeze)
    with pytest.raises(InvalidDocument, match="patience -1 s"):
        one_node(1).simulate_timed(tasks, patience_s=-1)
    with pytest.raises(InvalidRequirement, match='unknown order "lifo"; there are fifo and backfill'):
        one_node(1).simulate_timed(tasks, orders=["lifo"])


def test_large_steps_wait_less_than_under_fifo(test_data, tmp_path):
    # Every 20th node of the trace and times 20 times as close: the peak is above what there is.
    nodes = test_data("openb/openb_node_list_gpu_node.csv").read_text().splitlines()
    kept = [nodes[0], *sorted(nodes[1:], key=lambda line: (line.split(",")[4], line))[::20]]
    few = tmp_path / "nodes.csv"
    few.write_text("\n".join(kept))
    from hetero_ops import Fleet  # noqa: PLC0415

    report = Fleet.load(few).simulate_timed(
        test_data("openb/openb_pod_list_default.csv"), policies=["fgd"], orders=["fifo", "backfill"], squeeze=20
    )
    fifo, backfill = report["runs"]
    assert fifo["started"] == backfill["started"] == report["tasks"] - report["without_duration"]
    for size in ("1", "2", "4", "8"):
        assert backfill["waiting_s"][size]["p50"] <= fifo["waiting_s"][size]["p50"]
        assert backfill["waiting_s"][size]["max"] <= fifo["waiting_s"][size]["max"]
