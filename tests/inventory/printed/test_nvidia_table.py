import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed import nvidia_table
from tests.inventory.printed.outcome import codes, devices, loaded, node, values

HEAD = """+-----------------------------------------------------------------------------+
| NVIDIA-SMI 535.86.10    Driver Version: 535.86.10    CUDA Version: 12.2     |
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|                               |                      |               MIG M. |
|===============================+======================+======================|
"""
BORDER = "+-------------------------------+----------------------+----------------------+\n"
ROWS = """|   {index}  {name} {mode}  | 00000000:0{index}:00.0 Off |                    0 |
| N/A   34C    P8     9W /  70W |      0MiB / {mib}MiB |      0%      Default |
|                               |                      |             {mig} |
"""


def card(index: int, name: str = "Tesla T4", mib: int = 15360, mode: str = "On", mig: str = "N/A") -> str:
    return ROWS.format(index=index, name=name, mib=mib, mode=mode, mig=mig) + BORDER


def read(text: str) -> Fragment:
    return nvidia_table.read(text, "n1", Catalog.builtin())


@pytest.fixture
def sample(test_data: Callable[[str], Path]) -> Callable[[str], str]:
    return lambda name: test_data(f"samples/nvidia-smi-table/{name}").read_text()


def test_one_h100_in_four_instances_under_load(sample: Callable[[str], str]) -> None:
    text = sample("h100-mig-mixed-instances.txt")
    found = read(text)

    assert nvidia_table.recognises(text)
    assert set(values(found, "sku")) == {"H100-SXM5-80GB"}
    assert set(values(found, "product")) == {"NVIDIA H100 80GB HBM3"}
    assert set(values(found, "slot")) == {"0"}  # one card, which is not offered whole
    assert [(device["partition"], device["memory_mib"]) for device in devices(found)] == [
        ("3g.40gb", 40448),
        ("2g.20gb", 20096),
        ("1g.10gb", 9984),
        ("1g.10gb", 9984),
    ]
    assert node(found)["driver"] == {"nvidia": "590.48.01", "cuda": "13.1"}
    assert found.findings == ()  # a utilisation of N/A is none


def test_processes_belong_to_their_instance(sample: Callable[[str], str]) -> None:
    found = read(sample("h100-mig-mixed-instances.txt"))

    first = devices(found)[0]
    assert first["partition"] == "3g.40gb"
    assert node(found)["used"] == [{"owner": "process:gpu_burn, memhog1", "devices": [first["id"]]}]
    assert {row["kind"]: row["free_devices"] for row in loaded(found).overview()} == {
        "H100-SXM5-80GB/3g.40gb": 0,
        "H100-SXM5-80GB/2g.20gb": 1,
        "H100-SXM5-80GB/1g.10gb": 2,
    }


def test_a_name_that_the_table_cut_is_ambiguous(sample: Callable[[str], str]) -> None:
    found = read(sample("windows-wddm-truncated-name.txt"))

    (only,) = devices(found)
    assert only["product"] == "NVIDIA GeForce RTX 2080 ..."
    assert (only["sku"], only["vendor"], only["class"]) == ("unknown", "nvidia", "gpu")
    assert "model" not in only
    assert only["memory_mib"] == 8192  # the Ti has 11264
    assert codes(found) == ["MODEL_AMBIGUOUS"]
    assert "'NVIDIA GeForce RTX 2080 ...' is cut" in found.findings[0].message
    assert node(found)["used"] == []  # processes that draw, with memory N/A
    assert loaded(found).place("gpu:1").ok


def test_the_classic_layout(sample: Callable[[str], str]) -> None:
    found = read(sample("t4-classic-layout-535.txt"))

    assert devices(found) == [{"id": 0, "sku": "T4", "product": "Tesla T4", "memory_mib": 15109, "pci": "0000:00:1e.0"}]
    assert node(found)["driver"] == {"nvidia": "535.86.10", "cuda": "12.2"}
    assert found.findings == ()


def test_several_cards_in_several_modes() -> None:
    cards = [card(0), card(1, "NVIDIA A10", 23028, "Off"), card(2, "NVIDIA A30", 24576, mig="Disabled*")]
    found = read(HEAD + "".join(cards))

    assert values(found, "sku") == ["T4", "A10", "A30"]
    assert values(found, "memory_mib") == [15360, 23028, 24576]
    assert found.findings == ()


