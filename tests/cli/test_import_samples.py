"""Every sample of the data goes through `fleet import`, and says what its index says that a correct reader finds."""

import re
import subprocess
import sys
from dataclasses import dataclass, field

import pytest
import yaml

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_list import expand
from hetero_ops.inventory.intake import Handed, Hints, gather, without_defaults
from hetero_ops.inventory.printed.dispatch import READERS
from hetero_ops.placement.fleet import Fleet

CATALOG = Catalog.builtin()
OF_KUBERNETES = ("kubernetes-nodes", "node-resource-topology")
FOLDERS = (
    *("nvidia-smi-xml", "nvidia-smi-table", "nvidia-smi-topo", "amd-smi", "rocm-smi-showtopo"),
    *("npu-smi", "hl-smi", "xpu-smi", "scontrol", *OF_KUBERNETES),
)
ALL_8 = [[0, 1, 2, 3, 4, 5, 6, 7]]
H100, A100 = "H100-SXM5-80GB", "A100-SXM4-40GB"


@dataclass(frozen=True)
class Found:
    """What must be found: values of all devices in the order of their ids; one for all stands alone."""

    count: int
    sku: str | list[str] = "unknown"
    memory_mib: int | list[int] | None = None
    numa: list[int] | None = None
    islands: list[list[int]] | None = None  # `None`: unknown, `[]`: each device alone
    partition: list[str] | None = None
    pci: str | None = None  # of the first device
    used: list[str] | None = None  # owners; `None`: nobody looked
    codes: list[str] = field(default_factory=list)
    nodes: int = 1
    node: str | None = None  # what is given as --node


def unnamed(count, **more):
    return Found(count, codes=["PRODUCT_NOT_PRINTED"], **more)


