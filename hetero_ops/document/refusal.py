"""One shape for every refused input: where it is, what is wrong, what to do."""

from hetero_ops.errors import InvalidDocument

_SHOWN_CHARACTERS = 60


def refusal(what: str, fix: str, source: str = "", line: int | None = None, path: str = "") -> InvalidDocument:
    """Build the error for input that cannot be read.

    Args:
        what: what is wrong.
        fix: what to do about it.
        source: the file it was read from.
        line: the 1-based line in that file.
        path: where in the document, as `clusters[0].nodes[2]`.
    """
    place = source if line is None else f"{source or 'line'}:{line}"
    return InvalidDocument(": ".join(part for part in (place, path, f"{what}; {fix}") if part), path, line)


def shown(value: object) -> str:
    """Quote a value of the input for a message: short, and on one line."""
    text = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 3]}..."
