"""The words of a choice, read: `>=80GB`, `fp8:weight`, `fabric`, `bw>=3TB/s`."""

import difflib
import re
from collections.abc import Callable, Iterable

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.words import ASKED_SUPPORTS, LINKS, PRECISIONS
from hetero_ops.units import parse_bandwidth, parse_memory, quoted

MAX_TFLOPS = 1_000_000_000.0

_COMPARISON = re.compile(r"(?P<key>@?|[a-z_]+)(?P<operator>>=|<=|=|>|<)(?P<value>.*)")
_AMOUNT = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,3})?")
_STRAY = re.compile(r"[0-9.,+-]+|[0-9.]*[KMGTP]?i?B\+?", re.IGNORECASE)
_LONGEST_WORD = 24

# fmt: off
_LATER = frozenset({
    "batch", "cluster", "compliance", "confidential", "cost", "data", "driver", "ib", "image", "impact", "kind",
    "label", "mem", "min_precision", "min_score", "nodes", "numa", "perf", "power", "quant", "rdma", "region", "roce",
    "runtime", "share", "slo", "units", "wait",
})
# fmt: on
"""Words of the full grammar that this version cannot honour; ignoring one would place the step wrongly."""


def _tflops(text: str) -> float:
    if _AMOUNT.fullmatch(text) and 0 < float(text) <= MAX_TFLOPS:
        return float(text)
    raise ValueError(f"{quoted(text)} is not a rate in TFLOPS; write a positive number such as 400")


# By key: the field, what it is called in messages, how its value is read, and an example.
_FLOORS: dict[str, tuple[str, str, Callable[[str], object], str]] = {
    "": ("memory_floor_mib", "memory floor", parse_memory, ">=80GB"),
    "usable": ("usable_floor_mib", "usable memory floor", parse_memory, "usable>=79GB"),
    "link": ("link_floor_mbps", "link bandwidth floor", parse_bandwidth, "link>=600GB/s"),
    "compute": ("compute_floor_tflops", "compute floor", _tflops, "compute>=400"),
    "bw": ("bandwidth_floor_mbps", "memory bandwidth floor", parse_bandwidth, "bw>=3TB/s"),
}
_KNOWN = (*PRECISIONS, *LINKS, *filter(None, _FLOORS), "where")


def is_word(text: str) -> bool:
    """Whether this is a word of the grammar, and so no device."""
    return text.lower() in _KNOWN or text.lower() in _LATER


def read_words(words: Iterable[tuple[str, int]]) -> dict[str, object]:
    """Reads the words of one choice, or those after `where`.

    Args:
        words: each with its position in the requirement, from 1.

    Returns:
        The fields of a `Choice` that they give.

    Raises:
        InvalidRequirement: an unknown word, one of a later version, a bad value, or two words of one kind.
    """
    found: dict[str, object] = {}
    for text, position in words:
        field, kind, value = _read_word(text, position)
        if field in found:
            raise InvalidRequirement(
                f"second {kind} {quoted(text)} at character {position}; write one {kind} per choice"
            )
        found[field] = value
    precisions = tuple({"word": word, "support": found.pop(word)} for word in PRECISIONS if word in found)
    return {**found, "precisions": precisions} if precisions else found


def _read_word(text: str, position: int) -> tuple[str, str, object]:
    """The field of a word (a precision stands for itself), what it is called in messages, and its value."""
    match = _COMPARISON.fullmatch(text)
    if match is not None:
        return _read_floor(match, position)
    if text in LINKS:
        return "link", "link word", text
    return _read_precision(text, position)


def _read_floor(match: re.Match[str], position: int) -> tuple[str, str, object]:
    key = match["key"].removeprefix("@")
    floor = _FLOORS.get(key)
    if floor is None:
        raise _unknown(key, position)
    field, kind, read, example = floor
    if match["operator"] != ">=":
        raise InvalidRequirement(
            f"{quoted(match.group())} at character {position} is not a floor; write it as {example}"
            + ("" if key else ", or a ceiling in the head as ..80GB")
        )
    try:
        return field, kind, read(match["value"])
    except ValueError as error:
        raise InvalidRequirement(f"{kind} at character {position}: {error}") from None


def _read_precision(text: str, position: int) -> tuple[str, str, object]:
    word, colon, support = text.partition(":")
    if word not in PRECISIONS:
        raise _stray(text, position) if _STRAY.fullmatch(text) else _unknown(word, position)
    if not colon:
        return word, word, "native"
    if support not in ASKED_SUPPORTS:
        raise InvalidRequirement(
            f"{quoted(text)} at character {position}: {word} can be {word}:native, {word}:weight or {word}:any"
        )
    return word, word, support


def _stray(text: str, position: int) -> InvalidRequirement:
    return InvalidRequirement(
        f"stray {quoted(text)} at character {position}; "
        "write a memory size without blanks, as >=80GB or in the head as gpu:80GB:8"
    )


def _unknown(word: str, position: int) -> InvalidRequirement:
    if word in _LATER or word.startswith("tier-"):
        return InvalidRequirement(
            f"word {quoted(word)} at character {position}: this version does not know it yet; leave it out"
        )
    # A word much longer than any we know is close to none; comparing it would only cost time.
    close = difflib.get_close_matches(word.lower(), _KNOWN, n=1) if len(word) <= _LONGEST_WORD else []
    fix = f"did you mean {close[0]!r}?" if close else "write words such as >=80GB, fp8 or fabric"
    return InvalidRequirement(f"unknown word {quoted(word)} at character {position}; {fix}")
