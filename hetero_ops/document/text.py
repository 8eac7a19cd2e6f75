"""Text to plain objects, with the line of every value kept: the one place that reads YAML.

Bounded in time and memory: size, nesting, nodes, and what aliases expand to are all limited, and nothing recurses.
"""

import codecs
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from hetero_ops.document.json_text import read_json
from hetero_ops.document.line_tree import Lines, find_line
from hetero_ops.document.refusal import refusal
from hetero_ops.document.yaml_tree import Builder
from hetero_ops.errors import InvalidDocument

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 64
# Lines of JSON are found by reading it a second time, as YAML: worth it for one error message up to this size.
_MAX_JSON_FOR_LINES = 4 * 1024 * 1024
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class DocumentText:
    """A document as it was read.

    Attributes:
        value: plain dicts, lists, strings, numbers, booleans and `None`.
        source: the name of the file.
    """

    def __init__(self, value: Any, source: str, lines: Lines | None, text: str = "") -> None:  # noqa: ANN401
        self.value = value
        self.source = source
        self._lines = lines
        self._text = text

    def line_of(self, path: str) -> int | None:
        """Give the 1-based line of `clusters[0].nodes[2].cpu_milli`, or of what should hold it."""
        if self._lines is None and self._text:
            text, self._text = self._text, ""
            self._lines = _lines_of_json(text)
        return None if self._lines is None else find_line(self._lines, path)

    def where(self, path: str) -> str:
        """Give `file:line` of a path."""
        line = self.line_of(path)
        return self.source if line is None else f"{self.source}:{line}"


def read_text(text: str | bytes, source: str, *, max_bytes: int = MAX_BYTES) -> DocumentText:
    """Read one YAML or JSON document; text that begins with `{` or `[` is JSON.

    Raises:
        InvalidDocument: the text is too large, no such document, or one with a meaning that readers disagree on.
    """
    decoded = _decoded(text, source, max_bytes)
    if decoded.lstrip()[0] in "{[":
        return _read_json(decoded, source)
    value, lines = _read_yaml(decoded, source)
    return DocumentText(value, source, lines)


def read_stream(text: str | bytes, source: str, *, max_bytes: int = MAX_BYTES) -> list[DocumentText]:
    """Read YAML documents with `---` between them, or one of JSON; those in which nothing stands are left out.

    Raises:
        InvalidDocument: as for `read_text`, or all of them are empty.
    """
    decoded = _decoded(text, source, max_bytes)
    if decoded.lstrip()[0] in "{[":
        return [_read_json(decoded, source)]
    builders: list[Builder] = []

    def feed(event: Any) -> None:  # noqa: ANN401
        if type(event).__name__ == "DocumentStartEvent":
            builders.append(Builder(source, MAX_DEPTH))
        if builders:
            builders[-1].feed(event)

    _feed(decoded, source, feed)
    found = [builder.result() for builder in builders if not builder.is_empty]
    if not found:
        raise _empty(source)
    return [DocumentText(value, source, lines) for value, lines in found]


def _decoded(text: str | bytes, source: str, max_bytes: int) -> str:
    if len(text) > max_bytes:
        raise refusal(f"larger than {max_bytes} bytes", "split it into a directory, or raise the limit", source)
    decoded = decode(text, source) if isinstance(text, bytes) else text
    if not decoded.strip():
        raise _empty(source)
    return decoded


def _empty(source: str) -> InvalidDocument:
    return refusal("the document is empty", "write it, or give another file", source)


def decode(text: bytes, source: str) -> str:
    """Give the text of a file.

    Raises:
        InvalidDocument: the bytes are no text.
    """
    # A shell on Windows writes UTF-16 when output is redirected to a file.
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if text.startswith(mark)), "utf-8")
    try:
        return text.decode(encoding)
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise refusal(f"this is not {encoding} text", "save it as UTF-8", source, line) from None


def _read_json(text: str, source: str) -> DocumentText:
    try:
        value = read_json(text, source, MAX_DEPTH)
    except InvalidDocument as error:
        raise _with_line(error, text, source) from None
    return DocumentText(value, source, None, text if len(text) <= _MAX_JSON_FOR_LINES else "")


def _with_line(error: InvalidDocument, text: str, source: str) -> InvalidDocument:
    """Find the line of a repeated key, which the JSON decoder does not tell: read as YAML, the text fails the same."""
    if error.line is not None or len(text) > _MAX_JSON_FOR_LINES:
        return error
    try:
        _read_yaml(text, source)
    except InvalidDocument as again:
        if str(again).endswith(str(error).removeprefix(source)):
            return again
    return error


def _lines_of_json(text: str) -> Lines | None:
    try:
        return _read_yaml(text, "")[1]
    except InvalidDocument:  # JSON that is no YAML, such as a surrogate pair: there are no lines then
        return None


def _read_yaml(text: str, source: str) -> tuple[Any, Lines]:
    builder = Builder(source, MAX_DEPTH)
    _feed(text, source, builder.feed)
    return builder.result()


def _feed(text: str, source: str, feed: Callable[[Any], None]) -> None:
    """Hand the events of a text on, one by one."""
    try:
        for event in _events(text):
            feed(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        line = None if mark is None else mark.line + 1
        raise refusal(f"this is not YAML: {what}", "mind indentation, quotes and brackets", source, line) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise refusal(f"this is not YAML: {_first_line(error)}", "save it as plain UTF-8", source) from None


def _events(text: str) -> Iterator[Any]:
    return iter(yaml.parse(text, Loader=_LOADER))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["unreadable"])[0]
