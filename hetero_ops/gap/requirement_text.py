"""The text of a requirement: which of its forms it has, and the plain values that it holds.

One line of shorthand is read by `grammar`. Text that begins with a bracket is JSON. Text whose first line is a key with
a colon and a blank, or a list item, is YAML.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate

from hetero_ops.document.text import DocumentText, read_text
from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.gap.choice_form import FormError, unknown_key
from hetero_ops.gap.grammar import refuse_unprintable
from hetero_ops.units import quoted

MAX_JSON_CHARACTERS = 64 * 1024
MAX_NESTING = 10
"""The form itself needs six levels."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# What pydantic says in words of Python.
_PLAINLY = {
    "model_type": "{given} cannot stand here; write a mapping of keys",
    "tuple_type": "{given} is no list; write one, as in [a, b]",
    "too_long": "{actual_length} entries are too many; write at most {max_length}",
    "too_short": "an empty list; write at least {min_length} entry",
    "bool_type": "{given} is not true or false; write one of them",
    "int_type": "{given} is no whole number; write one such as 8",
}
_STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}
_YAML = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n|---[ \t]*\n)*[ \t]*(?:- |[A-Za-z][A-Za-z0-9._/+-]*[ \t]*:(?:[ \t\n]|\Z))")


def is_json(text: str) -> bool:
    """Whether text is meant as JSON."""
    return text.lstrip(" \t\r\n")[:1] in {"{", "["}


def is_yaml(text: str) -> bool:
    """Whether text is meant as YAML: `count: 8` is, `gpu:8` is not."""
    return _YAML.match(text) is not None


def read_json_text(text: str) -> object:
    """Reads JSON, refusing what a JSON reader would choke on, or pass over silently.

    Raises:
        InvalidRequirement: too long, unprintable, nested too deeply, not JSON, or with a key twice.
    """
    refuse_unprintable(text, MAX_JSON_CHARACTERS, line_ends=True)
    outside = _STRING.sub("", text)
    if max(accumulate(_STEPS.get(character, 0) for character in outside), default=0) > MAX_NESTING:
        raise InvalidRequirement(f'JSON nested more than {MAX_NESTING} levels deep; write {{"choices": [...]}}')
    try:
        value: object = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise InvalidRequirement(
            f"not JSON: {error.msg} at character {error.pos + 1}; check quotes and commas"
        ) from None
    except InvalidRequirement:
        raise
    except ValueError:  # a number of thousands of digits
        raise InvalidRequirement("not a requirement: a number is too long; check the counts") from None
    return value


def read_yaml_text(text: str) -> DocumentText:
    """Reads YAML, keeping the line of every value.

    Raises:
        InvalidRequirement: too long, or not YAML.
    """
    refuse_unprintable(text, MAX_JSON_CHARACTERS, line_ends=True)
    try:
        return read_text(text, "requirement")
    except InvalidDocument as error:
        raise InvalidRequirement(str(error)) from None


def line_of(document: DocumentText, path: str) -> int | None:
    """The line of a path; what holds for all choices is found where it stands, beside or above them."""
    line, beside = document.line_of(path), re.sub(r"^choices\[[0-9]+\]\.", "", path)
    if beside == path or line != document.line_of(path.removesuffix(beside).rstrip(".")):
        return line
    top = document.line_of("")
    found = (document.line_of(start + beside) for start in ("", "need.", "accelerators.", "accelerators.need."))
    return next((there for there in found if there != top), line)


def explain(errors: Sequence[Mapping[str, object]], known_keys: Sequence[str]) -> tuple[str, str]:
    """Says what a model found wrong first: where, and in one sentence what.

    Args:
        errors: the details of pydantic, at least one.
        known_keys: the keys to suggest from when a key is unknown.
    """
    first = errors[0]
    location = first["loc"]
    steps = location if isinstance(location, tuple) else ()
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
    context = first.get("ctx")
    cause = context.get("error") if isinstance(context, Mapping) else None
    if isinstance(cause, FormError):
        inner = cause.below(path)
        return inner.path, inner.message
    if first["type"] == "extra_forbidden":
        return path, unknown_key(str(steps[-1]), known_keys)
    if first["type"] in _PLAINLY:
        numbers = context if isinstance(context, Mapping) else {}
        return path, _PLAINLY[str(first["type"])].format(given=quoted(str(first.get("input"))), **numbers)
    return path, f"{str(first['msg']).removeprefix('Value error, ')}{_given(first)}"


def _given(error: Mapping[str, object]) -> str:
    """What was given, where the message of the model does not say it."""
    given = error.get("input")
    is_plain = isinstance(given, str | int | float) and error["type"] != "value_error"
    return f", not {quoted(str(given))}" if is_plain else ""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InvalidRequirement(f"key {quoted(twice)} twice; write it once")
    return found