def test_memory_tells_what_a_cut_name_leaves_open() -> None:
    cards = [
        card(0, "NVIDIA A100-SXM...", 40960),
        card(1, "Tesla V100-SXM2...", 32510),
        card(2, "NVIDIA A100-SXM...", 9),
    ]
    found = read(HEAD + "".join(cards))

    assert values(found, "sku") == ["A100-SXM4-40GB", "V100-SXM2-32GB", "unknown"]
    assert codes(found) == ["MODEL_AMBIGUOUS", "NAME_CUT", "NAME_CUT"]


def test_the_beginning_of_a_name_settles_nothing_without_memory() -> None:
    text = (HEAD + card(0, "NVIDIA GeForce RTX 50...", 32607)).replace("32607MiB", "N/A")

    assert values(read(text), "sku") == ["unknown"]


def test_rows_that_are_missing_are_named_and_lend_nothing() -> None:
    lines = (HEAD + card(0) + card(1, "NVIDIA A10", 23028)).splitlines(keepends=True)
    without_memory = [line for line in lines if "15360MiB" not in line]
    without_name = [line for line in lines if "NVIDIA A10" not in line]
    without_both = [line for line in without_memory if "NVIDIA A10" not in line and not line.startswith("+--")]

    assert values(read("".join(without_memory)), "memory_mib") == [None, 23028]
    assert values(read("".join(without_name)), "memory_mib") == [15360]
    assert values(read("".join(without_both)), "memory_mib") == [None]
    assert codes(read("".join(without_memory))) == ["TRUNCATED"]
    assert codes(read("".join(without_both))) == ["TEXT_LEFT_OVER", "TRUNCATED"]


def test_a_line_cut_in_a_name_names_no_model() -> None:
    text = HEAD + card(0) + "|   1  NVIDIA H100 PCIe"

    assert values(read(text), "id") == [0]
    assert [finding.message for finding in read(text).findings] == ["line 11: not understood"]


def test_a_table_printed_twice_counts_once() -> None:
    found = read((HEAD + card(0)) * 2)

    assert values(found, "id") == [0]
    assert codes(found) == ["TEXT_LEFT_OVER"]


def test_old_drivers_print_processes_without_instances() -> None:
    processes = """| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|    0      1999      C   python                                      10467MiB |
|    0      2000      G   /usr/lib/xorg/Xorg                             20MiB |
|    7      2001      C   elsewhere                                      20MiB |
"""
    found = read(HEAD + card(0) + processes)

    assert node(found)["used"] == [{"owner": "process:python", "devices": [0]}]
    assert [finding.message for finding in found.findings] == ["line 15: not understood"]


def test_instances_of_a_card_whose_rows_are_missing_are_unknown() -> None:
    rows = "| MIG devices: |\n|  5    2   0   0  |  11091MiB / 40448MiB    | 60      0 |  3   0    3    0    3 |\n"
    found = read(HEAD + card(0) + rows)

    assert values(found, "sku") == ["T4", "unknown"]
    assert values(found, "partition") == [None, "mig"]
    assert values(found, "memory_mib") == [15360, 40448]
    assert set(codes(found)) == {"IN_USE_UNATTRIBUTED", "PARTITION_UNKNOWN", "PRODUCT_NOT_PRINTED", "TRUNCATED"}
    assert node(found)["used"] == [{"owner": "unattributed", "devices": [6]}]


def test_colours_hide_nothing() -> None:
    text = "".join(f"\x1b[1;32m{line}\x1b[0m\r\n" for line in (HEAD + card(0)).splitlines())

    assert read(text) == read(HEAD + card(0))


@pytest.mark.parametrize(
    "text", ["", HEAD, HEAD + "|   0  Tesla", "| NVIDIA-SMI has failed |", HEAD + card(0)[:3] + "9999"]
)
def test_a_table_without_cards_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument, match=re.escape("give all that `nvidia-smi -q -x` prints")):
        read(text)


def test_other_tables_are_not_recognised() -> None:
    assert not nvidia_table.recognises("| NPU   Name | Health |\n")
    assert nvidia_table.recognises("\x1b[4m" + HEAD)
