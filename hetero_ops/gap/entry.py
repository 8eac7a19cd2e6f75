"""One entry of a site's catalog file, read to the fields of a profile.

A file speaks as people do: sizes with units (`memory: 80GB`), one key per precision (`bf16_tflops: 989`), `class`.
Everything is that of one device. Keys that are not listed here are fields of `Profile`, by their own names.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hetero_ops.document.field import Field
from hetero_ops.document.refusal import shown
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.old_spelling import OLD_INTERCONNECTS, OLD_VENDORS, current
from hetero_ops.gap.partition import Partition
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.rates import RATE_COLUMNS
from hetero_ops.gap.words import PRECISIONS
from hetero_ops.units import parse_bandwidth, parse_memory

_MILLIWATTS_PER_WATT = 1000
_BARE_RATE = re.compile(r"[a-z]?flops|t?ops", re.IGNORECASE)

Parse = Callable[[str], int]
_QUANTITIES: dict[str, tuple[str, Parse, str]] = {
    "memory": ("memory_mib", parse_memory, "80GB"),
    "package_memory": ("package_memory_mib", parse_memory, "128GB"),
    "reported_memory": ("reported_memory_mib", parse_memory, "81559MB"),
    "bandwidth": ("bandwidth_mbps", parse_bandwidth, "3.35TB/s"),
    "link": ("interconnect_mbps", parse_bandwidth, "900GB/s"),
    "pair": ("pair_mbps", parse_bandwidth, "900GB/s"),
}
_PART_QUANTITIES: dict[str, tuple[str, Parse, str]] = {
    "memory": ("memory_mib", parse_memory, "10GB"),
    "usable": ("usable_mib", parse_memory, "9856MB"),
    "memory_domain": ("memory_domain_mib", parse_memory, "48GB"),
}
_SUPPORTS = ("native", "degraded", "unsupported")
_RATES = {column: rate for rate, column in RATE_COLUMNS.items()}
_RENAMED = {"class": "accelerator_class", "tdp_watts": "tdp_mw", "efficiency": "achieved"}
_WRITTEN_OTHERWISE = {
    *(field for field, _, _ in _QUANTITIES.values()),
    *_RENAMED.values(),
    "rates",
    "precisions",
    "confidence_memory",
    "confidence_compute",
}

NAMING_KEYS = ("names", "words")
"""Phrases that name the device, and words that may come along with them."""

KEYS = (
    *("sku", "extends", *NAMING_KEYS, *_RENAMED, *_QUANTITIES, *_RATES, *_SUPPORTS),
    *(field for field in Profile.model_fields if field != "sku" and field not in _WRITTEN_OTHERWISE),
)
"""All keys of an entry."""

_KEY_OF_FIELD = {
    **{field: key for key, (field, _, _) in _QUANTITIES.items()},
    **{field: key for key, field in _RENAMED.items()},
}
_KEY_OF_PART_FIELD = {field: key for key, (field, _, _) in _PART_QUANTITIES.items()}


def read_fields(entry: Field, base: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a profile: those of `base`, changed by an entry.

    Raises:
        InvalidDocument: a key is unknown, or a value is not what its key promises.
    """
    for key, value in entry.fields():
        _check_key(key, value, KEYS)
    fields = {**base, **_plain(entry)}
    fields.update(_quantities(entry, _QUANTITIES))
    fields["rates"] = {**base.get("rates", {}), **_rates(entry)}
    fields["precisions"] = {**base.get("precisions", {}), **_supports(entry)}
    if entry.get("efficiency").value is not None:
        fields["achieved"] = _efficiency(entry.get("efficiency"))
    if entry.get("tdp_watts").value is not None:
        fields["tdp_mw"] = _milliwatts(entry.get("tdp_watts"))
    if entry.get("partitions").value is not None:
        fields["partitions"] = [_partition(part) for part in entry.get("partitions").items()]
    if entry.get("confidence").value is not None:
        fields["confidence_memory"] = fields["confidence_compute"] = fields["confidence"]
    return fields


