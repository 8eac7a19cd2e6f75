import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.inventory.printed import npu_smi
from tests.inventory.printed.outcome import CATALOG, codes, free, loaded, message, text_of

HEAD = """\
| npu-smi 25.2.0                   Version: 25.2.1                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
"""
PROCESSES = """\
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
"""
TWO_DIES = (
    HEAD
    + """\
| 0     Ascend910           | OK            | 211.3       43                0    / 0             |
| 0     0                   | 0000:9D:00.0  | 7           0    / 0          3161 / 65536         |
+------------------------------------------------------------------------------------------------+
| 0     Ascend910           | OK            | -           44                0    / 0             |
| 1     1                   | 0000:9F:00.0  | 7           0    / 0          61625/ 65536         |
+===========================+===============+====================================================+
"""
    + PROCESSES
    + """\
| 0       1                 | 3328327       | /usr/bin/python train.py --token=secret | 50119    |
+===========================+===============+====================================================+
"""
)


def with_health(word):
    rows = f"| 0     910B3               | {word:<13} | 91.0        36                0    / 0             |\n"
    rows += "| 0     0                   | 0000:41:00.0  | 0           0    / 0          3401 / 65536         |\n"
    idle = "| No running processes found in NPU 0                                                            |\n+===+\n"
    return npu_smi.read(HEAD + rows + "+===+\n" + PROCESSES + idle, "n", CATALOG)


def test_eight_npus_whose_name_is_masked(test_data):
    text = text_of(test_data, "npu-smi/8npu-32gb-name-masked.txt")
    assert npu_smi.recognises(text)
    fragment = npu_smi.read(text, "npu-01", CATALOG)
    (node,) = fragment.nodes
    devices = node["devices"]
    assert [device["id"] for device in devices] == list(range(8))
    assert all(device["sku"] == "unknown" and "model" not in device and "health" not in device for device in devices)
    assert all((device["vendor"], device["class"]) == ("huawei", "npu") for device in devices)
    assert {device["memory_mib"] for device in devices} == {32768}
    used = {chip.used_mib for chip in npu_smi.parse(text).chips}
    assert used == {30709, 30710}
    assert [device["pci"][5:7] for device in devices] == ["c1", "81", "41", "01", "c2", "82", "42", "02"]
    assert node["driver"] == {"huawei": "23.0.rc2.3", "npu-smi": "23.0.rc3"}
    assert [use["devices"] for use in node["used"]] == [[at] for at in range(8)]
    assert {use["owner"] for use in node["used"]} == {"process:python"}
    assert codes(fragment) == ["PRODUCT_NOT_PRINTED"]
    assert free(fragment) == 0


def test_the_64_gb_variant_is_not_taken_for_the_32_gb_one(test_data):
    text = text_of(test_data, "npu-smi/910b4-1-masked-bus.txt")
    fragment = npu_smi.read(text, "npu-02", CATALOG)
    (node,) = fragment.nodes
    assert [(device["sku"], device["memory_mib"]) for device in node["devices"]] == [("Ascend-910B4-1", 65536)] * 2
    assert not any("pci" in device for device in node["devices"])
    assert codes(fragment) == ["TRUNCATED", "TRUNCATED"]
    assert "the table is not closed" in message(fragment, "TRUNCATED")
    assert "used" not in node
    assert free(fragment) == 2


def test_full_memory_without_a_process_is_not_idle(test_data):
    text = text_of(test_data, "npu-smi/910b4-in-use-cut.txt")
    assert [chip.used_mib for chip in npu_smi.parse(text).chips] == [26838, 29356]
    fragment = npu_smi.read(text, "npu-03", CATALOG)
    (node,) = fragment.nodes
    assert [(device["sku"], device["memory_mib"]) for device in node["devices"]] == [("Ascend-910B4", 32768)] * 2
    assert codes(fragment) == ["IN_USE_UNATTRIBUTED", "IN_USE_UNATTRIBUTED", "TRUNCATED"]
    assert "26838 of 32768 MiB in use (AICore 0 %)" in message(fragment, "IN_USE_UNATTRIBUTED")
    assert free(fragment) == 0


def test_two_dies_of_a_card_are_two_devices_by_their_physical_ids():
    fragment = npu_smi.read(TWO_DIES, "n", CATALOG)
    (node,) = fragment.nodes
    assert [(device["id"], device["sku"], device["pci"]) for device in node["devices"]] == [
        (0, "Ascend-910C", "0000:9d:00.0"),
        (1, "Ascend-910C", "0000:9f:00.0"),
    ]
    assert node["used"] == [{"owner": "process:python", "devices": [1]}]
    assert "secret" not in str(fragment)
    assert codes(fragment) == []
    assert loaded(fragment).place("npu:1").ok


def test_an_idle_table_says_that_nothing_is_in_use():
    assert with_health("OK").nodes[0]["used"] == []


@pytest.mark.parametrize(
    ("word", "health", "is_noted"),
    [("OK", None, False), ("Warning", None, True), ("Alarm", "unhealthy", True), ("Critical", "unhealthy", True)],
)
def test_health_is_kept(word, health, is_noted):
    fragment = with_health(word)
    assert fragment.nodes[0]["devices"][0].get("health") == health
    assert ("DEVICE_WARNING" in codes(fragment)) is is_noted


def test_memory_that_the_name_contradicts_is_kept_and_told():
    text = TWO_DIES.replace("Ascend910  ", "910B4      ")
    fragment = npu_smi.read(text, "n", CATALOG)
    assert {(device["sku"], device["memory_mib"]) for device in fragment.nodes[0]["devices"]} == {
        ("Ascend-910B4", 65536)
    }
    assert codes(fragment) == ["MEMORY_CONTRADICTS"]


def test_a_chip_whose_second_row_is_cut_off_is_still_a_device():
    text = "\n".join(TWO_DIES.splitlines()[:9])
    fragment = npu_smi.read(text, "n", CATALOG)
    assert len(fragment.nodes[0]["devices"]) == 2
    assert "the second row of the last chip is missing" in message(fragment, "TRUNCATED")


def test_a_process_of_a_chip_that_is_not_printed_is_told():
    text = TWO_DIES.replace("| 0       1   ", "| 5       0   ")
    assert "process 3328327 runs on NPU 5" in message(npu_smi.read(text, "n", CATALOG), "TRUNCATED")


def test_a_table_without_chips_is_refused_with_the_command():
    with pytest.raises(InvalidDocument, match="give all that `npu-smi info` prints"):
        npu_smi.read(HEAD, "n", CATALOG)
