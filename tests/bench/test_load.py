"""What starting costs."""

import subprocess
import sys

import pytest

from hetero_ops import Fleet, Requirement


@pytest.mark.benchmark(group="start a process")
@pytest.mark.parametrize("statement", ["pass", "import hetero_ops", "from hetero_ops import Fleet"])
def test_import(benchmark, statement):
    benchmark.pedantic(subprocess.run, ([sys.executable, "-c", statement],), {"check": True}, rounds=10)


@pytest.mark.benchmark(group="load 1,213 nodes")
def test_load(benchmark, test_data):
    nodes = test_data("openb/openb_node_list_gpu_node.csv")
    benchmark.pedantic(Fleet.load, (nodes,), rounds=5)


@pytest.mark.benchmark(group="parse a request")
def test_parse(benchmark):
    benchmark(Requirement.parse, "H100:8 | MI300X:8 where >=80GB bf16 fabric")