OUTCOMES = {
    "nvidia-smi-xml/h100-8gpu-580.xml": Found(8, H100, 81559, pci="0000:53:00.0"),
    "nvidia-smi-xml/gb200-4gpu-580.xml": Found(4, "GB200-186GB", 189471, islands=[[0, 1, 2, 3]], pci="0000:29:00.0"),
    "nvidia-smi-xml/t4-1gpu-595.xml": Found(1, "T4", 15360, pci="0000:00:1e.0"),
    "nvidia-smi-xml/gtx1070ti-schema-v10.xml": Found(1, "unknown", 4096, pci="0000:01:00.0", codes=["UNKNOWN_DEVICE"]),
    "nvidia-smi-table/h100-mig-mixed-instances.txt": Found(
        *(4, H100, [40448, 20096, 9984, 9984]),
        partition=["3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"],
        used=["process:gpu_burn, memhog1"],
    ),
    "nvidia-smi-table/windows-wddm-truncated-name.txt": Found(1, "unknown", 8192, used=[], codes=["MODEL_AMBIGUOUS"]),
    "nvidia-smi-table/t4-classic-layout-535.txt": Found(1, "T4", 15109, pci="0000:00:1e.0", used=[]),
    "nvidia-smi-topo/hgx-h100-8gpu-8nic.txt": unnamed(8, numa=[0] * 4 + [1] * 4, islands=ALL_8),
    "nvidia-smi-topo/pcie-8gpu-all-sys-2nic.txt": unnamed(8, numa=[0] * 4 + [1] * 4, islands=[]),
    "nvidia-smi-topo/pcie-4gpu-one-nvlink-pair-old-header.txt": unnamed(4, numa=[0, 0, 1, 1], islands=[[0, 1]]),
    "nvidia-smi-topo/workstation-2gpu-phb.txt": unnamed(2, numa=[0, 0], islands=[]),
    "nvidia-smi-topo/single-gpu-ansi-underline.txt": unnamed(1, numa=[0], islands=[]),
    "amd-smi/topology-8gpu-xgmi.txt": unnamed(8, islands=ALL_8, pci="0000:0c:00.0"),
    "amd-smi/topology-2gpu-pcie.json": unnamed(2, islands=[]),
    "amd-smi/static-mi300a-4apu.txt": Found(
        4, "MI300A", 64289, numa=[0, 1, 2, 3], pci="0000:01:00.0", codes=["MEMORY_CONTRADICTS"]
    ),
    "amd-smi/list-2gpu.txt": unnamed(2, pci="0000:23:00.0"),
    "rocm-smi-showtopo/4gpu-pcie-weight52.txt": unnamed(4, islands=[]),
    "rocm-smi-showtopo/8gpu-numa-only.txt": unnamed(8, numa=[0] * 4 + [1] * 4),
    "npu-smi/8npu-32gb-name-masked.txt": unnamed(8, memory_mib=32768, pci="0000:c1:00.0", used=["process:python"] * 8),
    "npu-smi/910b4-1-masked-bus.txt": Found(2, "Ascend-910B4-1", 65536, codes=["TRUNCATED"] * 2),
    "npu-smi/910b4-in-use-cut.txt": Found(
        *(2, "Ascend-910B4", 32768),
        used=["unattributed"] * 2,
        codes=["IN_USE_UNATTRIBUTED"] * 2 + ["TRUNCATED"],
    ),
    "hl-smi/gaudi2-8-hl-1.22.txt": Found(8, "Gaudi2-HL-225", 98304, used=[], codes=["DEVICE_WARNING"]),
    "xpu-smi/arc-b580-detail.txt": Found(1, "Arc-B580", 12216),
    "xpu-smi/unnamed-0x020a-discovery.json": Found(1, codes=["UNKNOWN_DEVICE"]),
    "xpu-smi/arc-pro-b60-8gpu-topology-cut.txt": Found(
        1, "Arc-Pro-B60", pci="0000:17:00.0", codes=["TEXT_LEFT_OVER", "TRUNCATED"]
    ),
    "scontrol/3-cloud-nodes-no-gres.txt": Found(0, used=[], codes=["NODE_NOT_READY"] * 3, nodes=3),
    "kubernetes-nodes/a100-mig-7g-mixed.yaml": Found(1, A100, 40192, partition=["7g.40gb"]),
    "kubernetes-nodes/t4-two-plain.yaml": Found(2, "T4", 15360),
    "kubernetes-nodes/labels-only-h100-mig-mixed.json": Found(
        *(4, H100, [9984, 9984, 20096, 40320]),
        partition=["1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"],
        codes=["NODE_MISSING"],
        node="n",
    ),
    "kubernetes-nodes/minimal-one-gpu.yaml": Found(1, codes=["UNLABELLED"], node="n"),
    "node-resource-topology/two-zones-example-devices.yaml": Found(0, codes=["NODE_MISSING"]),
    "node-resource-topology/two-zones-gpu-flow-style.yaml": Found(
        8, numa=[0] * 4 + [1] * 4, codes=["NODE_MISSING", "UNLABELLED"]
    ),
}
REFUSED = {
    "scontrol/gres-lines-only.txt": "no NodeName in this text; it tells of 4 GPUs of unknown model, 3 in use, 1 free; "
    "give the output of `scontrol show node -d`, which names the nodes",
    "kubernetes-nodes/labels-only-h100-mig-mixed.json": "these are the labels of a node, without the node; "
    "give the output of `kubectl get nodes,pods -A -o json`, or say whose they are by --node NAME",
    "kubernetes-nodes/minimal-one-gpu.yaml": "a node without metadata.name; give the whole object, as it was printed, "
    "or name it by --node",
}


def taken(test_data, name, node=None):
    path = test_data(f"samples/{name}")
    imported = gather([Handed(path.name, path.read_bytes())], CATALOG, Hints(node=node))
    Fleet.from_document(without_defaults(imported.document))
    return imported


def of_each(value, count):
    return value if isinstance(value, list) else [value] * count


