"""The replay with time agrees with a slow one that is written from the rules, on small fleets."""

import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.placement.fleet import Fleet
from tests.property.test_replay_reference import MODELS, NODES, SIZES, _node
from tests.reference.replay import Node, Task
from tests.reference.timed import Timed, waiting

QOS = {"LS": 2, "Burstable": 1, "BE": 0}
TASKS = st.lists(
    st.tuples(st.integers(0, 8), SIZES, MODELS, st.integers(0, 20), st.integers(0, 15), st.sampled_from(list(QOS))),
    min_size=1,
    max_size=24,
).filter(lambda tasks: any(size[0] for _, size, *_ in tasks))
HEADER = "cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,scheduled_time,deletion_time\n"


@pytest.mark.parametrize("policy", ["random", "worst-fit", "gpu-clustering", "fgd"])
@given(nodes=NODES, drawn=TASKS, seed=st.integers(0, 2**64 - 1), order=st.sampled_from(["fifo", "backfill"]))
def test_tasks_wait_as_in_the_reference(policy, nodes, drawn, seed, order):
    tasks = [
        Timed(Task(cores * 1000, count, share, models), arrives, lasts, QOS[qos])
        for cores, (count, share), models, arrives, lasts, qos in drawn
    ]
    slow = [Node(model, cores * 1000, [1000] * count) for model, cores, count in nodes]
    waits = waiting(slow, tasks, policy, order, seed)
    document = {
        "apiVersion": "hetero-ops/v1",
        "kind": "Fleet",
        "clusters": [{"name": "a", "nodes": [_node(at, *node) for at, node in enumerate(nodes)]}],
    }
    lines = [
        f"{t.task.cpu_milli},0,{t.task.count},{t.task.share_milli},{'|'.join(t.task.models)},{qos},"
        f"{t.arrives},{t.arrives},{t.arrives + t.lasts}\n"
        for t, (*_, qos) in zip(tasks, drawn, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "tasks.csv"
        trace.write_text(HEADER + "".join(lines))
        report = Fleet.from_document(document).simulate_timed(
            trace, policies=[policy], seeds=[seed], orders=[order], patience_s=10**9, threads=1
        )
    (run,) = report["runs"]
    assert run["never_started"] == waits.count(None)
    by_size: dict[str, list[int]] = {}
    for timed, wait in sorted(zip(tasks, waits, strict=True), key=lambda pair: pair[0].task.count):
        if wait is not None:
            by_size.setdefault(str(timed.task.count), []).append(wait)
    assert run["waiting_s"] == {size: _told(sorted(waits)) for size, waits in by_size.items()}


def _told(waits):
    p50, p99 = (waits[math.ceil(len(waits) * percent / 100) - 1] for percent in (50, 99))
    return {"tasks": len(waits), "p50": p50, "p99": p99, "max": waits[-1]}
