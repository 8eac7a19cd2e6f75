"""Where output goes and what form it has: a file or standard output, coloured on a terminal and plain elsewhere."""

import json
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from hetero_ops.errors import InvalidDocument


class Format(StrEnum):
    """Forms that most commands can write."""

    table = "table"
    json = "json"


def write(text: str, output: Path | None) -> None:
    """Writes text to a file, or to standard output.

    Raises:
        InvalidDocument: the file cannot be written.
    """
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidDocument(f"{output}: cannot be written: {error.strerror or error}; check -o") from None


def to_json(value: Any) -> str:  # noqa: ANN401 - anything that JSON has
    """JSON as a person can read it, with a line end."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def note(text: str) -> None:
    """A line for the person, beside the output."""
    sys.stderr.write(f"{text}\n")


Table = tuple[str, Sequence[str], Iterable[Sequence[str]]]
"""Heading, columns, rows."""


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], output: Path | None = None, *, heading: str = ""
) -> None:
    """Aligned columns under a header, which is bold on a terminal. Nothing is cut to the terminal's width."""
    _print(*_parts(heading, columns, rows), output=output)


def print_tables(tables: Iterable[Table], output: Path | None) -> None:
    """Several tables, each under its heading, with a line between them."""
    parts: list[tuple[str, str]] = []
    for heading, columns, rows in tables:
        between = "\n" if parts else ""
        parts += _parts(f"{between}{heading}\n", columns, rows)
    _print(*parts, output=output)


def _parts(heading: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    table = [list(columns), *map(list, rows)]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    header, *lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in table
    ]
    return [(heading, ""), (header, "bold"), ("".join(lines), "")]


_COLOUR = {"placed": "green", "degraded": "yellow", "busy": "yellow", "impossible": "red"}


def print_decision(verdict: str, why: str, output: Path | None) -> None:
    """A decision in words, which begin with the verdict; it is coloured on a terminal."""
    _print((verdict, f"bold {_COLOUR[verdict]}"), (why.removeprefix(verdict), ""), output=output)


def _print(*parts: tuple[str, str], output: Path | None) -> None:
    if output is not None or not sys.stdout.isatty():
        write("".join(text for text, _ in parts), output)
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.text import Text  # noqa: PLC0415

    Console(soft_wrap=True).print(Text.assemble(*parts), end="")
