"""The table of compute units: printed to be read, edited, and read back as a site's own coefficients."""

import csv
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hetero_ops.document.field import Field
from hetero_ops.document.refusal import refusal, shown
from hetero_ops.document.text import DocumentText
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.words import PRECISIONS, PrecisionWord

if TYPE_CHECKING:
    from hetero_ops.document.line_tree import Lines

_MILLI = 1000
SPEED_COLUMNS = {word: f"{word}_speed" for word in PRECISIONS}
COLUMNS = ("sku", "unit_coefficient", "unit_from", *SPEED_COLUMNS.values(), "measured")
"""`sku` and `unit_coefficient` are read back; the others say what they rest on."""


def unit_row(profile: Profile, reference: Profile) -> dict[str, Any]:
    """One line of the table: the unit coefficient, its origin, and the speed in each precision.

    Args:
        profile: the device.
        reference: the one whose speed is 1; the coefficient counts against `unit.REFERENCE_SKU` by definition.

    Returns:
        The values by column; `None` is unknown, or not comparable. `measured` lists the precisions whose efficiency was
        measured on both, the other speeds rest on an assumed one.
    """
    unit = profile.unit_milli
    origin = "site" if profile.unit_coefficient is not None else "opaque" if profile.is_opaque else "rates"
    return {
        "sku": profile.sku,
        "unit_coefficient": None if unit is None else unit / _MILLI,
        "unit_from": "unknown" if unit is None and origin == "rates" else origin,
        **{column: speed(profile, reference, word) for word, column in SPEED_COLUMNS.items()},
        "measured": [word for word in PRECISIONS if _is_measured(profile, reference, word)],
    }


def _is_measured(profile: Profile, reference: Profile, precision: PrecisionWord) -> bool:
    return not profile.is_opaque and profile.is_measured(precision) and reference.is_measured(precision)


def speed(profile: Profile, reference: Profile, precision: PrecisionWord) -> float | None:
    """How many times faster than the reference a large GEMM runs; `None` where either rate is not known."""
    rate, unit = profile.achieved_tflops(precision), reference.achieved_tflops(precision)
    return None if rate is None or unit is None else round(rate / unit, 3)


def read_units(units: Field, known: Mapping[str, Profile]) -> Iterator[tuple[str, float]]:
    """Reads coefficients back, row by row; rows without one are skipped.

    Raises:
        InvalidDocument: a row is of no known accelerator, or its coefficient is no positive number.
    """
    for row in units.items():
        for key, value in row.fields():
            if key not in COLUMNS:
                raise value.refuse(f"unknown key {shown(key)}", f"a row has {' and '.join(COLUMNS[:2])}")
        sku, coefficient = row.get("sku"), row.get("unit_coefficient")
        if sku.value not in known:
            raise sku.refuse(f"no accelerator {shown(sku.value)}", "`hetero-ops catalog list` shows all keys")
        if coefficient.value is None:
            continue
        if not _is_positive(coefficient.value):
            fix = "write a positive number, such as 0.3, or leave it out"
            raise coefficient.refuse(f"{shown(coefficient.value)} is no coefficient", fix)
        yield sku.value, float(coefficient.value)


def units_of_csv(content: bytes, source: str, api_version: str, kind: str) -> DocumentText:
    """Reads a table of units as the document it stands for.

    Raises:
        InvalidDocument: it is no such table.
    """
    try:
        reader = csv.DictReader(content.decode("utf-8-sig").splitlines(), strict=True)
        rows = [(reader.line_num, row) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise refusal(f"this is no table: {error}", "save it as UTF-8 text with commas", source) from None
    missing = [column for column in COLUMNS[:2] if column not in (reader.fieldnames or ())]
    if missing:
        fix = "`hetero-ops catalog units --format csv` prints such a table"
        raise refusal(f"no column {missing[0]}", fix, source, 1)
    lines: Lines = (1, {"units": (1, [line for line, _ in rows])})
    units = [{"sku": row["sku"], "unit_coefficient": _number(row["unit_coefficient"])} for _, row in rows]
    return DocumentText({"apiVersion": api_version, "kind": kind, "units": units}, source, lines)


def _number(cell: str | None) -> float | str | None:
    if not cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return cell


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
