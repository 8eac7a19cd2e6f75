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


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], output: Path | None = None, *, heading: str = ""
) -> None:
    """A table under an optional heading. Boxes and colour only on a terminal, aligned columns elsewhere."""
    table = [[*map(str, row)] for row in rows]
    if output is None and sys.stdout.isatty():
        sys.stdout.write(heading)
        _print_rich(columns, table)
        return
    widths = [max(map(len, cells)) for cells in zip(columns, *table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [list(columns), *table]
    ]
    write(heading + "\n".join(lines) + "\n", output)


def _print_rich(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box  # noqa: PLC0415 - only a terminal needs it
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(*columns, box=box.SIMPLE_HEAD, header_style="bold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


_COLOUR = {"placed": "green", "degraded": "yellow", "busy": "yellow", "impossible": "red"}


def print_decision(verdict: str, why: str, output: Path | None) -> None:
    """A decision in words; the verdict coloured on a terminal."""
    if output is None and sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
        from rich.text import Text  # noqa: PLC0415

        text = Text(why)
        text.stylize(f"bold {_COLOUR[verdict]}", 0, len(verdict))
        Console(soft_wrap=True).print(text, end="")
        return
    write(why, output)
