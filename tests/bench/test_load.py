"""What starting costs."""

import json
import subprocess
import sys

import pytest
import yaml

from hetero_ops import Fleet, Requirement

FORMS = {"json": json.dump, "yaml": lambda document, file: yaml.dump(document, file, yaml.CSafeDumper)}


def node(number, *, one_by_one):
    """A node of eight devices, as a group or listed one by one with what a discovery tells of each."""
    group = [{"sku": "H100-SXM5-80GB", "count": 8, "numa": [0, 0, 0, 0, 1, 1, 1, 1]}]
    each = [
        {"sku": "H100-SXM5-80GB", "id": i, "uuid": f"GPU-{number}-{i}", "numa": i // 4, "memory_mib": 81559}
        for i in range(8)
    ]
    host = {"name": f"node-{number:05}", "labels": {"rack": f"r{number // 8}"}, "cpu_milli": 192_000}
    used = [{"owner": f"pod team/{number}", "devices": [0, 1]}]
    return host | {"devices": each if one_by_one else group, "used": used}


@pytest.mark.benchmark(group="start a process")
@pytest.mark.parametrize("statement", ["pass", "import hetero_ops", "from hetero_ops import Fleet"])
def test_import(benchmark, statement):
    benchmark.pedantic(subprocess.run, ([sys.executable, "-c", statement],), {"check": True}, rounds=10)


@pytest.mark.benchmark(group="load 1,213 nodes")
def test_load(benchmark, test_data):
    nodes = test_data("openb/openb_node_list_gpu_node.csv")
    benchmark.pedantic(Fleet.load, (nodes,), rounds=5)


@pytest.mark.benchmark(group="load 20,000 devices on 2,500 nodes")
@pytest.mark.parametrize("one_by_one", [False, True], ids=["in groups", "one by one"])
@pytest.mark.parametrize("form", FORMS)
def test_load_20_000_devices(benchmark, tmp_path, form, one_by_one):
    nodes = [node(number, one_by_one=one_by_one) for number in range(2500)]
    document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "west", "nodes": nodes}]}
    path = tmp_path / f"fleet.{form}"
    with path.open("w") as file:
        FORMS[form](document, file)
    fleet = benchmark.pedantic(Fleet.load, (path,), rounds=5)
    assert sum(row["devices"] for row in fleet.overview()) == 20_000


@pytest.mark.benchmark(group="parse a request")
def test_parse(benchmark):
    benchmark(Requirement.parse, "H100:8 | MI300X:8 where >=80GB bf16 fabric")
