"""A value of a document together with where it stands: reads what is there, refuses what has the wrong type."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hetero_ops.document.line_tree import join_index, join_key
from hetero_ops.document.refusal import refusal, shown
from hetero_ops.document.text import DocumentText
from hetero_ops.errors import InvalidDocument


@dataclass(slots=True)  # not frozen: that takes three times as long to make, and there are millions
class Field:
    """One value and the steps that lead to it. `null` and absent are the same, as they are to Kubernetes."""

    value: Any
    text: DocumentText
    parent: "Field | None" = None
    step: str | int = ""

    @property
    def path(self) -> str:
        """Where in the document, as `items[3].status.allocatable`; built only for a message."""
        if self.parent is None:
            return ""
        above = self.parent.path
        return join_key(above, self.step) if isinstance(self.step, str) else join_index(above, self.step)

    def refuse(self, what: str, fix: str) -> InvalidDocument:
        """Build the error that names this field."""
        path = self.path
        return refusal(what, fix, self.text.source, self.text.line_of(path), path)

    def get(self, *keys: str) -> "Field":
        """Give a field, one or more mappings deep; of nothing, nothing."""
        field = self
        for key in keys:
            field = Field(field.mapping().get(key), self.text, field, key)
        return field

    def mapping(self) -> dict[str, Any]:
        """Read a mapping; empty when absent."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self._wrong("a mapping")
        return self.value

    def fields(self) -> Iterator[tuple[str, "Field"]]:
        """Walk a mapping."""
        return ((key, Field(value, self.text, self, key)) for key, value in self.mapping().items())

    def items(self) -> list["Field"]:
        """Read a list; empty when absent."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise self._wrong("a list")
        return [Field(value, self.text, self, index) for index, value in enumerate(self.value)]

    def string(self) -> str | None:
        """Read text."""
        if self.value is not None and not isinstance(self.value, str):
            raise self._wrong("text")
        return self.value

    def integer(self) -> int | None:
        """Read an integer."""
        if self.value is not None and type(self.value) is not int:
            raise self._wrong("an integer")
        return self.value

    def boolean(self) -> bool:
        """Read a boolean; false when absent."""
        if self.value is not None and not isinstance(self.value, bool):
            raise self._wrong("true or false")
        return bool(self.value)

    def strings(self) -> dict[str, str]:
        """Read a mapping of texts, such as labels."""
        return {key: text for key, field in self.fields() if (text := field.string()) is not None}

    def _wrong(self, expected: str) -> InvalidDocument:
        fix = f"write {expected}, or give the output as it was printed"
        return self.refuse(f"expected {expected}, found {shown(self.value)}", fix)
