"""Quantities as people write them, and the integers that we count in.

Memory is counted in MiB and bandwidth in MB/s. A parsed quantity is always a whole number of them, so that no sum
drifts; a printed one is the shortest form that parses back to the same number.
"""

import re
from decimal import Decimal

MAX_MEMORY_MIB = 1 << 30
"""1024 TB: beyond any device, so a larger size is a slip of the pen."""

MAX_BANDWIDTH_MBPS = 1_000_000_000
"""1000 TB/s, an order of magnitude above on-chip SRAM."""

_MEMORY_UNITS_MIB = {"MB": 1, "GB": 1024, "TB": 1024 * 1024}
_BANDWIDTH_UNITS_MBPS = {"MB/s": 1, "GB/s": 1000, "TB/s": 1_000_000}

# [0-9], not \d: other scripts' digits look like a size to Python and like a riddle to the next reader.
_NUMBER = r"(?P<number>[0-9]{1,12}(?:\.[0-9]{1,6})?)"
_MEMORY = re.compile(_NUMBER + r"(?P<unit>[MGT])I?B", re.IGNORECASE)
_BANDWIDTH = re.compile(_NUMBER + r"(?P<unit>[MGT])B/S", re.IGNORECASE)
_QUOTED_CHARACTERS = 40


def parse_memory(text: str) -> int:
    """Reads a memory size such as `80GB`, `512MiB` or `1.5TB`.

    `GB` and `GiB` both mean 1024 MiB, and `TB` and `TiB` 1024 times that: vendors print either for the same part, a
    size names the nominal class of a device, and `>=80GB` must admit exactly the devices that `>=80GiB` admits.

    Args:
        text: a positive decimal number and a unit, without blanks; upper and lower case are the same.

    Returns:
        MiB, at least 1.

    Raises:
        ValueError: not a size, not a whole number of MiB, or more than 1024 TB.
    """
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise ValueError(f"{quoted(text)} is not a memory size; write a number and a unit, such as 80GB or 512MB")
    scaled = Decimal(match["number"]) * _MEMORY_UNITS_MIB[match["unit"].upper() + "B"]
    return _whole(text, scaled, MAX_MEMORY_MIB, "MB")


def format_memory(memory_mib: int) -> str:
    """Prints MiB as the largest unit that leaves a whole number: `80GB`, `512MB`, `1TB`."""
    return _largest_whole(memory_mib, _MEMORY_UNITS_MIB)


def parse_bandwidth(text: str) -> int:
    """Reads a bandwidth such as `600GB/s` or `3.35TB/s`; the units are decimal, as in data sheets.

    Args:
        text: a positive decimal number and a unit, without blanks; upper and lower case are the same.

    Returns:
        MB/s, at least 1.

    Raises:
        ValueError: not a bandwidth, not a whole number of MB/s, or more than 1000 TB/s.
    """
    match = _BANDWIDTH.fullmatch(text)
    if match is None:
        raise ValueError(f"{quoted(text)} is not a bandwidth; write a number and a unit, such as 600GB/s or 3TB/s")
    scaled = Decimal(match["number"]) * _BANDWIDTH_UNITS_MBPS[match["unit"].upper() + "B/s"]
    return _whole(text, scaled, MAX_BANDWIDTH_MBPS, "MB/s")


def format_bandwidth(bandwidth_mbps: int) -> str:
    """Prints MB/s as the largest unit that leaves a whole number: `600GB/s`, `3TB/s`, `3350GB/s`."""
    return _largest_whole(bandwidth_mbps, _BANDWIDTH_UNITS_MBPS)


def quoted(text: str) -> str:
    """Quotes what a person wrote for an error message: printable, on one line and not longer than a line."""
    shown = text if len(text) <= _QUOTED_CHARACTERS else text[:_QUOTED_CHARACTERS] + "..."
    return repr(shown)


def _whole(text: str, scaled: Decimal, limit: int, unit: str) -> int:
    """Takes an amount in the counting unit, which must be whole, positive and at most `limit`."""
    if scaled > limit:
        raise ValueError(f"{quoted(text)} is too large; no device has more than {limit}{unit}, check the unit")
    if scaled == 0:
        raise ValueError(f"{quoted(text)} is zero; write a positive amount, or leave it out if it does not matter")
    if scaled != int(scaled):
        nearest = max(1, round(scaled))
        raise ValueError(f"{quoted(text)} is not a whole number of {unit}; write {nearest}{unit}")
    return int(scaled)


def _largest_whole(amount: int, units: dict[str, int]) -> str:
    unit, factor = max((item for item in units.items() if amount % item[1] == 0), key=lambda item: item[1])
    return f"{amount // factor}{unit}"