def steps_to(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The steps in an entry to what a place in a profile was read from; none for the profile as a whole."""
    match location:
        case ("rates", str(rate), *_):
            return (RATE_COLUMNS[rate],)
        case ("achieved", *_):
            return ("efficiency",)
        case ("partitions", int(index), str(field), *_):
            return ("partitions", index, _KEY_OF_PART_FIELD.get(field, field))
        case (str(field), *below):
            return (_KEY_OF_FIELD.get(field, field), *below)
    return ()


def _check_key(key: str, value: Field, known: Iterable[str]) -> None:
    if key in known:
        return
    if _BARE_RATE.fullmatch(key):
        fix = "name it: bf16_tflops, fp8_tflops, int8_tops and so on, each the dense rate of one device"
        raise value.refuse(f"the rate {shown(key)} names no precision", fix)
    close = difflib.get_close_matches(key, [*known, *_KEY_OF_FIELD], n=1)
    near = _KEY_OF_FIELD.get(close[0], close[0]) if close else None
    fix = f"did you mean {near!r}?" if near else "take it out; docs/catalog.md lists the keys"
    raise value.refuse(f"unknown key {shown(key)}", fix)


def _plain(entry: Field) -> dict[str, Any]:
    """What is written as the profile has it; the model checks the values."""
    plain = {
        key: value.value
        for key, value in entry.fields()
        if key in Profile.model_fields and key not in (*_QUANTITIES, "partitions")
    }
    if entry.get("class").value is not None:
        plain["accelerator_class"] = entry.get("class").value
    for key, spellings in (("vendor", OLD_VENDORS), ("interconnect", OLD_INTERCONNECTS)):
        if isinstance(plain.get(key), str):
            plain[key] = current(plain[key], spellings) or None
    return {key: value for key, value in plain.items() if value is not None}


def _quantities(entry: Field, quantities: Mapping[str, tuple[str, Parse, str]]) -> dict[str, int]:
    found = {}
    for key, (field, parse, example) in quantities.items():
        written = entry.get(key)
        if written.value is None:
            continue
        if not isinstance(written.value, str):
            raise written.refuse(f"{shown(written.value)} has no unit", f"write it with one, such as {example}")
        try:
            found[field] = parse(written.value)
        except ValueError as error:
            raise _refused(written, error) from None
    return found


def _refused(written: Field, error: ValueError) -> InvalidDocument:
    what, _, fix = str(error).partition("; ")
    return written.refuse(what, fix or "correct it")


def _rates(entry: Field) -> dict[str, Any]:
    return {rate: entry.get(column).value for column, rate in _RATES.items() if entry.get(column).value is not None}


def _supports(entry: Field) -> dict[str, str]:
    """What the entry says of precisions; a rate says it too: 0 is no path, anything else a native one."""
    supports: dict[str, str] = {}
    for rate, value in _rates(entry).items():
        word = rate.partition("_")[0]
        if value:
            supports[word] = "native"
        else:
            supports.setdefault(word, "unsupported")
    for support in _SUPPORTS:
        for item in entry.get(support).items():
            if item.value not in PRECISIONS:
                raise item.refuse(f"{shown(item.value)} is no precision", f"write one of {', '.join(PRECISIONS)}")
            supports[item.value] = support
    return supports


def _efficiency(written: Field) -> list[tuple[str, Any]]:
    for key, value in written.fields():
        _check_key(key, value, PRECISIONS)
    return [(word, written.value[word]) for word in PRECISIONS if word in written.value]


def _milliwatts(written: Field) -> int:
    watts = written.value
    if isinstance(watts, bool) or not isinstance(watts, int | float) or watts <= 0:
        raise written.refuse(f"{shown(watts)} is no power", "write watts as a positive number, such as 700")
    return round(watts * _MILLIWATTS_PER_WATT)


def _partition(part: Field) -> dict[str, Any]:
    known = [*_PART_QUANTITIES, *(field for field in Partition.model_fields if not field.endswith("_mib"))]
    for key, value in part.fields():
        _check_key(key, value, known)
    plain = {key: value.value for key, value in part.fields() if key not in _PART_QUANTITIES}
    return {**plain, **_quantities(part, _PART_QUANTITIES)}
