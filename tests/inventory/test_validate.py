from pathlib import Path

import pytest
import yaml

from hetero_ops.inventory.validate import findings_of

H200 = {"sku": "H200-SXM-141GB", "count": 8}
MI300X = {"sku": "MI300X", "count": 8}
ASCEND = {"sku": "unknown", "vendor": "huawei", "class": "npu", "count": 8}
CPU = {"sku": "Xeon-8480P-AMX", "count": 2}
SLICE = H200 | {"partition": "1g.18gb"}
A800_SLICE = {"sku": "A800-SXM4-80GB", "count": 7, "partition": "1g.10gb"}


def found(devices, driver, cluster="west"):
    node = {"name": "n1", "devices": devices, "driver": driver}
    return [
        (finding.code, finding.node, finding.message)
        for finding in findings_of({"clusters": [{"name": cluster, "nodes": [node]}]})
    ]


@pytest.mark.parametrize(
    ("devices", "driver", "message"),
    [
        ([H200, MI300X], {"nvidia": "580.65.06"}, "amd (devices, no driver stated), nvidia (devices and driver)"),
        ([H200], {"nvidia": "580.65.06", "amd": "6.10.5"}, "amd (driver, but no devices), nvidia (devices and driver)"),
        ([H200, ASCEND], {}, "huawei (devices, no driver stated), nvidia (devices, no driver stated)"),
        ([], {"cuda": "13.0", "habana": "1.23.0"}, "intel (driver, but no devices), nvidia (driver, but no devices)"),
    ],
)
def test_two_stacks_on_a_node_are_told(devices, driver, message):
    assert found(devices, driver) == [("TWO_STACKS", "n1", f"driver stacks of {message} (cluster west)")]


@pytest.mark.parametrize(
    ("devices", "driver"),
    [
        ([H200, H200], {"nvidia": "580.65.06", "cuda": "13.0"}),
        ([MI300X], {"amd": "6.10.5", "amdgpu": "30.30.2", "rocm-kernel": "6.3"}),
        ([H200, CPU], {"nvidia": "580.65.06", "ofed": "24.10"}),
        ([], {}),
    ],
)
def test_one_stack_is_nothing_to_tell(devices, driver):
    assert found(devices, driver) == []


def test_a_driver_below_the_lowest_for_mig_is_told_once():
    message = "mig on H200-SXM-141GB needs driver 550 or newer; it has 535.104.05 (cluster west)"
    assert found([SLICE, SLICE | {"partition": "2g.35gb"}], {"nvidia": "535.104.05"}) == [
        ("DRIVER_TOO_OLD", "n1", message)
    ]


@pytest.mark.parametrize(
    ("devices", "driver"),
    [
        ([SLICE], {"nvidia": "550.54.14"}),
        ([H200], {"nvidia": "535.104.05"}),
        ([SLICE], {}),
        ([A800_SLICE], {"nvidia": "450.80.02"}),
    ],
)
def test_a_driver_that_is_new_enough_or_unknown_is_not_told(devices, driver):
    assert found(devices, driver) == []


def test_an_old_driver_of_an_mlu_is_told():
    assert found([{"sku": "MLU370-X8", "count": 4}], {"cambricon": "4.20.8"}) == [
        (
            "DRIVER_TOO_OLD",
            "n1",
            "device-plugin on MLU370-X8 needs driver 4.20.9 or newer; it has 4.20.8 (cluster west)",
        )
    ]


def test_nodes_of_one_name_in_two_clusters_are_both_told():
    nodes = [{"name": "n1", "devices": [H200, MI300X]}]
    document = {"clusters": [{"name": "b", "nodes": nodes}, {"name": "a", "nodes": nodes}, {"name": "empty"}]}
    assert [finding.message[-11:] for finding in findings_of(document)] == ["(cluster a)", "(cluster b)"]


def test_the_examples_have_no_such_finding():
    for file in (Path(__file__).parents[2] / "examples" / "fleets").glob("*.yaml"):
        codes = {finding.code for finding in findings_of(yaml.safe_load(file.read_text()))}
        # Nodes with GPUs and NPUs have the drivers of both, which is what that example is for.
        assert codes == ({"TWO_STACKS"} if file.stem == "two-kinds" else set()), file
