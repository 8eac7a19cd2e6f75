import csv
import io
from pathlib import Path

import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.asset_export import left_out, to_table
from hetero_ops.inventory.device_list import expand
from hetero_ops.inventory.intake import Handed, Hints, gather
from hetero_ops.inventory.source import read_fleet
from hetero_ops.placement.fleet import Fleet

CATALOG = Catalog.builtin()
FLEETS = Path(__file__).parents[2] / "examples" / "fleets"
NODE = {
    "name": "n",
    "pool": "unknown",
    "project": 'a, "b"; c',
    "labels": {"rack": "r1", "x/y": ""},
    "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
    "state": "burn-in",
    "cpu_milli": 1,
    "memory_mib": 2,
    "power_budget_mw": 3,
    "driver": {"nvidia": "580.65.06", "cuda": "13.0"},
    "runtime": ["cudnn", "tensorrt"],
    "rdma": ["none"],
    "devices": [
        {"id": 10, "sku": "H100-SXM5-80GB", "uuid": "GPU-1", "pci": "0000:c3:00.0", "serial": "165", "slot": "7"},
        {"id": 11, "sku": "H100-SXM5-80GB", "firmware": "96.0", "numa": 1, "health": "unhealthy", "memory_mib": 81559},
        {"sku": "unknown", "count": 2, "vendor": "acme", "model": "XPU-9000", "class": "npu", "islands": [[2, 3]]},
        {"sku": "A100-SXM4-40GB", "count": 1, "partition": "1g.5gb", "memory_mib": 4864, "islands": []},
        {"sku": "unknown", "count": 1},
    ],
    "used": [{"owner": "pod a/b", "devices": [2], "share_milli": 500, "bound": "memory", "movable": "checkpoint"}],
}


def document(*nodes):
    clusters = [{"name": "c", "nodes": list(nodes)}, {"name": "d", "nodes": [{"name": "n"}, {"name": "host"}]}]
    return {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters}


def back(exported):
    return gather([Handed("assets.csv", exported.encode())], CATALOG, Hints()).document


def plain(of):
    """What a table has a place for."""
    return {
        (cluster["name"], node["name"]): {
            **node,
            "used": [{key: value for key, value in use.items() if key != "charged"} for use in node.get("used", [])],
            "devices": sorted(expand(node.get("devices", [])), key=lambda device: device["id"]),
        }
        for cluster in of["clusters"]
        for node in cluster.get("nodes", [])
    }


FILES = sorted(path.name for path in FLEETS.glob("*.yaml"))


@pytest.mark.parametrize("source", [document(NODE), *FILES], ids=["all fields", *FILES])
def test_what_is_exported_is_read_back(source):
    exported = read_fleet(str(FLEETS / source), CATALOG).document if isinstance(source, str) else source
    returned = back(to_table(exported))
    assert plain(returned) == plain(exported)
    # A table has no place for prices, regions and tags, which answers may depend on.
    kept = plain(exported)
    clusters = [
        {"name": name, "nodes": [node for (of, _), node in kept.items() if of == name]}
        for name in (cluster["name"] for cluster in exported["clusters"])
    ]
    bare = {"apiVersion": exported["apiVersion"], "kind": exported["kind"], "clusters": clusters}
    for question in ("gpu:1", "npu:1", "H100:8 | MI300X:8 where fabric"):
        first, second = (Fleet.from_document(each).place(question) for each in (bare, returned))
        assert first.trace_id == second.trace_id
        assert first.to_json() == second.to_json()


def test_there_is_one_row_for_each_device():
    rows = list(csv.DictReader(io.StringIO(to_table(document(NODE)))))
    assert [row["id"] for row in rows] == ["10", "11", "2", "3", "4", "5", "", ""]


def test_what_a_table_has_no_place_for_is_named():
    assert left_out(document(NODE)) == []
    mixed = read_fleet(str(FLEETS / "mixed.yaml"), CATALOG).document
    assert left_out(mixed) == ["mix", "region", "tags", "pools"]
