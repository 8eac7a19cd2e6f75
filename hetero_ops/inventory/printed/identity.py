"""Names by which a device can be told from others: PCI address, UUID, serial number; a masked one is none."""

import re

_PCI = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", re.IGNORECASE)
_UUID = re.compile(r"(?:GPU-|MIG-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SERIAL = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{2,63}")
_NO_SERIAL = re.compile(r"(?:0x)?0+|unknown|none|n/?a|not.*|redacted|masked|(.)\1+", re.IGNORECASE)
_NO_TEXT = re.compile(
    r"\[?(?:n/?a|not (?:available|supported|found)|unknown error|err!)\]?|unknown|none", re.IGNORECASE
)
_MAX_CHARACTERS = 256


def pci_address(text: str | None) -> str | None:
    """Read a PCI address, as `0000:c3:00.0`; a domain of eight digits is cut to four where the others are zeros."""
    match = _PCI.fullmatch((text or "").strip())
    if match is None:
        return None
    domain, bus, device, function = match.groups()
    return f"{int(domain or '0', 16):04x}:{bus}:{device}.{function}".lower()


def card_address(address: str) -> str:
    """Give the part of a PCI address that the partitions of one card share: all but the function."""
    return address.rpartition(".")[0]


def uuid(text: str | None) -> str | None:
    """Read a UUID, with the prefix that its tool prints; `None` when it is masked."""
    match = _UUID.fullmatch((text or "").strip())
    return match[0] if match else None


def serial(text: str | None) -> str | None:
    """Read a serial number; `None` when it is masked, all of one character, or a word for nothing."""
    value = (text or "").strip()
    return value if _SERIAL.fullmatch(value) and not _NO_SERIAL.fullmatch(value) else None


def name(text: str | None) -> str | None:
    """Read a name on one line; `None` when there is none, or it cannot be printed."""
    value = " ".join((text or "").split())
    is_name = value and value.isprintable() and len(value) <= _MAX_CHARACTERS and not _NO_TEXT.fullmatch(value)
    return value if is_name else None
