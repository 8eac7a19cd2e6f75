"""Square tables of pairs of devices, as AMD's tools print them: a heading of labels, then a row for each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class LinkTable:
    """A table as printed.

    Attributes:
        columns: the labels of its heading.
        cells: by label of the row and of the column.
        damaged: lines that begin like a row and are none.
    """

    columns: list[str] = field(default_factory=list)
    cells: dict[tuple[str, str], str] = field(default_factory=dict)
    damaged: list[int] = field(default_factory=list)


def sections_of(lines: Iterable[tuple[int, str]], title: re.Pattern[str]) -> dict[str, list[tuple[int, str]]]:
    """Cut numbered lines at the titles; of two sections with one title the first counts."""
    sections: dict[str, list[tuple[int, str]]] = {}
    inside: list[tuple[int, str]] = []
    for number, line in lines:
        match = title.fullmatch(line.strip())
        if match:
            inside = []
            sections.setdefault(match[1].strip(), inside)
        else:
            inside.append((number, line))
    return sections


def read_link_table(lines: Iterable[tuple[int, str]], label: re.Pattern[str]) -> LinkTable:
    """Read a table from its numbered lines; a row that was cut gives the cells it has.

    Args:
        lines: those between two titles.
        label: what a device is called.
    """
    table = LinkTable()
    for number, line in lines:
        words = line.lower().split()
        if not label.fullmatch(words[0]):
            continue
        if not table.columns:
            table.columns = list(dict.fromkeys(words)) if all(map(label.fullmatch, words)) else []
        elif len(words) - 1 > len(table.columns) or words[0] not in table.columns:
            table.damaged.append(number)
        else:
            for column, cell in zip(table.columns, words[1:], strict=False):
                table.cells.setdefault((words[0], column), cell)
    return table
