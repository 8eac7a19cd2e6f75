"""The shorthand of a requirement, written: one text for each requirement, whatever text it was read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hetero_ops.gap.word_table import BARE, WORDS
from hetero_ops.units import format_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hetero_ops.gap.choice import Choice, ModelName

WHOLE_DEVICE_MILLI = 1000
_BEFORE_PRECISION = ("memory_floor_mib", "usable_floor_mib")


def write_shorthand(choices: Sequence[Choice]) -> str:
    """Writes choices in order; words that all of them have, if there are several, come once after `where`."""
    words = [_words_of(choice) for choice in choices]
    common = {
        kind: word
        for kind, word in words[0].items()
        if len(choices) > 1 and all(others.get(kind) == word for others in words)
    }
    parts = [
        " ".join([_head_with_count(choice), *(word for kind, word in own.items() if kind not in common)])
        for choice, own in zip(choices, words, strict=True)
    ]
    return " where ".join(filter(None, [" | ".join(parts), " ".join(common.values())]))


def head_of(choice: Choice) -> str:
    """The head without the count; empty when the choice asks for nothing."""
    parts = [choice.accelerator_class, choice.vendor, ",".join(map(name_of, choice.names)), _size_in_head(choice)]
    return ":".join(filter(None, parts))


def _head_with_count(choice: Choice) -> str:
    head = head_of(choice)
    if choice.share_milli < WHOLE_DEVICE_MILLI:
        return f"{head}:0.{choice.share_milli:03d}".rstrip("0")
    if choice.count_ceiling is not None:
        return f"{head}:{choice.count}..{choice.count_ceiling}"
    return f"{head}:{choice.count}" if choice.count > 1 else head


def name_of(model: ModelName) -> str:
    """A name with vendor, partition and mark, as a person writes it."""
    mark = {"any": "", "exact": "!", "newer": "+"}[model.match]
    return "/".join(filter(None, [model.vendor, model.name, model.partition])) + mark


def _floor_is_in_head(choice: Choice) -> bool:
    """A floor is a word, unless it makes a range with a ceiling, or there would be no head without it."""
    return choice.memory_ceiling_mib is not None or not (choice.accelerator_class or choice.vendor or choice.names)


def _size_in_head(choice: Choice) -> str:
    floor, ceiling = choice.memory_floor_mib, choice.memory_ceiling_mib
    if ceiling is None:
        return f"{format_memory(floor)}+" if floor is not None and _floor_is_in_head(choice) else ""
    if floor == ceiling:
        return format_memory(ceiling)
    return f"{format_memory(floor) if floor is not None else ''}..{format_memory(ceiling)}"


def _words_of(choice: Choice) -> dict[str, str]:
    """The words of a choice by field, in their fixed order: memory, precision, links and other bare words, the rest."""
    words: dict[str, str] = {
        word.field: word.head + word.write(value) for word in WORDS if (value := getattr(choice, word.field))
    }
    if _floor_is_in_head(choice):
        words.pop("memory_floor_mib", None)
    first = {field: words.pop(field) for field in _BEFORE_PRECISION if field in words}
    if choice.precisions:
        first["precisions"] = " ".join(
            precision.word if precision.support == "native" else f"{precision.word}:{precision.support}"
            for precision in choice.precisions
        )
    bare = {field: word for word, (field, value, _) in BARE.items() if getattr(choice, field) == value}
    return first | bare | words
