import json

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.inventory.printed import xpu_smi
from tests.inventory.printed.outcome import CATALOG, codes, loaded, message, text_of


def test_one_arc_b580(test_data):
    text = text_of(test_data, "xpu-smi/arc-b580-detail.txt")
    assert xpu_smi.recognises(text)
    fragment = xpu_smi.read(text, "ws-01", CATALOG)
    (node,) = fragment.nodes
    (device,) = node["devices"]
    assert device == {
        "id": 0,
        "sku": "Arc-B580",
        "product": "Intel(R) Arc(TM) B580 Graphics",
        "memory_mib": 12216,
        "uuid": "00000000-0000-0003-0000-0000e20b8086",
        "pci": "0000:03:00.0",
        "slot": "PCIEx16(G5)",
    }  # serial "unknown" is no id, and an empty firmware version is none
    assert node["driver"] == {"intel": "9FF4708BCC22C0EE6FD801A"}
    (printed,) = xpu_smi.parse(text).devices.values()
    assert (printed["PCI Device ID"], printed["Number of Tiles"], printed["Memory Bus Width"]) == ("0xe20b", "1", "384")
    assert codes(fragment) == []
    assert loaded(fragment).overview()[0]["memory_mib"] == 12288


def test_silicon_without_a_market_name(test_data):
    text = text_of(test_data, "xpu-smi/unnamed-0x020a-discovery.json")
    assert xpu_smi.recognises(text)
    fragment = xpu_smi.read(text, "ws-02", CATALOG)
    (device,) = fragment.nodes[0]["devices"]
    assert (device["sku"], device["product"]) == ("unknown", "Intel(R) Graphics [0x020a]")
    assert (device["vendor"], device["pci"]) == ("intel", "0000:4d:00.0")
    assert "8086:020a" in message(fragment, "UNKNOWN_DEVICE")
    assert "memory_mib" not in device


def test_a_matrix_above_the_table_adds_no_devices(test_data):
    text = text_of(test_data, "xpu-smi/arc-pro-b60-8gpu-topology-cut.txt")
    assert xpu_smi.recognises(text)
    fragment = xpu_smi.read(text, "ws-03", CATALOG)
    (device,) = fragment.nodes[0]["devices"]
    assert (device["sku"], device["pci"]) == ("Arc-Pro-B60", "0000:17:00.0")
    assert codes(fragment) == ["TEXT_LEFT_OVER", "TRUNCATED"]
    assert message(fragment, "TEXT_LEFT_OVER") == "lines 1-7: not understood"


def devices(*listed):
    return json.dumps({"device_list": list(listed)})


def test_bytes_of_the_json_form_are_mebibytes():
    fields = {"device_id": 3, "device_name": "Intel(R) Data Center GPU Flex 170", "vendor_name": "Intel(R) Corporation"}
    text = devices(fields | {"memory_physical_size_byte": "17046700032", "serial_number": "LQAC1234"})
    (device,) = xpu_smi.read(text, "n", CATALOG).nodes[0]["devices"]
    assert (device["id"], device["sku"], device["memory_mib"], device["serial"]) == (3, "Flex-170", 16257, "LQAC1234")


def test_one_device_may_stand_without_a_list():
    text = json.dumps({"device_id": 1, "device_name": "Intel(R) Data Center GPU Max 1100", "pci_device_id": "0xbda"})
    assert xpu_smi.recognises(text)
    assert xpu_smi.read(text, "n", CATALOG).nodes[0]["devices"][0]["sku"] == "Max-1100"


def test_one_uuid_for_two_devices_names_neither():
    uuid = "00000000-0000-0000-0000-020a00008086"
    text = devices(*({"device_id": at, "device_name": "Intel(R) Graphics", "uuid": uuid} for at in (0, 1)))
    fragment = xpu_smi.read(text, "n", CATALOG)
    assert [device.get("uuid") for device in fragment.nodes[0]["devices"]] == [None, None]
    assert "GPU 0-1: uuid" in message(fragment, "ID_REPEATED")


def test_a_name_that_was_cut_is_not_read():
    text = "| Device ID | Device Information |\n| 0 | Device Type: GPU |\n"
    text += "|  | Device Name: Intel(R) Data Center GPU Flex 1"
    fragment = xpu_smi.read(text, "n", CATALOG)
    assert fragment.nodes[0]["devices"] == [{"id": 0, "sku": "unknown", "vendor": "intel", "class": "gpu"}]
    assert codes(fragment) == ["PRODUCT_NOT_PRINTED", "TEXT_LEFT_OVER", "TRUNCATED"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"device_list": []}', "no device can be read"),
        ('{"device_list": [{"device_name": "x"}]}', "a device without device_id"),
        ('{"device_list": {}}', "expected a list"),
        ("| Device ID | Device Information |\n+---+\n", "no device can be read"),
    ],
)
def test_what_tells_of_no_device_is_refused(text, what):
    with pytest.raises(InvalidDocument, match=what) as caught:
        xpu_smi.read(text, "n", CATALOG)
    assert "xpu-smi discovery" in str(caught.value) or "as it was printed" in str(caught.value)
