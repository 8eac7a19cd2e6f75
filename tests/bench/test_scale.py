"""How a decision of `aware` grows with the fleet: the first tenth of the arrivals of the openb trace, one core."""

import resource
import sys
from typing import Any

import pytest

from hetero_ops import Fleet

TASKS = "openb/openb_pod_list_default.csv"
MODELS = ["A100-SXM4-80GB", "H100-SXM5-80GB", "T4", "L4"]


def of_size(nodes: int) -> Fleet:
    """So many nodes of 8 devices, 96 cores and 768 GiB, of four models in turn."""
    host: dict[str, Any] = {"cpu_milli": 96_000, "memory_mib": 786_432}
    named = [
        {"name": f"n{i:06}", **host, "devices": [{"sku": MODELS[i % len(MODELS)], "count": 8}]} for i in range(nodes)
    ]
    head = {"apiVersion": "hetero-ops/v1", "kind": "Fleet"}
    return Fleet.from_document({**head, "clusters": [{"name": "large", "nodes": named}]})


@pytest.mark.benchmark(group="replay a part of the default trace of openb, one core")
@pytest.mark.parametrize("policy", ["best-fit", "fgd", "aware"])
@pytest.mark.parametrize("size", [(1_000, 1.3), (10_000, 0.5), (100_000, 0.02)], ids=lambda size: f"{size[0]} nodes")
def test_scale(benchmark, capsys, test_data, size, policy):
    nodes, arrival = size
    fleet = of_size(nodes)
    setting = {"policies": [policy], "threads": 1, "arrival": arrival}
    report = benchmark.pedantic(fleet.simulate, (test_data(TASKS),), setting, rounds=1)
    (run,) = report["runs"]
    benchmark.extra_info.update(run["decision_us"])
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    with capsys.disabled():
        sys.stdout.write(
            f"\n{policy:8} {nodes:7,} nodes: {run['decisions']:6,} decisions in {run['seconds']:.2f} s, "
            f"p50 {run['decision_us']['p50']} us, p99 {run['decision_us']['p99']} us; "
            f"the process has used {peak_mib:,} MiB at most\n"
        )
