import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.inventory.printed import hl_smi
from tests.inventory.printed.outcome import CATALOG, codes, free, message, text_of

SAMPLE = "hl-smi/gaudi2-8-hl-1.22.txt"
BUSY = """\
| HL-SMI Version:                              hl-1.21.1-fw-59.2.3.0          |
|-------------------------------+----------------------+----------------------+
| AIP  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | AIP-Util  Compute M. |
|===============================+======================+======================|
|   0  HL-325L             N/A  | 0000:e9:00.0     N/A |                   0  |
| N/A   36C   P0  228W /  450W  | 94963MiB / 131072MiB |    88%           96% |
|-------------------------------+----------------------+----------------------+
|   1  HL-325L             N/A  | 0000:c1:00.0     N/A |                   0  |
| N/A   37C   N/A  226W / 900W  |   672MiB / 131072MiB |     0%           N/A |
|-------------------------------+----------------------+----------------------+
"""
PROCESSES = """\
| Compute Processes:                                               AIP Memory |
|  AIP       PID   Type   Process name                             Usage      |
|=============================================================================|
|   0        4711   C     python3 serve.py                         94291MiB   |
|   1        N/A   N/A    N/A                                      N/A        |
+=============================================================================+
"""


def test_eight_gaudi2(test_data):
    text = text_of(test_data, SAMPLE)
    assert hl_smi.recognises(text)
    fragment = hl_smi.read(text, "gaudi-01", CATALOG)
    (node,) = fragment.nodes
    assert [device["id"] for device in node["devices"]] == list(range(8))  # the process table adds none
    assert {(device["sku"], device["memory_mib"]) for device in node["devices"]} == {("Gaudi2-HL-225", 98304)}
    assert [device["pci"] for device in node["devices"]][:3] == ["0000:33:00.0", "0000:9a:00.0", "0000:34:00.0"]
    cards = hl_smi.parse(text).cards
    assert {(card.used_mib, card.power_cap_w, card.events) for card in cards} == {(768, 600, 2)}
    assert node["driver"] == {
        "hl-smi": "hl-1.22.1-fw-61.4.2.1",
        "gaudi": "1.22.1-97ec1a4",
        "gaudi-nic": "1.22.1-97ec1a4",
    }
    assert codes(fragment) == ["DEVICE_WARNING"]
    assert "2 uncorrected events; taken as usable" in message(fragment, "DEVICE_WARNING")
    assert node["used"] == []
    assert free(fragment) == 8


def test_processes_and_power_caps():
    fragment = hl_smi.read(BUSY + PROCESSES, "n", CATALOG)
    (node,) = fragment.nodes
    assert {device["sku"] for device in node["devices"]} == {"Gaudi3-HL-325L"}
    assert node["used"] == [{"owner": "process:python3", "devices": [0]}]
    assert message(fragment, "DEVICE_WARNING") == (
        "NPU 0: its power is capped at 450 W, below the 900 W of the catalog"
    )


def test_without_the_process_table_full_memory_is_in_use_by_nobody_knows_whom():
    fragment = hl_smi.read(BUSY, "n", CATALOG)
    assert fragment.nodes[0]["used"] == [{"owner": "unattributed", "devices": [0]}]
    assert {"IN_USE_UNATTRIBUTED", "TRUNCATED"} <= set(codes(fragment))


def test_a_cut_card_is_kept_and_told():
    text = "\n".join(BUSY.splitlines()[:9])
    fragment = hl_smi.read(text, "n", CATALOG)
    assert [device["id"] for device in fragment.nodes[0]["devices"]] == [0, 1]
    assert "the second row of the last card is missing" in message(fragment, "TRUNCATED")


def test_lines_that_say_nothing_are_told():
    fragment = hl_smi.read("node$ hl-smi\n" + BUSY + PROCESSES, "n", CATALOG)
    assert message(fragment, "TEXT_LEFT_OVER") == "line 1: not understood"


def test_a_card_that_the_catalog_does_not_have_is_unknown():
    fragment = hl_smi.read(BUSY.replace("HL-325L", "HL-999X"), "n", CATALOG)
    device = fragment.nodes[0]["devices"][0]
    assert (device["sku"], device["vendor"], device["class"], device["model"]) == ("unknown", "intel", "npu", "HL-999X")


def test_a_header_alone_is_refused_with_the_command():
    with pytest.raises(InvalidDocument, match="give all that `hl-smi` prints"):
        hl_smi.read("\n".join(BUSY.splitlines()[:5]), "n", CATALOG)
