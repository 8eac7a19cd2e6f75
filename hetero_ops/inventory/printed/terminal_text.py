"""Text as it was pasted from a terminal: without its colours, bounded, line by line."""

import re
from collections.abc import Iterator

from hetero_ops.document.refusal import refusal

_MAX_CHARACTERS = 4 * 1024 * 1024
_MAX_LINE_CHARACTERS = 4096
# Enough to see what kind of output a text is, whatever prompt or banner stands before it.
_SHAPE_CHARACTERS = 64 * 1024
_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff]")


def plain(text: str) -> str:
    r"""Take away what only a terminal understands: colours, underlines, control characters; lines end with `\n`.

    Raises:
        InvalidDocument: the text is larger than any tool prints for one node.
    """
    if len(text) > _MAX_CHARACTERS:
        raise refusal(f"larger than {_MAX_CHARACTERS} characters", "give the output for one node")
    text = _ESCAPE.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")
    return _CONTROL.sub("", text)


def shape(text: str) -> str:
    """Give the plain beginning of a text, long enough to tell whose output it is."""
    return plain(text[:_SHAPE_CHARACTERS])


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Walk the lines of a plain text that are not blank, counted from 1; no tool prints one longer than we look at."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line[:_MAX_LINE_CHARACTERS].rstrip()


def line_at(text: str, position: int) -> int:
    """Give the 1-based line of a position."""
    return text.count("\n", 0, position) + 1
