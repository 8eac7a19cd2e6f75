import re
import shlex

import pytest

from hetero_ops.document.text import read_text
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.kubernetes import read_cluster
from hetero_ops.inventory.node_label import command_of, label_value, labels_of
from tests.inventory.kube import node as kube_node

CATALOG = Catalog.builtin()
VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")


def labels(*devices, **fields):
    found = labels_of({"name": "n", "devices": list(devices), **fields}, CATALOG)
    return {key.removeprefix("hetero-ops/"): value for key, value in found.items()}


def test_type_model_memory_capability_and_owner():
    assert labels({"sku": "A100-SXM4-40GB", "count": 8}, pool="train", project="Speech & Co", rdma=["roce"]) == {
        "type": "gpu",
        "product": "A100-SXM4-40GB",
        "memory": "40GB",
        "mig": "true",
        "mps": "true",
        "rdma": "true",
        "roce": "true",
        "pool": "train",
        "project": "Speech-Co",
    }


def test_what_devices_do_not_share_is_left_out():
    assert labels({"sku": "H100-SXM5-80GB", "count": 1}, {"sku": "Gaudi2-HL-225", "count": 1}) == {}
    assert labels({"sku": "T4", "count": 1}, {"sku": "L4", "count": 1}) == {"type": "gpu", "mps": "true"}
    assert labels(rdma=["ib"]) == {"rdma": "true"}
    assert labels(rdma=["none"]) == {}


def test_of_an_unknown_device_what_is_known():
    device = {"sku": "unknown", "class": "npu", "model": "XPU 9000 (early)", "memory_mib": 12216, "count": 2}
    assert labels(device) == {"type": "npu", "product": "XPU-9000-early", "memory": "12216MB"}
    assert labels({"sku": "unknown", "count": 1}) == {}


def test_the_memory_of_a_partition_is_its_own():
    assert (
        labels({"sku": "A100-SXM4-40GB", "partition": "1g.5gb", "memory_mib": 4864, "count": 7})["memory"] == "4864MB"
    )


@pytest.mark.parametrize("text", ["a" * 80, "-x-", "ü", "a b", "x" * 62 + "-y", "$(reboot)", "a\nb", "_", ""])
def test_values_are_such_as_kubernetes_takes(text):
    assert VALUE.fullmatch(label_value(text))


def test_a_command_is_one_line_for_a_shell():
    line = command_of("nv-1.example", {"hetero-ops/type": "gpu"})
    assert line == "kubectl label --overwrite node nv-1.example hetero-ops/type=gpu"
    assert shlex.split(line)[4] == "nv-1.example"


@pytest.mark.parametrize("name", ["", "-o", "a b", "a;reboot", "A", "a_b", "a\n", "x" * 300])
def test_a_name_that_no_node_has_gives_no_command(name):
    assert command_of(name, {"hetero-ops/type": "gpu"}) is None


@pytest.mark.parametrize("sku", [profile.sku for profile in CATALOG if profile.k8s_resource_name == "nvidia.com/gpu"])
def test_an_import_reads_the_model_back(sku):
    written = labels_of({"name": "n", "devices": [{"sku": sku, "count": 1}]}, CATALOG)
    item = kube_node("n", written, {"nvidia.com/gpu": "1"})
    document = read_cluster([read_text(str(item).replace("'", '"'), "f")], CATALOG).document
    assert document["clusters"][0]["nodes"][0]["devices"] == [{"sku": sku, "count": 1}]
