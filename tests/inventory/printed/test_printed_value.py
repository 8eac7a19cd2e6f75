import pytest

from hetero_ops.inventory.printed.printed_value import identifier, known, name, number, pci_address, pci_id, uuid


@pytest.mark.parametrize(
    "text", [None, "", "  ", "N/A", "[N/A]", "xxx", "****", "unknown", "(null)", "n/s", "<serial>", "[Not Supported]"]
)
def test_what_says_nothing_is_none(text):
    assert known(text) is None
    assert name(text) is None
    assert identifier(text) is None


@pytest.mark.parametrize("text", ["ERR!", "[Insufficient Permissions]", "a\x00b", "\ud800", "x" * 257])
def test_what_is_no_name_is_none(text):
    assert name(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("0000000000", "0x0000000000000000", "00000000-0000-0000-0000-000000000000", "1111111", "[N/A]"),
        *("GPU-xxxx1234", "12**34", "ab...", "<redacted>", "redacted", "not readable"),
    ],
)
def test_masked_identifiers_are_none(text):
    assert identifier(text) is None


@pytest.mark.parametrize("text", ["1320220012345", "GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77", "PK0X1", "0x014D39EC"])
def test_identifiers_are_kept_as_printed(text):
    assert identifier(f" {text} ") == text


@pytest.mark.parametrize(
    "text", ["<redacted>", "GPU-xxxxxxxx-0000-0000-0000-000000000000", "N/A", "", None, "GPU-1", "0-0"]
)
def test_what_has_not_the_form_of_a_uuid_is_none(text):
    assert uuid(text) is None


@pytest.mark.parametrize("text", ["MIG-b6ff74a1-0000-1000-80f2-9eff74a15b2b", "00000000-0000-0003-0000-0000e20b8086"])
def test_uuids_are_kept_as_printed(text):
    assert uuid(f" {text}\n") == text


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("C3:00.0", "0000:c3:00.0"),
        ("00000000:C3:00.0", "0000:c3:00.0"),
        ("00000001:01:00.0", "0001:01:00.0"),
        ("00010000:01:00.0", "10000:01:00.0"),
        (" 0000:c3:00.1 ", "0000:c3:00.1"),
        ("0000:xx:00.0", None),
        ("0000:17:00", None),
        ("NA", None),
        ("", None),
        (None, None),
    ],
)
def test_addresses_have_one_form(text, address):
    assert pci_address(text) == address


def test_pci_ids_have_four_digits():
    assert [pci_id("8086", text) for text in ("0x20a", "0xe20b", "bda", "", "0x12345")] == [
        "8086:020a",
        "8086:e20b",
        "8086:0bda",
        None,
        None,
    ]


@pytest.mark.parametrize(("text", "value"), [("12", 12), (" 7 ", 7), ("-1", None), ("٣", None), ("9" * 30, None)])
def test_numbers(text, value):
    assert number(text) == value
