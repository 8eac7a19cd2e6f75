"""Reading the export of a large cluster: 5,000 nodes and 20,000 pods, about 200 MB of JSON, beside plain decoding."""

import json

import pytest

from hetero_ops import Catalog
from hetero_ops.inventory.kubernetes import read_cluster
from hetero_ops.inventory.kubernetes.export_text import read_export
from tests.bench.kube_cluster import write_cluster

NODES, PODS = 5_000, 20_000


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "kube.json"
    write_cluster(path, NODES, PODS)
    return path.read_bytes()


@pytest.mark.benchmark(group="read an export of 25,000 objects, 200 MB")
def test_import_cluster(benchmark, export):
    def read():
        return read_cluster([read_export(export, "kube.json")], Catalog.builtin())

    imported = benchmark.pedantic(read, rounds=1)
    assert len(imported.document["clusters"][0]["nodes"]) == NODES


@pytest.mark.benchmark(group="read an export of 25,000 objects, 200 MB")
def test_decode_only(benchmark, export):
    assert len(benchmark.pedantic(json.loads, (export,), rounds=1)["items"]) == NODES + PODS
