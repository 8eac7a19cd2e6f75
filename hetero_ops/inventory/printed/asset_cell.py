"""Cells of an asset table as values of the fleet document; errors name line and column."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hetero_ops.document.refusal import refusal, shown
from hetero_ops.errors import InvalidDocument
from hetero_ops.inventory.printed.asset_column import Column
from hetero_ops.inventory.printed.printed_value import known, number
from hetero_ops.units import parse_memory

_UNITS = {"mib": "MB", "mb": "MB", "gib": "GB", "gb": "GB"}
_PAIRS = ";"
_NO_NAME = ("-", "n/a", "na", "null", "none")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table."""

    cells: Sequence[str]
    columns: Mapping[str, Column]
    source: str
    line: int

    def cell(self, name: str) -> str | None:
        """Give a cell as it stands there; `None` when it is empty."""
        column = self.columns.get(name)
        return None if column is None else self.cells[column.place].strip() or None

    def text(self, name: str) -> str | None:
        """Give a cell as text; `None` when it is empty, or says that nothing is known."""
        return known(self.cell(name))

    def name(self, name: str) -> str | None:
        """Give a name that a person chose, which may well be `unknown`."""
        text = self.cell(name)
        return None if text is None or text.lower() in _NO_NAME else text

    def refuse(self, name: str, what: str, fix: str) -> InvalidDocument:
        """Build the error that names line and column."""
        column = self.columns.get(name)
        return refusal(what, fix, self.source, self.line, f"column {column.header if column else name}")

    def number(self, name: str, most: int) -> int | None:
        """Read a whole number of at most `most`."""
        text = self.text(name)
        if text is None:
            return None
        value = number(text)
        if value is None or value > most:
            raise self.refuse(name, f"{shown(text)} is no number", f"write a whole number from 0 to {most}")
        return value

    def memory_mib(self, name: str) -> int | None:
        """Read a size such as `80GB`; a bare number has the unit that the header names."""
        text, column = self.text(name), self.columns.get(name)
        if text is None or column is None:
            return None
        written = text.replace(" ", "")
        if number(written) is not None:
            if column.unit is None:
                fix = "write 80GB or 81920MiB, or name the unit in the header, as in `memory (GB)`"
                raise self.refuse(name, f"{shown(text)} has no unit", fix)
            written += _UNITS[column.unit]
        try:
            return parse_memory(written)
        except ValueError as error:
            raise self.refuse(name, str(error), "or leave it empty where it is not known") from None

    def word(self, name: str, words: Sequence[str]) -> str | None:
        """Read one of some words, whatever the case."""
        text = self.text(name)
        if text is None:
            return None
        if text.lower() not in words:
            raise self.refuse(name, f"{shown(text)} is not known", f"write one of {', '.join(words)}")
        return text.lower()

    def words(self, name: str) -> list[str]:
        """Read a list separated by `;`."""
        return [word.strip() for word in (self.cell(name) or "").split(_PAIRS) if word.strip()]

    def driver(self, vendor: str | None) -> dict[str, str]:
        """Read versions: `nvidia=580.65.06;cuda=13.0`, or one alone, which is that of the device's vendor."""
        versions: dict[str, str] = {}
        for word in self.words("driver"):
            key, equals, version = word.partition("=")
            versions[key.strip() if equals else vendor or "driver"] = version.strip() if equals else word
        return versions

    def json(self, name: str, kind: type) -> Any:  # noqa: ANN401 - the document says what is in it
        """Read a cell that holds JSON."""
        text = self.text(name)
        if text is None:
            return None
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, kind):
            raise self.refuse(name, f"{shown(text)} is not what `fleet export` writes there", "leave it empty")
        return value
