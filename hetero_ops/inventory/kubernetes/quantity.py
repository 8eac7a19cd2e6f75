"""Kubernetes quantities (`12`, `12000m`, `87425380Ki`, `1e3`) as integers: floats would lose bytes."""

import functools
import re

from hetero_ops.document.field import Field

_QUANTITY = re.compile(r"\+?(\d{0,30})(?:\.(\d{0,30}))?(?:[eE]([-+]?\d{1,2})|(n|u|m|k|M|G|T|P|E|[KMGTPE]i)?)")
_DECIMAL_EXPONENT = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_EXPONENT = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_MIB = 2**20
# What the core counts with: 64 bits.
_LARGEST = 2**63 - 1


def cpu_milli(field: Field) -> int | None:
    """Read thousandths of a CPU, rounded down."""
    return _read(field, 1000, 1)


def mebibytes(field: Field) -> int | None:
    """Read bytes as MiB, rounded down: rounded sums of pods then never exceed the rounded node."""
    return _read(field, 1, _MIB)


def units(field: Field) -> int | None:
    """Read a whole number, as extended resources are counted."""
    return _read(field, 1, 1)


def _read(field: Field, multiplier: int, divisor: int) -> int | None:
    if field.value is None:
        return None
    text = str(field.value) if type(field.value) in (int, float) else field.string() or ""
    amount = _parse(text, multiplier, divisor)
    if amount is None:
        raise field.refuse(f"{text[:60]!r} is no quantity", "write it as 12, 500m or 64Gi")
    if amount > _LARGEST:
        raise field.refuse(f"{text[:60]} is more than any machine has", "write it as 12, 500m or 64Gi")
    return amount


@functools.lru_cache(maxsize=4096)  # a cluster says the same few quantities again and again
def _parse(text: str, multiplier: int, divisor: int) -> int | None:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None or not (match[1] or match[2]):
        return None
    return _scaled(match, multiplier) // divisor


def _scaled(match: re.Match[str], multiplier: int) -> int:
    whole, fraction, exponent, suffix = (part or "" for part in match.groups())
    number = int(whole + fraction) * multiplier
    binary = _BINARY_EXPONENT.get(suffix, 0)
    decimal = (int(exponent) if exponent else _DECIMAL_EXPONENT.get(suffix, 0)) - len(fraction)
    number <<= binary
    power: int = 10 ** abs(decimal)
    return number * power if decimal >= 0 else number // power
