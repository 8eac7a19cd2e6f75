"""The shorthand of a requirement, read: `H100:8 | A100:8 bf16 where >=80GB fabric`.

Written by hand and linear in the length of the text. What it yields are drafts: field values by choice, with the
position of the choice, so that whoever builds the checked model can say where it was wrong.

    request = choice { "|" choice } [ "where" words ]
    choice  = head { blank word }        a head is read by `head`, a word by `word`
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.head import read_head
from hetero_ops.gap.word import read_words

MAX_CHARACTERS = 4096
MAX_CHOICES = 16

_TOKEN = re.compile(r"\||[^ \t|]+")


@dataclass(frozen=True, slots=True)
class Draft:
    """One choice as read: the fields that the text gives, and where in the text the choice begins (from 1)."""

    position: int
    fields: dict[str, object]


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    position: int


def read_shorthand(text: str) -> tuple[Draft, ...]:
    """Reads one requirement.

    Args:
        text: at most 4096 printable characters; blanks and tabs separate.

    Returns:
        One draft per choice, with the `where` words that the choice does not override.

    Raises:
        InvalidRequirement: what is wrong, at which character, and what to write instead.
    """
    refuse_unprintable(text, MAX_CHARACTERS)
    tokens = [_Token(match.group(), match.start() + 1) for match in _TOKEN.finditer(text)]
    end = len(text) + 1
    where = next((index for index, token in enumerate(tokens) if token.text == "where"), len(tokens))
    common = _read_common(tokens[where:], end)
    choices = _split_choices(tokens[:where], tokens[where].position if where < len(tokens) else end)
    return tuple(Draft(choice[0].position, {**common, **_read_choice(choice)}) for choice in choices)


def refuse_unprintable(text: str, max_characters: int, *, line_ends: bool = False) -> None:
    """Refuses text that is too long, or holds what a reader would not see: control, format and odd blanks.

    Args:
        text: what was given.
        max_characters: how long it may be.
        line_ends: whether it may have several lines.

    Raises:
        InvalidRequirement: with the first such character.
    """
    if len(text) > max_characters:
        raise InvalidRequirement(
            f"a requirement of {len(text)} characters is too long; write at most {max_characters} characters"
        )
    unseen = "\t\r\n" if line_ends else "\t"
    for position, character in enumerate(text, start=1):
        if character not in unseen and not character.isprintable():
            raise InvalidRequirement(
                f"unprintable character U+{ord(character):04X} at character {position}; "
                "separate with plain blanks and stay on one line"
            )


def _read_common(tokens: Sequence[_Token], end: int) -> dict[str, object]:
    """Reads `where` and the words after it, if there is any."""
    if not tokens:
        return {}
    if len(tokens) == 1:
        raise InvalidRequirement(f"nothing after 'where' at character {end}; write words such as >=80GB, or drop it")
    for token in tokens[1:]:
        if token.text in {"|", "where"}:
            raise InvalidRequirement(
                f"{token.text!r} after 'where' at character {token.position}; "
                "write all choices first, then one 'where' with the words common to all"
            )
    return _read_words(tokens[1:])


def _split_choices(tokens: Sequence[_Token], end: int) -> list[Sequence[_Token]]:
    """Splits at `|`; every choice has at least one token."""
    bars = [index for index, token in enumerate(tokens) if token.text == "|"]
    if len(bars) >= MAX_CHOICES:
        raise InvalidRequirement(f"{len(bars) + 1} choices are too many; write at most {MAX_CHOICES}")
    groups = []
    for before, after in pairwise([-1, *bars, len(tokens)]):
        if before + 1 == after:
            position = tokens[after].position if after < len(tokens) else end
            raise InvalidRequirement(
                f"empty choice at character {position}; write what is wanted there, such as H100:8 or gpu:1"
            )
        groups.append(tokens[before + 1 : after])
    return groups


def _read_choice(tokens: Sequence[_Token]) -> dict[str, object]:
    head, *words = tokens
    of_head = read_head(head.text, head.position)
    of_words = _read_words(words)
    if of_head.keys() & of_words.keys():  # only a memory floor can be in both
        raise InvalidRequirement(
            f"two memory floors in the choice at character {head.position}; write one, in the head or as a word"
        )
    return {**of_head, **of_words}


def _read_words(tokens: Sequence[_Token]) -> dict[str, object]:
    return read_words([(token.text, token.position) for token in tokens])
