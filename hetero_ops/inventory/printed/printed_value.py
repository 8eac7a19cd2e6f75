"""What a printed value says, or that it says nothing: masked, not available, empty."""

import re

_NOTHING = re.compile(
    r"|x{2,}|\*+|-+|\?+|\(?null\)?|none|\[?n/?a\]?|n/s|unknown|undefined|\[?not (?:available|supported|found)\]?"
    r"|<[^<>]*>",
    re.IGNORECASE,
)
_MASK = re.compile(r"x{3,}|\*{2,}|\bxx\b|\.{3}")
_PCI = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", re.IGNORECASE)
_PCI_DEVICE = re.compile(r"(?:0x)?([0-9a-f]{1,4})", re.IGNORECASE)
_LARGEST = 2**53


def known(text: str | None) -> str | None:
    """Give a printed value without the blanks around it; `None` where it says nothing."""
    stripped = (text or "").strip()
    return None if _NOTHING.fullmatch(stripped) else stripped


def identifier(text: str | None) -> str | None:
    """Give a serial number or UUID; `None` when it is masked or all zeros, since such a one tells no device apart."""
    value = known(text)
    if value is None or _MASK.search(value) or not value.strip("0-"):
        return None
    return value


def pci_address(text: str | None) -> str | None:
    """Give a PCI address as `0000:c3:00.0`; `None` when it is none, or masked."""
    match = _PCI.fullmatch((text or "").strip())
    if match is None:
        return None
    domain, bus, device, function = match.groups()
    return f"{int(domain or '0', 16):04x}:{bus}:{device}.{function}".lower()


def pci_device_id(text: str | None) -> str | None:
    """Give a PCI device id as four hexadecimal digits: tools print `0x20a` for `020a`."""
    match = _PCI_DEVICE.fullmatch((text or "").strip())
    return None if match is None else match[1].lower().zfill(4)


def number(text: str | None) -> int | None:
    """Give a whole number; `None` when it is none, or larger than any quantity of a machine."""
    stripped = (text or "").strip()
    if not (stripped.isascii() and stripped.isdigit()) or len(stripped) > len(str(_LARGEST)):
        return None
    return int(stripped) if int(stripped) <= _LARGEST else None
