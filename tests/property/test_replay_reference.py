"""The replay agrees with a slow one that is written from the rules, task by task, on small fleets."""

import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.placement.fleet import Fleet
from tests.reference.replay import SCORES, Node, Task, replay

ARRIVALS = st.sampled_from([Fraction(7, 10), Fraction(1), Fraction(13, 10)])
NODES = st.lists(
    st.tuples(st.sampled_from(["L4", "T4"]), st.integers(1, 24), st.integers(0, 4)), min_size=1, max_size=6
).filter(lambda nodes: any(count for _, _, count in nodes))
SIZES = st.sampled_from([(0, 0), (1, 200), (1, 330), (1, 500), (1, 1000), (2, 1000), (4, 1000)])
MODELS = st.sampled_from([(), (), ("L4",), ("T4",), ("L4", "T4")])
TASKS = st.lists(st.tuples(st.integers(0, 8), SIZES, MODELS), min_size=1, max_size=12).filter(
    lambda tasks: any(size[0] for _, size, _ in tasks)
)


@pytest.mark.parametrize("policy", [*SCORES, "fgd"])
@given(nodes=NODES, tasks=TASKS, seed=st.integers(0, 2**64 - 1), arrival=ARRIVALS)
def test_runs_end_as_the_reference_does(policy, nodes, tasks, seed, arrival):
    asked = [Task(cores * 1000, count, share, models) for cores, (count, share), models in tasks]
    slow = [Node(model, cores * 1000, [1000] * count) for model, cores, count in nodes]
    expected = replay(slow, asked, policy, seed, arrival)
    document = {
        "apiVersion": "hetero-ops/v1",
        "kind": "Fleet",
        "clusters": [{"name": "a", "nodes": [_node(at, *node) for at, node in enumerate(nodes)]}],
    }
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "tasks.csv"
        lines = [f"{t.cpu_milli},0,{t.count},{t.share_milli},{'|'.join(t.models)}\n" for t in asked]
        trace.write_text("cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n" + "".join(lines))
        report = Fleet.from_document(document).simulate(
            trace, policies=[policy], seeds=[seed], arrival=float(arrival), threads=1
        )
    (run,) = report["runs"]
    allocated = list(run["allocated_ratio"].values())[-1] * report["devices"] * 1000
    assert (run["failed"], round(allocated)) == expected


def _node(at, model, cores, count):
    devices = [{"sku": model, "count": count}] if count else []
    return {"name": f"n{at}", "cpu_milli": cores * 1000, "memory_mib": 1024, "devices": devices}
