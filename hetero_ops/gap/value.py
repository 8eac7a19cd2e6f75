"""Values of words, as texts and as what a `Choice` holds; each pair of functions is an inverse of the other.

Readers raise `ValueError` with what is wrong and what to write instead; the caller adds where.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from hetero_ops.units import format_duration, format_milli, parse_duration, parse_milli, quoted

MAX_TFLOPS = 1_000_000_000.0
MAX_NODES = 4096
MAX_COUNT = 65536
MAX_NAMES = 16
_WHOLE_MILLI = 1000
_MILLI_PER_PERCENT_MILLI = 100

_AMOUNT = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,3})?")
_COUNT = re.compile(r"[0-9]{1,5}")
_VERSION = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6}){0,4}")
_LABEL_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,315}")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9._-]{0,63}")
_PLAIN = re.compile(r"[!#-+\--Z^-z|~]{1,512}")  # printable ASCII without quotes, brackets, backslash and comma
_SOFTWARE = re.compile(r"[a-z0-9][a-z0-9._+-]{0,31}")


def compute_tflops(text: str) -> float:
    """A rate in TFLOPS, up to three decimals."""
    if _AMOUNT.fullmatch(text) and 0 < float(text) <= MAX_TFLOPS:
        return float(text)
    raise ValueError(f"{quoted(text)} is not a rate in TFLOPS; write a positive number such as 400")


def format_compute_tflops(rate: float) -> str:
    """A rate, without trailing zeros."""
    return f"{rate:.3f}".rstrip("0").rstrip(".")


def one_of(words: Iterable[str]) -> Callable[[str], str]:
    """Reads one of a few words, in either case."""
    known = tuple(words)

    def read(text: str) -> str:
        if text.lower() in known:
            return text.lower()
        raise ValueError(f"{quoted(text)} is none of {', '.join(known)}; write one of them")

    return read


def seconds(text: str) -> int:
    """A time in whole seconds."""
    duration_ms = parse_duration(text)
    if duration_ms % 1000:
        raise ValueError(f"{quoted(text)} is not a whole number of seconds; write one such as 90s")
    return duration_ms // 1000


def format_seconds(duration_s: int) -> str:
    """A time in its largest whole unit."""
    return format_duration(duration_s * 1000)


def per_hour_milli(text: str) -> int:
    """Money per hour in thousandths: `60/h` or `60`."""
    return parse_milli(text.removesuffix("/h"))


def format_per_hour(milli: int) -> str:
    """Money per hour."""
    return f"{format_milli(milli)}/h"


def percent_milli(text: str) -> int:
    """A loss in thousandths: `10%` is 100; a plain number such as 0.1 is a ratio."""
    thousandths = parse_milli(text.removesuffix("%"))
    milli, rest = divmod(thousandths, _MILLI_PER_PERCENT_MILLI) if text.endswith("%") else (thousandths, 0)
    if rest or not 1 <= milli < _WHOLE_MILLI:
        raise ValueError(f"{quoted(text)} is no loss from 0.1% to 99.9% in steps of 0.1%; write one such as 10%")
    return milli


def format_percent(milli: int) -> str:
    """A loss in percent."""
    return f"{format_milli(milli * _MILLI_PER_PERCENT_MILLI)}%"


def count_range(text: str) -> tuple[int, int]:
    """`2` or `1..4`, at least 1."""
    low, dots, high = text.partition("..")
    ends = (low, high) if dots else (low, low)
    if all(map(_COUNT.fullmatch, ends)) and 1 <= int(ends[0]) <= int(ends[1]) <= MAX_NODES:
        return int(ends[0]), int(ends[1])
    raise ValueError(f"{quoted(text)} is no range of nodes from 1 to {MAX_NODES}; write 2 or 1..4")


def format_range(ends: tuple[int, int]) -> str:
    """`2`, or `1..4`."""
    low, high = ends
    return str(low) if low == high else f"{low}..{high}"


def score(text: str) -> int:
    """A whole number from 1 to 100."""
    if _COUNT.fullmatch(text) and 1 <= int(text) <= 100:  # noqa: PLR2004 - a score is 0 to 100
        return int(text)
    raise ValueError(f"{quoted(text)} is no score; write a whole number from 1 to 100")


def version(text: str) -> str:
    """A version of digits and dots, such as 570 or 580.65.06."""
    if _VERSION.fullmatch(text):
        return text
    raise ValueError(f"{quoted(text)} is no version; write digits and dots, such as 570 or 580.65.06")


def texts(text: str) -> tuple[str, ...]:
    """A comma-separated list, sorted: the order of places, tags and data says nothing."""
    parts = tuple(sorted(text.split(",")))
    if all(map(_PLAIN.fullmatch, parts)) and len(set(parts)) == len(parts):
        return parts
    raise ValueError(f"{quoted(text)} is no list; write different names with commas between, without blanks")


def format_texts(parts: tuple[str, ...]) -> str:
    """With commas."""
    return ",".join(parts)


def plain(text: str) -> str:
    """Printable text without blanks, quotes and brackets, such as the name of an image."""
    if _PLAIN.fullmatch(text):
        return text
    raise ValueError(f"{quoted(text)} is not plain text; leave out blanks, quotes, commas and brackets")


def labels(text: str) -> tuple[tuple[str, str], ...]:
    """`KEY:VALUE` pairs with commas between, sorted by key."""
    pairs = sorted(tuple(part.rpartition(":")[::2]) for part in text.split(","))
    is_fine = all(_LABEL_KEY.fullmatch(key) and _LABEL_VALUE.fullmatch(value) for key, value in pairs)
    if is_fine and len({key for key, _ in pairs}) == len(pairs):
        return tuple((key, value) for key, value in pairs)
    raise ValueError(f"{quoted(text)} is no label; write KEY:VALUE, each key once, such as rack:r1")


def format_labels(pairs: tuple[tuple[str, str], ...]) -> str:
    """`KEY:VALUE`, with commas."""
    return ",".join(f"{key}:{value}" for key, value in pairs)


def software(text: str) -> tuple[tuple[str, ...], ...]:
    """Libraries with commas between, all of them needed; `cudnn/miopen` is either."""
    needs = tuple(sorted(tuple(sorted(part.replace("|", "/").split("/"))) for part in text.lower().split(",")))
    if all(_SOFTWARE.fullmatch(name) for need in needs for name in need) and len(set(needs)) == len(needs):
        return needs
    raise ValueError(f"{quoted(text)} is no list of libraries; write cudnn,nccl/rccl, a slash for either of two")


def format_software(needs: tuple[tuple[str, ...], ...]) -> str:
    """Commas between needs, slashes between alternatives."""
    return ",".join("/".join(need) for need in needs)


def slo(text: str) -> tuple[tuple[str, int], ...]:
    """Targets of a step: `latency:200ms`, `throughput:50` per second, or both with a comma between.

    Returns:
        `latency` in milliseconds and `throughput` in thousandths per second.
    """
    readers: dict[str, Callable[[str], int]] = {"latency": parse_duration, "throughput": parse_milli}
    found: dict[str, int] = {}
    for part in text.split(","):
        name, _, value = part.partition(":")
        if name not in readers or name in found:
            raise ValueError(f"{quoted(part)} is no target; write latency:200ms or throughput:50, each once")
        found[name] = readers[name](value.removesuffix("/s"))
    return tuple(sorted(found.items()))


def format_slo(targets: tuple[tuple[str, int], ...]) -> str:
    """As `slo` reads it."""
    writers: dict[str, Callable[[int], Any]] = {"latency": format_duration, "throughput": format_milli}
    return ",".join(f"{name}:{writers[name](value)}" for name, value in targets)