def test_every_sample_has_a_row(test_data):
    files = {f"{folder}/{file.name}" for folder in FOLDERS for file in test_data(f"samples/{folder}").iterdir()}
    assert {name for name in files if not name.endswith("/INDEX.md")} == {*OUTCOMES, *REFUSED}


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_sample_is_read_as_its_index_says(test_data, name):
    found = OUTCOMES[name]
    imported = taken(test_data, name, found.node)
    ((cluster),) = imported.document["clusters"]
    assert len(cluster["nodes"]) == found.nodes
    seen = cluster["nodes"][0]
    devices = expand(seen.get("devices", []))

    def values(key):
        return [device.get(key) for device in devices]

    assert len(devices) == found.count
    assert values("sku") == of_each(found.sku, found.count)
    assert values("memory_mib") == of_each(found.memory_mib, found.count)
    assert values("numa") == of_each(found.numa, found.count)
    assert values("partition") == of_each(found.partition, found.count)
    assert found.pci in (None, values("pci")[:1] and values("pci")[0])
    assert [use["owner"] for use in seen.get("used", [])] == (found.used or [])
    assert ("used" in seen) is (found.used is not None)
    assert sorted(finding.code for finding in imported.findings) == found.codes
    islands = [island for each in values("islands") for island in each or []]
    assert islands == (found.islands or [])
    if found.islands == []:
        assert values("islands") == [[]] * found.count
    elif found.islands is None:
        assert values("islands") == [None] * found.count


@pytest.mark.parametrize("name", REFUSED)
def test_a_sample_is_refused_in_one_line_that_says_what_to_run(test_data, name):
    with pytest.raises(InvalidDocument) as caught:
        taken(test_data, name)
    assert REFUSED[name] in str(caught.value)
    assert name.rpartition("/")[2] in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [*OUTCOMES, *REFUSED])
def test_a_sample_is_for_one_reader(test_data, name):
    text = test_data(f"samples/{name}").read_text(encoding="utf-8")
    folder = name.partition("/")[0]
    reader = {"nvidia-smi-xml": "nvidia_xml", "nvidia-smi-table": "nvidia_table", "nvidia-smi-topo": "nvidia_topo"}.get(
        folder, folder.removesuffix("-showtopo").replace("-", "_")
    )
    recognising = [each.__name__.rpartition(".")[2] for each in READERS if each.recognises(text)]
    assert recognising == ([] if folder in OF_KUBERNETES else [reader])


def test_the_command_imports_a_mix_and_shows_it(test_data, tmp_path):
    names = [
        "nvidia-smi-xml/gb200-4gpu-580.xml",
        "amd-smi/static-mi300a-4apu.txt",
        "hl-smi/gaudi2-8-hl-1.22.txt",
        "npu-smi/910b4-in-use-cut.txt",
        "scontrol/3-cloud-nodes-no-gres.txt",
        "kubernetes-nodes/t4-two-plain.yaml",
        "node-resource-topology/two-zones-gpu-flow-style.yaml",
    ]
    file = tmp_path / "fleet.yaml"
    command = [sys.executable, "-m", "hetero_ops.cli", "fleet"]
    sources = [str(test_data(f"samples/{name}")) for name in names]
    done = subprocess.run([*command, "import", *sources, "-o", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "8 nodes, 20 devices, 18 free"
    assert "NODE_MISSING gpu-node-e: its NodeResourceTopology is in the input, but no such node" in done.stderr
    assert "MEMORY_CONTRADICTS static-mi300a-4apu: GPU 0-3: 64289 MiB printed" in done.stderr
    (cluster,) = yaml.safe_load(file.read_text())["clusters"]
    assert len(cluster["nodes"]) == 8
    shown = subprocess.run([*command, "show", "--fleet", str(file)], capture_output=True, text=True, check=True).stdout
    for sku in ("GB200-186GB", "MI300A", "Gaudi2-HL-225", "Ascend-910B4", "T4"):
        assert re.search(rf"\b{sku}\b", shown), shown
