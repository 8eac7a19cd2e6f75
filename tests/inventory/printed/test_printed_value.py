import pytest

from hetero_ops.inventory.printed.printed_value import identifier, known, number, pci_address, pci_device_id


@pytest.mark.parametrize(
    "text", [None, "", "  ", "N/A", "[N/A]", "xxx", "****", "unknown", "(null)", "n/s", "<serial>"]
)
def test_what_says_nothing_is_none(text):
    assert known(text) is None
    assert identifier(text) is None


@pytest.mark.parametrize(
    "text", ["0000000000", "00000000-0000-0000-0000-000000000000", "GPU-xxxx1234", "12**34", "ab..."]
)
def test_masked_identifiers_are_none(text):
    assert identifier(text) is None


@pytest.mark.parametrize("text", ["1320220012345", "GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77", "PK0X1"])
def test_identifiers_are_kept_as_printed(text):
    assert identifier(f" {text} ") == text


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("C3:00.0", "0000:c3:00.0"),
        ("00000000:C3:00.0", "0000:c3:00.0"),
        ("00010000:01:00.0", "10000:01:00.0"),
        ("0000:c3:00.0", "0000:c3:00.0"),
        ("0000:xx:00.0", None),
        ("0000:17:00", None),
        ("NA", None),
        (None, None),
    ],
)
def test_addresses_have_one_form(text, address):
    assert pci_address(text) == address


def test_device_ids_have_four_digits():
    assert [pci_device_id(text) for text in ("0x20a", "0xe20b", "bda", "", "0x12345")] == [
        "020a",
        "e20b",
        "0bda",
        None,
        None,
    ]


@pytest.mark.parametrize(("text", "value"), [("12", 12), (" 7 ", 7), ("-1", None), ("٣", None), ("9" * 30, None)])
def test_numbers(text, value):
    assert number(text) == value
