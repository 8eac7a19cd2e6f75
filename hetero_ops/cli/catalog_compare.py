"""`hetero-ops catalog compare`: accelerators side by side."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.catalog_form import ASSUMED, OPAQUE, figure, unit_of
from hetero_ops.cli.output import Format, print_table, to_json, write
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.comparison import Compared, Figure
from hetero_ops.gap.comparison import compare as compare_profiles
from hetero_ops.gap.words import PRECISIONS, PrecisionWord
from hetero_ops.units import format_bandwidth, format_memory

_MILLI = 1000


def compare(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Two or more names; all that each stands for.")],
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Put accelerators side by side, each figure with its ratio to the first.

    Rates are achieved ones: the dense peak times the efficiency that was measured on the device, or else assumed.

    [bold]Example[/bold]

        hetero-ops catalog compare H100-SXM MI300X Gaudi3
    """
    catalog = Catalog.default()
    profiles = list(dict.fromkeys(profile for name in names for profile in catalog.named(name)))
    compared = compare_profiles(profiles)
    if json or form is Format.json:
        write(to_json({"first": profiles[0].sku, "compared": list(map(_plain, compared))}), output)
        return
    notes = [f"ratios to {profiles[0].sku}", ASSUMED]
    notes += [OPAQUE] if any(one.profile.is_opaque for one in compared) else []
    columns = ("", *(one.profile.sku for one in compared))
    print_table(columns, _rows(compared), output, heading="".join(f"{note}\n" for note in notes) + "\n")


def _plain(one: Compared) -> dict[str, object]:
    profile = one.profile
    return {
        "sku": profile.sku,
        "is_opaque": profile.is_opaque,
        "confidence": profile.confidence,
        "measured": [word for word in PRECISIONS if profile.is_measured(word)],
        "figures": {name: asdict(value) for name, value in one.figures.items()},
        "peak": {word: asdict(value) for word, value in one.peaks.items()},
        "achieved": {word: asdict(value) for word, value in one.achieved.items()},
    }


def _rows(compared: list[Compared]) -> list[list[str]]:
    rows = [
        ["class", *(one.profile.accelerator_class for one in compared)],
        ["memory", *(_cell(one.figures["memory_mib"], format_memory) for one in compared)],
        ["memory type", *(one.profile.memory_type or "?" for one in compared)],
        ["bandwidth", *(_cell(one.figures["bandwidth_mbps"], format_bandwidth) for one in compared)],
        ["link", *(one.profile.interconnect or "?" for one in compared)],
        ["link bandwidth", *(_cell(one.figures["interconnect_mbps"], format_bandwidth) for one in compared)],
        ["pair bandwidth", *(_cell(one.figures["pair_mbps"], format_bandwidth) for one in compared)],
        ["power (TDP)", *(_cell(one.figures["tdp_mw"], _watts) for one in compared)],
        ["devices per node", *(_cell(one.figures["max_per_node"], str) for one in compared)],
        ["units per hour", *(_cell(one.figures["unit_milli"], _units, one) for one in compared)],
    ]
    rows += [
        [f"{word} {unit_of(word)}", *(_rate(one, word) for one in compared)]
        for word in PRECISIONS
        if any(one.achieved[word].value for one in compared)
    ]
    return [*rows, ["confidence", *(one.profile.confidence for one in compared)]]


def _cell(value: Figure, shown: Callable[[int], str], one: Compared | None = None) -> str:
    if value.value is None:
        return "-" if one and one.profile.is_opaque else "?"
    return _with_ratio(shown(int(value.value)), value)


def _rate(one: Compared, word: PrecisionWord) -> str:
    value = one.achieved[word]
    if value.value is None and one.profile.precisions.of(word) == "unsupported":
        return "no"
    is_assumed = not one.profile.is_measured(word)
    return _with_ratio(figure(value.value, is_opaque=one.profile.is_opaque, is_assumed=is_assumed), value)


def _with_ratio(text: str, value: Figure) -> str:
    return text if value.ratio is None else f"{text} ({value.ratio:.2f}x)"


def _watts(tdp_mw: int) -> str:
    return f"{tdp_mw / _MILLI:g} W"


def _units(unit_milli: int) -> str:
    return f"{unit_milli / _MILLI:g}"
