"""Corners that were wrong once."""

import json
import threading
import time

import pytest

from hetero_ops import Catalog, Fleet, InvalidDocument
from hetero_ops._core import Fleet as CoreFleet
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.door import profiles
from tests.placement.sample import document, fleet, node

TWO_VENDORS = [{"sku": "H100-SXM5-80GB", "count": 1}, {"sku": "MI300X", "count": 1}]


def test_a_taint_of_one_vendor_keeps_steps_off_the_devices_of_another():
    taint = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
    mixed = fleet(node("a", *TWO_VENDORS) | {"taints": [taint]})
    assert mixed.place("gpu:1 >=80GB").sku == "H100-SXM5-80GB"
    assert (mixed.place("MI300X:1").verdict, mixed.place("MI300X:1").codes) == ("impossible", ["TAINT"])


def test_a_link_floor_holds_for_one_device_too():
    both = fleet(node("a", "1xL4"), node("b", "1xH100-SXM5-80GB"))
    assert both.place("gpu:1 link>=900GB/s").nodes == ["b"]


def test_devices_of_other_names_are_another_question():
    answers = [fleet(node("a", {"sku": "L4", "id": 0, "uuid": uuid})).place("L4:1") for uuid in ("GPU-1", "GPU-2")]
    assert answers[0].trace_id != answers[1].trace_id


def test_nodes_of_one_name_are_told_with_their_cluster():
    clusters = [{"name": name, "nodes": [node("n", "1xL4")]} for name in ("east", "west")]
    both = Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters})
    assert "on east/n, west/n" in both.place("L4:2").why()


def test_devices_listed_one_by_one_can_be_an_island():
    devices = [{"sku": "A100-PCIE-40GB", "id": i} for i in range(4)]
    devices[0]["islands"] = [[0, 1], [2, 3]]
    assert fleet(node("a", *devices)).place("A100:2 fabric").ok
    assert fleet(node("a", *devices)).place("A100:4 fabric").codes == ["NOT_ONE_ISLAND"]


def test_a_weight_is_a_number(tmp_path):
    file = tmp_path / "mix.yaml"
    file.write_text("mix: [{request: 'gpu:1', weight: true}]\n")
    both = tmp_path / "fleet.yaml"
    both.write_text("apiVersion: hetero-ops/v1\nkind: Fleet\nclusters: []\n")
    with pytest.raises(InvalidDocument, match=r"mix\.yaml:1.*weight is True"):
        Fleet.load(both, mix=file)


def test_python_goes_on_while_the_core_works():
    """Held, the interpreter would stand still for as long as the core builds the fleet."""
    nodes = [node(f"n{i}", "8xL4") for i in range(4000)]
    text = json.dumps(document(*nodes)).encode()
    assert min(longest_pause(lambda: CoreFleet(text, profiles(Catalog.builtin()))) for _ in range(3)) < 0.5


def longest_pause(work):
    """The longest pause of this thread while another works, as a share of that work."""
    profiles(Catalog.builtin())
    spent = []

    def timed():
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)

    worker = threading.Thread(target=timed)
    worker.start()
    pause, last = 0.0, time.perf_counter()
    while worker.is_alive():
        now = time.perf_counter()
        pause, last = max(pause, now - last), now
    return pause / spent[0]


def test_a_name_is_ambiguous_only_among_the_sizes_that_can_serve():
    devices = [{"sku": sku, "count": 1} for sku in ("A100-SXM4-40GB", "A100-SXM4-80GB")]
    clusters = [{"name": "c", "nodes": [{"name": "n", "devices": devices}]}]
    both = Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters})
    asked = ["A100", "A100:0.5", "A100:0.5 >=30GB", "A100/1g.10gb", "A100 >=80GB"]
    ambiguous = [text for text in asked if both.warnings(Requirement.parse(text))]
    assert ambiguous == ["A100", "A100:0.5"]
