import os
import subprocess

import pytest

from hetero_ops import Fleet
from hetero_ops.inject.environment import StepEnvironment, environment
from hetero_ops.inject.vendors import VISIBILITY


def fleet(*devices):
    node = {"name": "n", "cpu_milli": 8000, "devices": list(devices)}
    return Fleet.from_document(
        {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "here", "nodes": [node]}]}
    )


@pytest.mark.parametrize(
    ("sku", "variable"),
    [
        ("H100-SXM5-80GB", "CUDA_VISIBLE_DEVICES"),
        ("MI300X", "ROCR_VISIBLE_DEVICES"),
        ("Max-1550", "ZE_AFFINITY_MASK"),
        ("Gaudi3-HL-325L", "HABANA_VISIBLE_MODULES"),
        ("Ascend-910B3", "ASCEND_RT_VISIBLE_DEVICES"),
    ],
)
def test_one_variable_of_the_vendor_shows_the_devices(sku, variable):
    placed = environment(fleet({"sku": sku, "count": 4}).place("accel:2 | tpu:1"))
    assert placed.values[variable] == "0,1"
    others = {visibility.variable for visibility in VISIBILITY.values()} - {variable}
    assert not others & set(placed.values)
    assert variable not in placed.removed


def test_what_was_granted_is_told():
    values = environment(fleet({"sku": "MI300X", "count": 8}).place("H100:8 | MI300X:8 where bf16")).values
    told = {name: value for name, value in values.items() if name.startswith("HETERO_OPS_")}
    assert len(told.pop("HETERO_OPS_TRACE_ID")) == 32
    assert told == {
        "HETERO_OPS_CHOICE": "MI300X",
        "HETERO_OPS_CHOICE_INDEX": "1",
        "HETERO_OPS_VENDOR": "amd",
        "HETERO_OPS_MODEL": "MI300X",
        "HETERO_OPS_COUNT": "8",
        "HETERO_OPS_MEMORY_MIB": "196608",
        "HETERO_OPS_PRECISION": "bf16",
        "HETERO_OPS_QUANTIZE": "",
        "HETERO_OPS_DEGRADED": "1",
        "HETERO_OPS_NODE": "n",
        "HETERO_OPS_DEVICES": "0,1,2,3,4,5,6,7",
    }


def test_a_share_tells_the_memory_of_the_share():
    values = environment(fleet({"sku": "A100-SXM4-40GB", "count": 1}).place("gpu:0.25 >=10GB")).values
    assert values["HETERO_OPS_MEMORY_MIB"] == "10240"


def test_a_step_without_devices_sees_none():
    values = environment(fleet({"sku": "T4", "count": 1}).place("cpu:4")).values
    assert (values["CUDA_VISIBLE_DEVICES"], values["ROCR_VISIBLE_DEVICES"]) == ("", "")


def test_known_uuids_stand_instead_of_ids():
    devices = [{"sku": "T4", "id": i, "uuid": f"GPU-{i}"} for i in range(2)]
    assert environment(fleet(*devices).place("T4:2")).values["CUDA_VISIBLE_DEVICES"] == "GPU-0,GPU-1"


def test_a_vendor_without_a_known_variable_gets_none():
    unknown = {"sku": "unknown", "class": "gpu", "model": "XPU-9000", "count": 1}
    placed = environment(fleet(unknown).place("XPU-9000:1"))
    assert all(name.startswith("HETERO_OPS_") for name in placed.values)
    assert placed.values["HETERO_OPS_MEMORY_MIB"] == ""


def test_the_shell_form_survives_hostile_values():
    hostile = StepEnvironment({"A": "it's; rm -rf $HOME `x`\n"}, ("B",))
    shell = ["/bin/sh", "-c", hostile.to_shell() + 'printf "%s" "$A${B-unset}"']
    done = subprocess.run(shell, env={**os.environ, "B": "set"}, capture_output=True, text=True, check=True)
    assert done.stdout == "it's; rm -rf $HOME `x`\nunset"
