"""JSON text to plain objects: what a decoder lets pass in silence (NaN, a key given twice, deep nesting) is refused."""

import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from hetero_ops.document.refusal import refusal, shown
from hetero_ops.document.yaml_scalar import finite

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN|-?[0-9][0-9.eE+-]*')
_SPACE = " \t\n\r"
_WHOLE = "give the whole output; YAML in flow style needs `---` as its first line"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_HALF_SURROGATE = re.compile(r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])")


class _RefusedNumberError(Exception):
    pass


class _RepeatedKeyError(Exception):
    pass


def read_json(text: str, source: str, depth: int) -> Any:  # noqa: ANN401 - a document has any shape until it is read
    """Read one JSON document.

    Raises:
        InvalidDocument: the text is not JSON, or JSON that has no meaning here.
    """
    value, end = read_value(text, source, depth, len(text) - len(text.lstrip(_SPACE)), decoder=_STRICT)
    rest = text[end:].lstrip(_SPACE)
    if rest:
        line = text.count("\n", 0, len(text) - len(rest)) + 1
        raise refusal("this is not JSON: Extra data", _WHOLE, source, line)
    check_value(value, text, source, depth)
    return value


def read_value(  # noqa: PLR0913 - where it is, and how it is read
    text: str, source: str, depth: int, start: int, first_line: int = 1, *, decoder: json.JSONDecoder | None = None
) -> tuple[Any, int]:
    """Read the JSON value that begins at a place of a text; give it with the place where it ends.

    Of a key that is given twice the last counts, unless the decoder is the strict one, which takes twice the time.

    Args:
        text: the text.
        source: the file it is from.
        depth: how deep a value may be nested, for the message.
        start: where the value begins.
        first_line: the line of that file that the text begins with.
        decoder: the strict one, or by default the fast one.

    Raises:
        InvalidDocument: the text is not JSON, or JSON that has no meaning here.
    """
    try:
        return (decoder or _FAST).raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise refusal(f"this is not JSON: {error.msg}", _WHOLE, source, first_line + error.lineno - 1) from None
    except RecursionError:
        raise refusal(f"nested deeper than {depth}", "give a flatter document", source, first_line) from None
    except _RefusedNumberError as error:
        line = _line_of(text, str(error), start, first_line)
        raise refusal(f"{shown(str(error))} is not a number here", "leave out what is unknown", source, line) from None
    except _RepeatedKeyError as error:
        raise refusal(f"the key {error} is given twice", "keep one of them", source) from None


def check_value(value: object, text: str, source: str, depth: int) -> None:
    """Refuse what decoded, but means nothing: too deep a nesting, half a surrogate pair.

    Raises:
        InvalidDocument: the value is such.
    """
    _check_depth(value, source, depth)
    if _SURROGATE.search(text):
        _check_text(value, text, source)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(shown(next(key for key in keys if keys.count(key) > 1)))
    return mapping


def _refuse_number(text: str) -> NoReturn:
    raise _RefusedNumberError(text)


def _number(text: str) -> float:
    try:
        return finite(text)
    except ValueError:
        _refuse_number(text)


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # Python refuses integers of thousands of digits
        _refuse_number(text)


_FAST = json.JSONDecoder(parse_constant=_refuse_number, parse_float=_number, parse_int=_integer)
_STRICT = json.JSONDecoder(
    object_pairs_hook=_once, parse_constant=_refuse_number, parse_float=_number, parse_int=_integer
)


def _line_of(text: str, token: str, start: int, first_line: int) -> int | None:
    """Find a token outside of the strings."""
    at = next((match.start() for match in _TOKEN.finditer(text, start) if match[0] == token), None)
    return None if at is None else text.count("\n", 0, at) + first_line


def _check_depth(value: object, source: str, depth: int) -> None:
    level: list[object] = [value]
    for _ in range(depth + 1):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise refusal(f"nested deeper than {depth}", "give a flatter document", source, 1)


def _children(value: object) -> Iterable[object]:
    children: Iterable[object] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (child for child in children if isinstance(child, dict | list))


def _check_text(value: object, text: str, source: str) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        half = _HALF_SURROGATE.search(text) or _SURROGATE.search(text)
        line = None if half is None else text.count("\n", 0, half.start()) + 1
        what = "half of a surrogate pair (\\ud800 to \\udfff)"
        raise refusal(what, "write the character itself", source, line) from None
