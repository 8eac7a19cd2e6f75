"""Cells of the packaged tables: empty is unknown, `;` separates the items of a list."""

from collections.abc import Mapping
from fractions import Fraction

Row = Mapping[str, str]

CLAIMS = {"yes": True, "no": False, "unknown": None}


def scaled(cell: str, factor: int = 1, parts: int = 1) -> int | None:
    """A cell in our unit, to the nearest whole one; exact arithmetic, since cells are decimals such as `614.4`."""
    return round(Fraction(cell) * factor / parts) if cell else None


def share(cell: str, parts: int) -> float | None:
    """An equal share of a cell; `None` of an empty one."""
    return float(Fraction(cell) / parts) if cell else None


def split(cell: str) -> tuple[str, ...]:
    """The items of a list, without blanks around them."""
    return tuple(part.strip() for part in cell.split(";") if part.strip())
