"""The words of a choice, read: `>=80GB`, `fp8:weight`, `fabric`, `bw>=3TB/s`."""

import difflib
import re
from collections.abc import Iterable

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.old_spelling import OLD_WORDS, current
from hetero_ops.gap.word_table import BARE, BY_KEY, WORDS
from hetero_ops.gap.words import ASKED_SUPPORTS, PRECISIONS
from hetero_ops.units import quoted

_COMPARISON = re.compile(r"(?P<key>@?|[a-z_]+)(?P<operator>>=|<=|=|>|<)(?P<value>.*)")
_STRAY = re.compile(r"[0-9.,+-]+|[0-9.]*[KMGTP]?i?B\+?", re.IGNORECASE)
_LONGEST_WORD = 24
_KNOWN = (*PRECISIONS, *BARE, *filter(None, BY_KEY), "where")


def is_word(text: str) -> bool:
    """Whether this is a word of the grammar, and so no device."""
    return text.lower() in _KNOWN


def read_words(words: Iterable[tuple[str, int]]) -> dict[str, object]:
    """Reads the words of one choice, or those after `where`.

    Args:
        words: each with its position in the requirement, from 1.

    Returns:
        The fields of a `Choice` that they give.

    Raises:
        InvalidRequirement: an unknown word, a bad value, or two words of one kind.
    """
    found: dict[str, object] = {}
    for text, position in words:
        field, kind, value = _read_word(text, position)
        if field in found:
            raise InvalidRequirement(
                f"second {kind} {quoted(text)} at character {position}; write one {kind} per choice"
            )
        found[field] = value
    precisions = tuple({"word": word, "support": found.pop(word)} for word in PRECISIONS if word in found)
    return {**found, "precisions": precisions} if precisions else found


def read_precision(text: str) -> dict[str, str]:
    """A precision with what is asked of it, such as `fp8:weight`.

    Raises:
        ValueError: it is none.
    """
    word, colon, support = text.lower().partition(":")
    if word not in PRECISIONS:
        raise ValueError(f"{quoted(text)} is no precision; write one of {', '.join(PRECISIONS)}")
    if colon and support not in ASKED_SUPPORTS:
        raise ValueError(f"{quoted(text)}: {word} can be {word}:native, {word}:weight or {word}:any")
    return {"word": word, "support": support or "native"}


def _read_word(text: str, position: int) -> tuple[str, str, object]:
    """The field of a word (a precision stands for itself), what it is called in messages, and its value."""
    match = _COMPARISON.fullmatch(text)
    if match is not None:
        return _read_comparison(match, position)
    text = current(text, OLD_WORDS)
    if text in BARE:
        field, value, called = BARE[text]
        return field, called, value
    return _read_bare_precision(text, position)


def _read_comparison(match: re.Match[str], position: int) -> tuple[str, str, object]:
    key = match["key"].removeprefix("@")
    word = BY_KEY.get(key)
    if word is None:
        raise _unknown(key, position)
    if match["operator"] != word.operator:
        raise InvalidRequirement(
            f"{quoted(match.group())} at character {position}: write it with {word.operator}, as in {word.example}"
            + ("" if key else ", or a ceiling in the head as ..80GB")
        )
    try:
        return word.field, word.called, word.read(match["value"])
    except ValueError as error:
        raise InvalidRequirement(f"{word.called} at character {position}: {error}") from None


def _read_bare_precision(text: str, position: int) -> tuple[str, str, object]:
    if text.partition(":")[0] not in PRECISIONS:
        raise _stray(text, position) if _STRAY.fullmatch(text) else _unknown(text.partition(":")[0] or text, position)
    try:
        read = read_precision(text)
    except ValueError as error:
        raise InvalidRequirement(f"at character {position}: {error}") from None
    return read["word"], read["word"], read["support"]


def _stray(text: str, position: int) -> InvalidRequirement:
    return InvalidRequirement(
        f"stray {quoted(text)} at character {position}; "
        "write a memory size without blanks, as >=80GB or in the head as gpu:80GB:8"
    )


def _unknown(word: str, position: int) -> InvalidRequirement:
    example = next((known.example for known in WORDS if known.key == word), None)
    if example is not None:
        return InvalidRequirement(f"word {quoted(word)} at character {position} needs a value; write it as {example}")
    # A word much longer than any we know is close to none; comparing it would only cost time.
    close = difflib.get_close_matches(word.lower(), _KNOWN, n=1) if len(word) <= _LONGEST_WORD else []
    fix = f"did you mean {close[0]!r}?" if close else "write words such as >=80GB, fp8 or fabric"
    return InvalidRequirement(f"unknown word {quoted(word)} at character {position}; {fix}")
