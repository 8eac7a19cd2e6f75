"""What several tools print of one node is one node."""

import json

import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.intake import Handed, Hints, gather, without_defaults
from hetero_ops.inventory.update import update
from hetero_ops.placement.fleet import Fleet
from tests.inventory.kube import GFD, node

CATALOG = Catalog.builtin()
H100 = "H100-SXM5-80GB"
TOPO = """\
\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV18\tNV18\t0-7\t1\t\tN/A
GPU1\tNV18\t X \tNV18\t0-7\t0\t\tN/A
GPU2\tNV18\tNV18\t X \t0-7\t1\t\tN/A
"""
PROCESS = """<process_info><gpu_instance_id>{gi}</gpu_instance_id><pid>7</pid><type>C</type>
<process_name>python</process_name></process_info>"""
INSTANCE = """<mig_device><gpu_instance_id>{gi}</gpu_instance_id><device_attributes><shared><copy_engine_count>1
</copy_engine_count><decoder_count>1</decoder_count></shared></device_attributes>
<fb_memory_usage><total>9984 MiB</total></fb_memory_usage></mig_device>"""
STATIC = """\
GPU: {gpu}
    ASIC:
        MARKET_NAME: AMD Instinct MI300X
        DEVICE_ID: 0x74a1
    BUS:
        BDF: {bdf}
    VRAM:
        SIZE: 196592 MB
    NUMA:
        NODE: {gpu}
"""
LINKS = """\
LINK TYPE TABLE:
             {0} {1}
{0} SELF XGMI
{1} XGMI SELF
"""
BDFS = ("0000:0c:00.0", "0000:22:00.0")
ROCM = "GPU[0]\t: (Topology) Numa Node: 1\nGPU[1]\t: (Topology) Numa Node: 0\n"


def gpu(at, inside="<processes></processes>"):
    product = "<product_name>NVIDIA H100 80GB HBM3</product_name>"
    uuid = f"<uuid>GPU-0000000{at}-0000-0000-0000-00000000000{at + 1}</uuid>"
    memory = "<fb_memory_usage><total>81559 MiB</total><used>0 MiB</used></fb_memory_usage>"
    return f'<gpu id="00000000:0{at + 1}:00.0">{product}{uuid}{memory}{inside}</gpu>'


def mig(*instances):
    parts = "".join(INSTANCE.format(gi=gi) for gi in instances)
    mode = "<mig_mode><current_mig>Enabled</current_mig></mig_mode>"
    return f"{mode}<mig_devices>{parts}</mig_devices><processes></processes>"


def xml(*gpus):
    return f"<nvidia_smi_log><attached_gpus>{len(gpus)}</attached_gpus>{''.join(gpus)}</nvidia_smi_log>"


def taken(texts, **hints):
    imported = gather([Handed(name, text.encode()) for name, text in texts.items()], CATALOG, Hints(**hints))
    Fleet.from_document(without_defaults(imported.document))
    return imported


def only(imported):
    ((seen,),) = [cluster["nodes"] for cluster in imported.document["clusters"]]
    return seen, [finding.code for finding in imported.findings]


def values(seen, key):
    return [device.get(key) for device in seen["devices"]]


@pytest.mark.parametrize("names", [("n.topo.txt", "n.xml"), ("n.xml", "n.topo.txt")])
def test_a_log_and_a_topology_of_one_node(names):
    texts = {name: xml(gpu(0), gpu(1), gpu(2)) if name.endswith("xml") else TOPO for name in names}
    seen, codes = only(taken(texts))
    assert codes == []
    assert values(seen, "id") == [0, 1, 2]
    assert values(seen, "sku") == [H100] * 3
    assert values(seen, "memory_mib") == [81559] * 3
    assert values(seen, "pci") == ["0000:01:00.0", "0000:02:00.0", "0000:03:00.0"]
    assert len(set(values(seen, "uuid"))) == 3
    assert values(seen, "numa") == [1, 0, 1]
    assert seen["devices"][0]["islands"] == [[0, 1, 2]]
    assert values(seen, "vendor") == [None] * 3
    assert seen["used"] == []


def test_the_samples_of_one_kind_of_node_join(test_data):
    log = test_data("samples/nvidia-smi-xml/h100-8gpu-580.xml").read_text()
    topology = test_data("samples/nvidia-smi-topo/hgx-h100-8gpu-8nic.txt").read_text()
    seen, codes = only(taken({"a.xml": log, "b.txt": topology}, node="hgx"))
    assert codes == []
    assert values(seen, "sku") == [H100] * 8
    assert values(seen, "numa") == [0] * 4 + [1] * 4
    assert seen["devices"][0]["islands"] == [list(range(8))]


@pytest.mark.parametrize("names", [("n.topo.txt", "n.xml"), ("n.xml", "n.topo.txt")])
def test_a_card_in_partitions_is_no_device_of_its_own(names):
    log = xml(gpu(0, mig(3, 4)), gpu(1), gpu(2))
    seen, codes = only(taken({name: log if name.endswith("xml") else TOPO for name in names}))
    assert codes == []
    assert values(seen, "id") == [1, 2, 3, 4]
    assert values(seen, "partition") == [None, None, "1g.10gb", "1g.10gb"]
    assert values(seen, "slot") == [None, None, "0", "0"]
    assert values(seen, "pci") == ["0000:02:00.0", "0000:03:00.0", "0000:01:00.0", "0000:01:00.0"]
    assert values(seen, "numa") == [0, 1, 1, 1]
    assert [device.get("islands") for device in seen["devices"]] == [[[1, 2]], [], None, None]


