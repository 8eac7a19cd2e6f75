"""Forms of the tables of `hetero-ops catalog`, and how their cells read."""

import csv
import io
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hetero_ops.cli.output import write
from hetero_ops.gap.words import PrecisionWord


class TableForm(StrEnum):
    """Forms of a table that a spreadsheet may want too."""

    table = "table"
    json = "json"
    csv = "csv"


Form = Annotated[TableForm, typer.Option("--format", help="Form of the output.")]

_WHOLE_FROM = 1000

ASSUMED = "~ assumes the usual efficiency of its kind; the other rates use one that was measured on the device"
OPAQUE = "opaque devices (-) are handed out as whole nodes and not ranked by rates"


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]], output: Path | None) -> None:
    """A table with commas; unknown cells are empty, items of a list are separated by `;`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_csv_cell(value) for value in row] for row in rows)
    write(text.getvalue(), output)


def unit_of(precision: PrecisionWord) -> str:
    """What rates of a precision are counted in."""
    return "TOPS" if precision.startswith("int") else "TFLOPS"


def figure(value: float | None, *, is_opaque: bool = False, is_assumed: bool = False) -> str:
    """A number as a cell: `-` where a device is opaque, `?` where it is unknown, `~` before an assumed one."""
    if value is None:
        return "-" if is_opaque else "?"
    digits = f"{value:.0f}" if value >= _WHOLE_FROM else f"{value:.4g}"
    return f"~{digits}" if is_assumed else digits


def _csv_cell(value: object) -> object:
    return ";".join(map(str, value)) if isinstance(value, list) else value
