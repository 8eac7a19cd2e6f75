"""Writing a site's catalog file: one more entry behind the others, nothing else touched."""

from collections.abc import Mapping
from typing import Any

from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.override import API_VERSION, KIND

_INDENTS = ("  ", "", "    ")


def entry_text(entry: Mapping[str, Any], indent: str = "  ") -> str:
    """One entry as lines of YAML below `entries:`."""
    import yaml

    lines = []
    for key, value in entry.items():
        is_nested = isinstance(value, list | dict)
        line = yaml.safe_dump(
            {key: value}, default_flow_style=None if is_nested else False, allow_unicode=True, width=1000
        )
        lines += line.splitlines()
    return "".join(f"{indent}{'  ' if number else '- '}{line}\n" for number, line in enumerate(lines))


def document_text(entry: Mapping[str, Any]) -> str:
    """A whole file with one entry."""
    return f"apiVersion: {API_VERSION}\nkind: {KIND}\nentries:\n{entry_text(entry)}"


def with_entry(text: str, entry: Mapping[str, Any], source: str) -> str:
    """The text of a file with one more entry at its end, so that comments stay.

    Raises:
        InvalidDocument: the file is no document, or its entries are not at its end; the message gives the lines to add.
    """
    there = read_text(text, source).value
    entries = there.get("entries") if isinstance(there, dict) else None
    head = text if text.endswith("\n") else f"{text}\n"
    if isinstance(there, dict) and entries is None and "entries" not in there:
        head += "entries:\n"
    wanted = {**there, "entries": [*(entries or []), dict(entry)]} if isinstance(there, dict) else None
    for indent in _INDENTS:
        extended = head + entry_text(entry, indent)
        if _means(extended, wanted):
            return extended
    what = "its entries do not end the file in block style"
    raise InvalidDocument(f"{source}: {what}; add these lines to them yourself:\n{entry_text(entry)}")


def _means(text: str, wanted: object) -> bool:
    try:
        return bool(read_text(text, "").value == wanted)
    except InvalidDocument:
        return False
