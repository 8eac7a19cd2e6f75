import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.inventory.printed import scontrol
from tests.inventory.printed.outcome import CATALOG, codes, free, loaded, message, text_of

NODE = """\
NodeName=gcn1 Arch=x86_64 CoresPerSocket=36
   CPUAlloc=16 CPUEfctv=72 CPUTot=72 CPULoad=3.10
   ActiveFeatures=h100,ib
   Gres=gpu:nvidia_h100_80gb_hbm3:4(S:0-1),gpu:tesla_t4:2(S:0,1)
   GresUsed=gpu:nvidia_h100_80gb_hbm3:2(IDX:1,3),gpu:tesla_t4:1
   OS=Linux 5.15.0-1028-aws #32~20.04.1-Ubuntu SMP State=IDLE
   RealMemory=491520 AllocMem=122880 State=MIXED
   Partitions=gpu
   CfgTRES=cpu=72,mem=480G,billing=72,gres/gpu=6
   AllocTRES=cpu=16,mem=120G,gres/gpu=3
   Reason=bad disk State=DOWN
"""


def read_line(**values):
    line = " ".join(["NodeName=n1", *(f"{key}={value}" for key, value in values.items())])
    return scontrol.read(line, "", CATALOG)


def test_three_cloud_nodes_without_accelerators(test_data):
    text = text_of(test_data, "scontrol/3-cloud-nodes-no-gres.txt")
    assert scontrol.recognises(text)
    fragment = scontrol.read(text, "", CATALOG)
    assert [node["name"] for node in fragment.nodes] == [
        "queue1-st-compute-resource-1-1",
        "queue1-st-compute-resource-1-2",
        "queue1-st-crt2micro-1",
    ]
    assert not any("devices" in node for node in fragment.nodes)
    assert [node["state"] for node in fragment.nodes] == ["maintenance"] * 3
    assert [(node["cpu_milli"], node["memory_mib"]) for node in fragment.nodes] == [
        (2000, 3891),
        (2000, 3891),
        (1000, 972),
    ]
    assert fragment.nodes[0]["labels"] == {
        "slurm/features": "static,t2.medium,compute-resource-1",
        "slurm/partitions": "queue1",
    }
    assert codes(fragment) == ["NODE_NOT_READY"] * 3
    assert "State=DOWN+CLOUD+REBOOT_ISSUED" in fragment.findings[0].message
    assert "State=IDLE+CLOUD+MAINTENANCE+RESERVED" in fragment.findings[2].message
    assert not loaded(fragment).place("cpu:1").ok


def test_lines_without_a_node_are_refused_with_the_numbers_in_them(test_data):
    text = text_of(test_data, "scontrol/gres-lines-only.txt")
    assert scontrol.recognises(text)
    with pytest.raises(InvalidDocument) as caught:
        scontrol.read(text, "", CATALOG)
    assert "4 GPUs of unknown model, 3 in use, 1 free" in str(caught.value)
    assert "scontrol show node -d" in str(caught.value)


@pytest.mark.parametrize("text", [NODE, " ".join(line.strip() for line in NODE.splitlines()[:-1])])
def test_values_with_blanks_and_devices_by_index(text):
    fragment = scontrol.read(text, "", CATALOG)
    (node,) = fragment.nodes
    assert [device["sku"] for device in node["devices"]] == ["H100-SXM5-80GB"] * 4 + ["T4"] * 2
    assert (node["cpu_milli"], node["memory_mib"]) == (72000, 491520)
    (use,) = node["used"]
    assert (use["owner"], use["devices"], use["cpu_milli"], use["memory_mib"]) == ("slurm", [1, 3, 4], 16000, 122880)
    assert use["assumed"] is True  # which T4 is held is not printed
    assert free(fragment) == 3


def test_free_text_does_not_change_the_state():
    assert scontrol.read(NODE, "", CATALOG).nodes[0]["state"] == "active"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("IDLE", "active"),
        ("MIXED+PLANNED", "active"),
        ("IDLE+CLOUD", "active"),
        ("ALLOCATED+DRAIN", "draining"),
        ("IDLE+DRAIN", "draining"),
        ("IDLE+RESERVED", "cordoned"),
        ("IDLE+CLOUD+POWERED_DOWN", "cordoned"),
        ("IDLE~", "cordoned"),
        ("DOWN*", "maintenance"),
        ("IDLE*", "maintenance"),
        ("MAINT", "maintenance"),
        ("UNKNOWN", "maintenance"),
        ("IDLE+NEVER_HEARD_OF", "cordoned"),
        ("(null)", None),
    ],
)
def test_states(state, expected):
    assert read_line(State=state).nodes[0].get("state") == expected


@pytest.mark.parametrize(
    ("values", "devices", "used"),
    [
        ({"Gres": "gpu:8(S:0-1)", "AllocTRES": "cpu=1,gres/gpu=3"}, 8, [0, 1, 2]),
        ({"Gres": "(null)", "CfgTRES": "cpu=2,gres/gpu=2,gres/gpu:a100=2"}, 2, []),
        ({"Gres": "gpu:a100:2", "AllocTRES": "gres/gpu=2,gres/gpu:a100=2"}, 2, [0, 1]),
        ({"Gres": "gpu:a100:2,gpu:v100:2", "AllocTRES": "gres/gpu:v100=1"}, 4, [2]),
        ({"Gres": "gpu"}, 1, []),
        ({"Gres": "gpu:0"}, 0, []),
        ({"Gres": "npu:910b3:8", "GresUsed": "npu:910b3:1(IDX:7)"}, 8, [7]),
    ],
)
def test_generic_resources(values, devices, used):
    (node,) = read_line(**values).nodes
    assert len(node.get("devices", [])) == devices
    assert [device for use in node["used"] for device in use.get("devices", [])] == used


def test_a_name_of_the_site_that_stands_for_several_models_is_unknown():
    fragment = read_line(Gres="gpu:a100:8")
    device = fragment.nodes[0]["devices"][0]
    assert (device["sku"], device["vendor"], device["class"], device["product"]) == ("unknown", "nvidia", "gpu", "a100")
    assert "A100-SXM4-40GB" in message(fragment, "MODEL_AMBIGUOUS")


def test_what_is_no_device_is_told():
    fragment = read_line(Gres="gpu:t4:1,shard:4,nic:2,odd:no_consume:4G")
    assert len(fragment.nodes[0]["devices"]) == 1
    assert codes(fragment) == ["UNKNOWN_RESOURCE", "UNKNOWN_RESOURCE", "TEXT_LEFT_OVER"]


def test_more_in_use_than_there_is_and_more_than_a_node_has():
    assert codes(read_line(Gres="gpu:t4:1", AllocTRES="gres/gpu=2")) == ["USED_BEYOND_FREE"]
    fragment = read_line(Gres="gpu:t4:999999999")
    assert (codes(fragment), "devices" in fragment.nodes[0]) == (["TEXT_LEFT_OVER"], False)


def test_a_node_printed_twice_counts_once():
    fragment = scontrol.read("NodeName=a Gres=gpu:t4:1\n\nNodeName=a Gres=gpu:t4:2\n", "", CATALOG)
    assert [len(node["devices"]) for node in fragment.nodes] == [1]
    assert "printed twice" in message(fragment, "TEXT_LEFT_OVER")
