"""Where each value of a document stands in its text, and how a path finds it."""

import json
import re

_INDEX = re.compile(r"\[(\d+)\]")
_QUOTED_KEY = re.compile(r'\[("(?:[^"\\]|\\.)*")\]')

# The line of a scalar, or the line of a container with those of its children.
Lines = int | tuple[int, dict[str, "Lines"] | list["Lines"]]


def join_key(path: str, key: str) -> str:
    """Append a mapping key to a path; keys that would read as more than one step are quoted."""
    if re.fullmatch(r"[\w-]+", key):
        return f"{path}.{key}" if path else key
    return f"{path}[{json.dumps(key)}]"


def join_index(path: str, index: int) -> str:
    """Append a list index to a path."""
    return f"{path}[{index}]"


def find_line(lines: Lines, path: str) -> int:
    """Give the line of `path`, or of its nearest ancestor that is in the text.

    A missing field has no line of its own: the line of what should hold it helps most.
    """
    rest = path
    while isinstance(lines, tuple) and rest:
        line, children = lines
        step = _step_list(children, rest) if isinstance(children, list) else _step_mapping(children, rest)
        if step is None:
            return line
        lines, rest = step
    return lines[0] if isinstance(lines, tuple) else lines


def _step_list(children: list[Lines], rest: str) -> tuple[Lines, str] | None:
    match = _INDEX.match(rest)
    if match is None or int(match[1]) >= len(children):
        return None
    return children[int(match[1])], rest[match.end() :]


def _step_mapping(children: dict[str, Lines], rest: str) -> tuple[Lines, str] | None:
    quoted = _QUOTED_KEY.match(rest)
    if quoted is not None:
        key = json.loads(quoted[1])
        return (children[key], rest[quoted.end() :]) if key in children else None
    rest = rest.removeprefix(".")
    # Keys such as `topology.kubernetes.io/zone` hold dots themselves, so the longest key that fits is meant.
    fitting = [key for key in children if rest.startswith(key) and rest[len(key) : len(key) + 1] in ("", ".", "[")]
    if not fitting:
        return None
    key = max(fitting, key=len)
    return children[key], rest[len(key) :]
