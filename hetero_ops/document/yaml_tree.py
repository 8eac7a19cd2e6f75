"""Parse events of YAML to plain objects, one event at a time: no recursion, and every expansion counted."""

from dataclasses import dataclass
from typing import Any

from hetero_ops.document.line_tree import Lines
from hetero_ops.document.refusal import refusal, shown
from hetero_ops.document.yaml_scalar import resolve, tagged
from hetero_ops.errors import InvalidDocument

_MAX_EXPANDED = 1_000_000
_MAX_NODES = 10_000_000
_CONTAINER_TAGS = (None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


@dataclass(slots=True)
class _Built:
    """A finished value: `size` counts its nodes with all aliases expanded."""

    value: Any
    lines: Lines
    size: int


@dataclass(slots=True)
class _Open:
    """A container whose end has not been seen. A mapping waits for a key while `key` is `None`."""

    value: Any
    children: Any
    line: int
    anchor: str | None
    size: int = 1
    key: str | None = None


class Builder:
    """Takes the events of one document and holds what they say so far."""

    def __init__(self, source: str, depth: int) -> None:
        self._source = source
        self._depth = depth
        self._open: list[_Open] = []
        # An anchor whose value is not finished stands for `None`: an alias to it would be a loop.
        self._anchors: dict[str, _Built | None] = {}
        self._root: _Built | None = None
        self._nodes = 0
        self._expanded = 0
        self._line = 0

    def feed(self, event: Any) -> None:  # noqa: ANN401 - PyYAML's events share no typed base
        """Take one event.

        Raises:
            InvalidDocument: the document means more, or something else, than plain data.
        """
        self._line = event.start_mark.line + 1
        name = type(event).__name__
        if name == "ScalarEvent":
            self._scalar(event)
        elif name in ("MappingStartEvent", "SequenceStartEvent"):
            self._start(event, is_mapping=name == "MappingStartEvent")
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            self._end()
        elif name == "AliasEvent":
            self._alias(event.anchor)
        elif name == "DocumentStartEvent" and self._root is not None:
            raise self._refuse("a second document begins", "give one document a file, or a directory of files")

    @property
    def is_empty(self) -> bool:
        """Whether nothing stood in the document."""
        return self._root is None or self._root.value is None

    def result(self) -> tuple[Any, Lines]:
        """Give the finished document and the lines of its values."""
        if self._root is None or self._root.value is None:
            raise refusal("the document is empty", "write it, or give another file", self._source)
        return self._root.value, self._root.lines

    def _refuse(self, what: str, fix: str) -> InvalidDocument:
        return refusal(what, fix, self._source, self._line)

    def _scalar(self, event: Any) -> None:  # noqa: ANN401
        if self._wants_key():
            self._take_key(event)
            return
        value = self._value_of(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Built(value, self._line, 1)
        self._attach(value, self._line, 1)

    def _value_of(self, event: Any) -> Any:  # noqa: ANN401
        try:
            if event.tag is not None:
                return tagged(event.tag, event.value)
            return resolve(event.value) if event.implicit[0] else event.value
        except ValueError as error:
            what = f"{shown(event.value)} cannot be read: {error}"
            raise self._refuse(what, "write a plain number or quoted text, or leave it out") from None

    def _wants_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _take_key(self, event: Any) -> None:  # noqa: ANN401
        key = self._value_of(event)
        if not isinstance(key, str):
            raise self._refuse(f"the key {shown(event.value)} is not text", f'write "{event.value}" in quotes')
        if key == "<<" and event.implicit[0]:
            raise self._refuse("merge keys (<<) are not read", "write the fields out, or alias a whole value")
        if key in self._open[-1].value:
            raise self._refuse(f"the key {shown(key)} is given twice", "keep one of them")
        self._open[-1].key = key

    def _start(self, event: Any, *, is_mapping: bool) -> None:  # noqa: ANN401
        if event.tag not in _CONTAINER_TAGS:
            raise self._refuse(f"the tag {shown(event.tag)} is not read", "write plain data")
        if self._wants_key():
            raise self._refuse("a key is a list or a mapping", "write text as the key")
        if len(self._open) >= self._depth:
            raise self._refuse(f"nested deeper than {self._depth}", "give a flatter document")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        empty: tuple[Any, Any] = ({}, {}) if is_mapping else ([], [])
        self._open.append(_Open(*empty, line=self._line, anchor=event.anchor))

    def _end(self) -> None:
        done = self._open.pop()
        lines = (done.line, done.children)
        if done.anchor is not None:
            self._anchors[done.anchor] = _Built(done.value, lines, done.size)
        self._attach(done.value, lines, done.size)

    def _alias(self, anchor: str) -> None:
        if self._wants_key():
            raise self._refuse("a key is an alias", "write the key out")
        if anchor not in self._anchors:
            raise self._refuse(f"the alias *{anchor} is not defined above", f"write &{anchor} at what it stands for")
        built = self._anchors[anchor]
        if built is None:
            raise self._refuse(f"the alias *{anchor} stands inside of what it stands for", "write the value out")
        self._expanded += built.size
        if self._expanded > _MAX_EXPANDED:
            raise self._refuse(f"aliases expand to more than {_MAX_EXPANDED} values", "write the values out")
        self._attach(built.value, built.lines, built.size)

    def _attach(self, value: Any, lines: Lines, size: int) -> None:  # noqa: ANN401
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise self._refuse(f"more than {_MAX_NODES} values", "split the fleet into a directory of files")
        if not self._open:
            self._root = _Built(value, lines, size)
            return
        parent = self._open[-1]
        parent.size += size
        if parent.key is None:
            parent.value.append(value)
            parent.children.append(lines)
        else:
            parent.value[parent.key] = value
            parent.children[parent.key] = lines
            parent.key = None
