"""The JSON form of a requirement: checks before it is read, and words for what was wrong with it."""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.grammar import refuse_unprintable
from hetero_ops.units import quoted

MAX_JSON_CHARACTERS = 64 * 1024
MAX_NESTING = 8
"""The form itself needs five levels."""

_STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}


def check_json(text: str) -> None:
    """Refuses what a JSON reader would choke on, or pass over silently.

    Raises:
        InvalidRequirement: too long, unprintable, nested too deeply, not JSON, or with a key twice.
    """
    refuse_unprintable(text, MAX_JSON_CHARACTERS)
    # Brackets within strings count as well: no valid requirement has any.
    if max(accumulate(_STEPS.get(character, 0) for character in text)) > MAX_NESTING:
        raise InvalidRequirement(f'JSON nested more than {MAX_NESTING} levels deep; write {{"choices": [...]}}')
    try:
        json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise InvalidRequirement(
            f"not JSON: {error.msg} at character {error.pos + 1}; check quotes and commas"
        ) from None
    except InvalidRequirement:
        raise
    except ValueError:  # a number of thousands of digits
        raise InvalidRequirement("not a requirement: a number is too long; check the counts") from None


def explain(errors: Sequence[Mapping[str, object]], known_keys: Iterable[str]) -> str:
    """Says in one sentence what the model found wrong first.

    Args:
        errors: the details of pydantic, at least one.
        known_keys: the keys to suggest from when a key is unknown.
    """
    first = errors[0]
    message = str(first["msg"]).removeprefix("Value error, ")
    location = first["loc"]
    path = [str(step) for step in location] if isinstance(location, tuple) else []
    if first["type"] == "extra_forbidden":
        close = difflib.get_close_matches(path[-1][:40], list(known_keys), n=1)
        return f"unknown key {quoted(path[-1])}; " + (f"did you mean {close[0]!r}?" if close else "drop it")
    return f"{'.'.join(path)}: {message}" if path else message


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InvalidRequirement(f"key {quoted(twice)} twice; write it once")
    return found
