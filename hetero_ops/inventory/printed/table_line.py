"""Lines of the tables that tools draw with `|` and `+`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hetero_ops.inventory.printed.terminal_text import numbered_lines, plain

_BORDER = re.compile(r"[+|][-=+|\s]*")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a printed table.

    Attributes:
        number: its place in the text, from 1.
        text: the line without the blanks around it.
        cells: what stands between the bars, with one blank for several; empty for a line that is no row.
        is_border: whether it only draws.
        is_closed: whether a row ends with its bar; one that does not was cut.
    """

    number: int
    text: str
    cells: tuple[str, ...] = ()
    is_border: bool = False
    is_closed: bool = True


def lines_of(text: str) -> Iterator[Line]:
    """Walk the lines of a text, as it was pasted, that say something.

    Raises:
        InvalidDocument: the text is larger than any tool prints for one node.
    """
    for number, raw in numbered_lines(plain(text)):
        line = raw.strip()
        if _BORDER.fullmatch(line):
            yield Line(number, line, is_border=True)
        elif line.startswith("|"):
            is_closed = line.endswith("|") and len(line) > 1
            inner = line[1:-1] if is_closed else line[1:]
            cells = tuple(" ".join(cell.split()) for cell in inner.split("|"))
            yield Line(number, line, cells, is_closed=is_closed)
        else:
            yield Line(number, line)
