"""What a printed value says, or that it says nothing: masked, not available, empty."""

import re

_NOTHING = re.compile(
    r"|x{2,}|\*+|-+|\?+|\(?null\)?|none|\[?n/?a\]?|n/s|unknown|undefined|err!|<[^<>]*>"
    r"|\[?(?:not (?:available|supported|found)|unknown error|insufficient permissions)\]?",
    re.IGNORECASE,
)
_MASK = re.compile(r"x{3,}|\*{2,}|\bxx\b|\.{3}|redacted|masked|^not |^(?:0x)?[0-]+$|^(.)\1+$", re.IGNORECASE)
_UUID = re.compile(r"(?:GPU-|MIG-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PCI = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", re.IGNORECASE)
_PCI_DEVICE = re.compile(r"(?:0x)?([0-9a-f]{1,4})", re.IGNORECASE)
_LARGEST = 2**53
_MOST_CHARACTERS = 256


def known(text: str | None) -> str | None:
    """Give a printed value without the blanks around it; `None` where it says nothing."""
    stripped = (text or "").strip()
    return None if _NOTHING.fullmatch(stripped) else stripped


def name(text: str | None) -> str | None:
    """Give a name on one line; `None` when there is none, or it cannot be printed."""
    value = known(" ".join((text or "").split()))
    return value if value and value.isprintable() and len(value) <= _MOST_CHARACTERS else None


def identifier(text: str | None) -> str | None:
    """Give a serial number, or what a person calls a device; `None` when it is masked, or all of one character."""
    value = name(text)
    return None if value is None or _MASK.search(value) else value


def uuid(text: str | None) -> str | None:
    """Give a UUID as its tool prints it; `None` when it is masked, was cut, or is all zeros."""
    value = (text or "").strip()
    return value if _UUID.fullmatch(value) and value.strip("0-") else None


def pci_address(text: str | None) -> str | None:
    """Give a PCI address as `0000:c3:00.0`; `None` when it is none, or masked."""
    match = _PCI.fullmatch((text or "").strip())
    if match is None:
        return None
    domain, bus, device, function = match.groups()
    return f"{int(domain or '0', 16):04x}:{bus}:{device}.{function}".lower()


def card_address(address: str) -> str:
    """Give the part of a PCI address that the partitions of one card share: all but the function."""
    return address.rpartition(".")[0]


def pci_id(vendor: str, text: str | None) -> str | None:
    """Give a PCI id as `8086:020a`: tools print `0x20a` for the device, in as many digits as it needs."""
    match = _PCI_DEVICE.fullmatch((text or "").strip())
    return None if match is None else f"{vendor}:{match[1].lower().zfill(4)}"


def number(text: str | None) -> int | None:
    """Give a whole number; `None` when it is none, or larger than any quantity of a machine."""
    stripped = (text or "").strip()
    if not (stripped.isascii() and stripped.isdigit()) or len(stripped) > len(str(_LARGEST)):
        return None
    return int(stripped) if int(stripped) <= _LARGEST else None
