import pytest

from hetero_ops.inventory.printed import identity


@pytest.mark.parametrize(
    ("printed", "address"),
    [
        ("00000000:C3:00.0", "0000:c3:00.0"),
        ("0000:c3:00.0", "0000:c3:00.0"),
        ("C3:00.0", "0000:c3:00.0"),
        ("00000001:01:00.0", "0001:01:00.0"),
        ("00010000:01:00.0", "10000:01:00.0"),
        (" 0000:c3:00.1 ", "0000:c3:00.1"),
        ("0000:xx:00.0", None),
        ("N/A", None),
        ("", None),
        (None, None),
    ],
)
def test_pci_addresses_have_one_form(printed: str | None, address: str | None) -> None:
    assert identity.pci_address(printed) == address


@pytest.mark.parametrize("masked", ["<redacted>", "GPU-xxxxxxxx-0000-0000-0000-000000000000", "N/A", "", None, "GPU-1"])
def test_a_masked_uuid_is_none(masked: str | None) -> None:
    assert identity.uuid(masked) is None


@pytest.mark.parametrize(
    "masked", ["unknown", "", "N/A", "0x0000000000000000", "0000000", "xxxxxxx", "[N/A]", "*****", None]
)
def test_a_masked_serial_is_none(masked: str | None) -> None:
    assert identity.serial(masked) is None


def test_real_identifiers_are_kept() -> None:
    assert identity.serial("0x014D39EC7CC90C09") == "0x014D39EC7CC90C09"
    assert identity.uuid("MIG-b6ff74a1-0000-1000-80f2-9eff74a15b2b") == "MIG-b6ff74a1-0000-1000-80f2-9eff74a15b2b"


@pytest.mark.parametrize("text", ["N/A", "[Not Supported]", "ERR!", "", "  ", "a\x00b", "\ud800", "x" * 257, None])
def test_what_is_no_name_is_none(text: str | None) -> None:
    assert identity.name(text) is None
