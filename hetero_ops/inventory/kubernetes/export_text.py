"""An export of a cluster of any size: a long JSON list is read item by item, and what nobody reads is dropped at once.

A list of 25,000 objects is some 200 MB of text and would be a gigabyte of objects. Lines of the text are looked up only
when an error must name one, and of a key that one item has twice the last counts, as it does to the API server.
"""

import codecs
import itertools
import re
from collections.abc import Iterator
from typing import Any

from hetero_ops.document.json_text import check_value, read_value
from hetero_ops.document.refusal import refusal
from hetero_ops.document.text import MAX_DEPTH, DocumentText, read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.inventory.kubernetes.slim import slim

MAX_BYTES = 1024 * 1024 * 1024
STREAM_ABOVE_BYTES = 4 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
_SPACE = re.compile(r"[ \t\n\r]*")
_ITEM = re.compile(r"items\[(\d+)\]\.?")


def read_export(
    data: bytes, source: str, *, max_bytes: int = MAX_BYTES, stream_above_bytes: int = STREAM_ABOVE_BYTES
) -> DocumentText:
    """Read what `kubectl get -o json` or `-o yaml` printed.

    Args:
        data: the text.
        source: the name of the file.
        max_bytes: refuse what is longer.
        stream_above_bytes: read shorter text as one piece: its errors are more exact.

    Raises:
        InvalidDocument: the text is too large, or no JSON or YAML with one meaning.
    """
    if len(data) > max_bytes:
        raise refusal(f"larger than {max_bytes} bytes", "export fewer objects at once, or raise the limit", source)
    if len(data) > stream_above_bytes and data[:1024].lstrip().startswith(b"{"):
        document = _read_list(data, source)
        if document is not None:
            return ExportText(document, source, data)
    return read_text(data, source, max_bytes=max_bytes)


class ExportText(DocumentText):
    """A list that was read item by item; lines are found by reading it a second time."""

    def __init__(self, value: Any, source: str, data: bytes) -> None:  # noqa: ANN401
        super().__init__(value, source, None)
        self._data = data

    def line_of(self, path: str) -> int | None:
        """Give the 1-based line of a path that begins with an item, as `items[3].status.capacity`."""
        match = _ITEM.match(path)
        if match is None:
            return None
        wanted = next(itertools.islice(_items(_Reader(self._data, self.source)), int(match[1]), None), None)
        if wanted is None:
            return None
        line, _, text = wanted
        inside = DocumentText({}, self.source, None, text if len(text) <= STREAM_ABOVE_BYTES else "")
        return line - 1 + (inside.line_of(path[match.end() :]) or 1)


class _Reader:
    """A window on the text that moves on: holds what is being decoded, and little more."""

    def __init__(self, data: bytes, source: str) -> None:
        self.source = source
        self.text = ""
        self.at = 0
        self._line = 1  # of the place `_counted` in the text
        self._counted = 0
        self._data = data
        self._read = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def more(self) -> bool:
        """Move the window on; tell whether there was more."""
        if self._read >= len(self._data):
            return False
        self.line()
        # At least as much again as there is: an object longer than the window is not tried over and over.
        end = self._read + max(_CHUNK_BYTES, len(self.text) - self.at)
        try:
            added = self._decoder.decode(self._data[self._read : end], end >= len(self._data))
        except UnicodeDecodeError:
            raise refusal("this is not utf-8 text", "save it as UTF-8", self.source) from None
        self.text = self.text[self.at :] + added
        self.at, self._counted, self._read = 0, 0, end
        return True

    def peek(self) -> str:
        """Give the next character that is no space; empty at the end."""
        while True:
            match = _SPACE.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def take(self, expected: str) -> str:
        """Step over one of the expected characters."""
        found = self.peek()
        if not found or found not in expected:
            what = f"this is not JSON: Expecting {' or '.join(repr(each) for each in expected)}"
            raise refusal(what, "give the whole output", self.source, self.line())
        self.at += 1
        return found

    def value(self) -> tuple[Any, str]:
        """Read a value; give it with its text."""
        self.peek()
        while True:
            try:
                value, end = read_value(self.text, self.source, MAX_DEPTH, self.at)
            except InvalidDocument:  # raised again below, with its line
                if self.more():  # it was cut by the end of the window
                    continue
                first_line = self.line() - self.text.count("\n", 0, self.at)
                value, end = read_value(self.text, self.source, MAX_DEPTH, self.at, first_line)
            if end == len(self.text) and self.more():  # so may have been a number
                continue
            text = self.text[self.at : end]
            self.at = end
            return value, text

    def line(self) -> int:
        """Give the line where the reader is."""
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line


def _read_list(data: bytes, source: str) -> dict[str, Any] | None:
    """Read an object that has a list of items, or nothing where it has none."""
    reader = _Reader(data, source)
    document: dict[str, Any] = {}
    for key in _keys(reader):
        if key in document:
            raise refusal(f"the key {key!r} is given twice", "keep one of them", source, reader.line())
        if key == "items" and reader.peek() == "[":
            document[key] = [_slimmed(value, text, source) for _, value, text in _elements(reader)]
        else:
            document[key] = reader.value()[0]
    if reader.peek():
        raise refusal("this is not JSON: Extra data", "give the whole output", source, reader.line())
    return document if isinstance(document.get("items"), list) else None


def _items(reader: _Reader) -> Iterator[tuple[int, Any, str]]:
    for key in _keys(reader):
        if key == "items":
            yield from _elements(reader)
        else:
            reader.value()


def _slimmed(value: object, text: str, source: str) -> object:
    value = slim(value)
    check_value(value, text, source, MAX_DEPTH)
    return value


def _keys(reader: _Reader) -> Iterator[str]:
    """Walk the keys of the object that comes next; the reader then stands at each value."""
    reader.take("{")
    if reader.peek() == "}":
        reader.take("}")
        return
    while True:
        if reader.peek() != '"':
            what = "this is not JSON: Expecting property name enclosed in double quotes"
            raise refusal(what, "give the whole output", reader.source, reader.line())
        key = reader.value()[0]
        reader.take(":")
        yield key
        if reader.take(",}") == "}":
            return


def _elements(reader: _Reader) -> Iterator[tuple[int, Any, str]]:
    """Walk the values of the list that comes next: first line, value, text."""
    reader.take("[")
    if reader.peek() == "]":
        reader.take("]")
        return
    while True:
        reader.peek()
        line = reader.line()
        yield line, *reader.value()
        if reader.take(",]") == "]":
            return
