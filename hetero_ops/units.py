"""Quantities as people write them, and the integers that we count in.

Memory is counted in MiB, bandwidth in MB/s, time in milliseconds and power in milliwatt. A parsed quantity is always a
whole number of them, so that no sum drifts; a printed one is the shortest form that parses back to the same number.
"""

import re
from decimal import Decimal

MAX_MEMORY_MIB = 1 << 30
"""1024 TB: beyond any device, so a larger size is a slip of the pen."""

MAX_BANDWIDTH_MBPS = 1_000_000_000
"""1000 TB/s, an order of magnitude above on-chip SRAM."""

MAX_DURATION_MS = 365 * 86_400_000
"""A year: longer than any step waits or any answer takes."""

MAX_POWER_MW = 1_000_000_000
"""A megawatt, several full racks."""

_MEMORY_UNITS_MIB = {"MB": 1, "GB": 1024, "TB": 1024 * 1024}
_BANDWIDTH_UNITS_MBPS = {"MB/s": 1, "GB/s": 1000, "TB/s": 1_000_000}
_ROUGH_FROM_MS = 120_000
_DURATION_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_POWER_UNITS_MW = {"mW": 1, "W": 1000, "kW": 1_000_000}

# [0-9], not \d: other scripts' digits look like a size to Python and like a riddle to the next reader.
_NUMBER = r"(?P<number>[0-9]{1,12}(?:\.[0-9]{1,6})?)"
_MEMORY = re.compile(_NUMBER + r"(?P<unit>[MGT])I?B", re.IGNORECASE)
_BANDWIDTH = re.compile(_NUMBER + r"(?P<unit>[MGT])B/S", re.IGNORECASE)
_DURATION = re.compile(_NUMBER + r"(?P<unit>ms|s|m|h|d)")
_POWER = re.compile(_NUMBER + r"(?P<unit>mW|W|kW)")
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


def parse_duration(text: str) -> int:
    """Reads a time such as `30m`, `90s`, `1.5h`, `2d` or `200ms`.

    Returns:
        Milliseconds, at least 1.

    Raises:
        ValueError: not a time, not a whole number of milliseconds, or more than a year.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{quoted(text)} is not a time; write a number and a unit, such as 30m, 90s or 2h")
    return _whole(text, Decimal(match["number"]) * _DURATION_UNITS_MS[match["unit"]], MAX_DURATION_MS, "ms")


def format_duration(duration_ms: int) -> str:
    """Prints milliseconds as the largest unit that leaves a whole number: `30m`, `90s`, `2h`."""
    return _largest_whole(duration_ms, _DURATION_UNITS_MS)


def roughly(duration_ms: int) -> str:
    """Prints milliseconds for people: rounded down to seconds, to minutes from two on: `45s`, `12m`, `2h`."""
    step_ms = 1000 if duration_ms < _ROUGH_FROM_MS else 60_000
    return format_duration(duration_ms // step_ms * step_ms) if duration_ms >= step_ms else "0s"


def parse_power(text: str) -> int:
    """Reads a power such as `5600W` or `10.2kW`.

    Returns:
        Milliwatt, at least 1.

    Raises:
        ValueError: not a power, not a whole number of milliwatt, or more than a megawatt.
    """
    match = _POWER.fullmatch(text)
    if match is None:
        raise ValueError(f"{quoted(text)} is not a power; write a number and a unit, such as 5600W or 10.2kW")
    return _whole(text, Decimal(match["number"]) * _POWER_UNITS_MW[match["unit"]], MAX_POWER_MW, "mW")


def format_power(power_mw: int) -> str:
    """Prints milliwatt as the largest unit that leaves a whole number: `5600W`, `10kW`."""
    return _largest_whole(power_mw, _POWER_UNITS_MW)


def parse_milli(text: str) -> int:
    """Reads a positive number with at most three decimals, in thousandths: `0.9` is 900.

    Raises:
        ValueError: not such a number, zero, or a thousand million and more.
    """
    match = re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,3})?", text)
    thousandths = int(Decimal(text) * 1000) if match else 0
    if thousandths == 0:
        raise ValueError(f"{quoted(text)} is not a positive number of at most three decimals; write one such as 0.9")
    return thousandths


def format_milli(thousandths: int) -> str:
    """Prints thousandths as the shortest decimal number: `0.9`, `60`."""
    return f"{thousandths // 1000}.{thousandths % 1000:03d}".rstrip("0").rstrip(".")


def quoted(text: str) -> str:
    """Quotes what a person wrote for an error message: printable, on one line and not longer than a line."""
    shown = text if len(text) <= _QUOTED_CHARACTERS else text[:_QUOTED_CHARACTERS] + "..."
    return repr(shown)


def _whole(text: str, scaled: Decimal, limit: int, unit: str) -> int:
    """Takes an amount in the counting unit, which must be whole, positive and at most `limit`."""
    if scaled > limit:
        raise ValueError(f"{quoted(text)} is too large; at most {limit}{unit}, check the unit")
    if scaled == 0:
        raise ValueError(f"{quoted(text)} is zero; write a positive amount, or leave it out if it does not matter")
    if scaled != int(scaled):
        nearest = max(1, round(scaled))
        raise ValueError(f"{quoted(text)} is not a whole number of {unit}; write {nearest}{unit}")
    return int(scaled)


def _largest_whole(amount: int, units: dict[str, int]) -> str:
    unit, factor = max((item for item in units.items() if amount % item[1] == 0), key=lambda item: item[1])
    return f"{amount // factor}{unit}"