def test_the_last_device_of_an_island_is_alone():
    seen, codes = only(taken({"n.xml": xml(gpu(0, mig(3)), gpu(1, mig(3)), gpu(2)), "n.txt": TOPO}))
    assert codes == []
    assert values(seen, "id") == [2, 3, 4]
    assert values(seen, "numa") == [1, 1, 0]
    assert values(seen, "islands") == [[], None, None]


def test_a_topology_of_more_gpus_than_the_log_keeps_its_own():
    imported = taken({"n.xml": xml(gpu(0, mig(3, 4))), "n.txt": TOPO})
    seen, codes = only(imported)
    assert sorted(codes) == ["PRODUCT_NOT_PRINTED", "SOURCES_DIFFER"]
    assert values(seen, "id") == [1, 2, 3, 4]  # those of the topology are the indices of cards
    assert values(seen, "partition") == [None, None, "1g.10gb", "1g.10gb"]
    assert values(seen, "sku") == ["unknown", "unknown", H100, H100]


def test_a_nameless_card_in_use_stays():
    slurm = "NodeName=n State=MIXED Gres=gpu:1 GresUsed=gpu:1(IDX:0)\n"
    seen, _ = only(taken({"n.xml": xml(gpu(0, mig(3, 4))), "slurm.txt": slurm}))
    assert len(seen["devices"]) == 3
    assert {at for use in seen["used"] for at in use["devices"]} <= {*values(seen, "id")}


def test_a_cluster_and_a_log_count_the_same_partitions():
    labels = {**GFD, "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/mig.strategy": "mixed"}
    item = node("n", labels, {"nvidia.com/gpu": "0", "nvidia.com/mig-1g.10gb": "2"})
    export = json.dumps({"apiVersion": "v1", "kind": "List", "items": [item]})
    seen, _ = only(taken({"nodes.json": export, "n.xml": xml(gpu(0, mig(3, 4)))}))
    assert values(seen, "partition") == ["1g.10gb"] * 2
    assert values(seen, "slot") == ["0", "0"]


def static():
    return "\n".join(STATIC.format(gpu=at, bdf=bdf) for at, bdf in enumerate(BDFS))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_the_outputs_of_amd_smi_join_by_address(order):
    listed = "\n".join(f"GPU: {at}\n    BDF: {bdf}\n    NODE_ID: {at + 4}\n" for at, bdf in enumerate(BDFS))
    texts = [("n.static.txt", static()), ("n.topology.txt", LINKS.format(*BDFS)), ("n.list.txt", listed)]
    seen, codes = only(taken(dict(texts[at] for at in order)))
    assert codes == []
    assert values(seen, "sku") == ["MI300X"] * 2
    assert values(seen, "pci") == list(BDFS)
    assert values(seen, "numa") == [0, 1]
    assert seen["devices"][0]["islands"] == [[0, 1]]


def test_rocm_smi_adds_numa_nodes_to_amd_smi():
    without = static().replace("NODE: 0", "NODE: N/A").replace("NODE: 1", "NODE: N/A")
    seen, codes = only(taken({"n.static.txt": without, "n.topo.txt": ROCM}))
    assert codes == []
    assert (values(seen, "sku"), values(seen, "numa")) == (["MI300X"] * 2, [1, 0])


def test_devices_without_a_name_are_told_as_long_as_there_are_some():
    assert only(taken({"n.txt": TOPO}))[1] == ["PRODUCT_NOT_PRINTED"]
    assert only(taken({"n.txt": TOPO, "other.xml": xml(gpu(0))}, node="n"))[1] != []


def test_an_idle_table_clears_what_was_in_use():
    busy = xml(gpu(0, f"<processes>{PROCESS.format(gi='N/A')}</processes>"))
    before = taken({"n.xml": busy})
    assert only(before)[0]["used"] == [{"owner": "process:python", "devices": [0]}]
    idle = taken({"n.xml": xml(gpu(0))})
    assert only(idle)[0]["used"] == []
    assert only(update(before.document, idle, CATALOG, "fleet.yaml"))[0]["used"] == []
    silent = taken({"n.xml": xml(gpu(0, ""))})
    assert "used" not in only(silent)[0]
    assert only(update(before.document, silent, CATALOG, "fleet.yaml"))[0]["used"] == only(before)[0]["used"]


def test_a_topology_merged_into_a_fleet_that_names_its_devices_says_nothing_of_names():
    fleet = taken({"n.xml": xml(gpu(0), gpu(1), gpu(2))}).document
    seen, codes = only(update(fleet, taken({"n.txt": TOPO}), CATALOG, "fleet.yaml"))
    assert codes == []
    assert values(seen, "numa") == [1, 0, 1]
