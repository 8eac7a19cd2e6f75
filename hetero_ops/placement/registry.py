"""The registry of codes: what each reason, finding and warning means, and what to do about it."""

import functools
import tomllib
from dataclasses import dataclass
from typing import Literal

from hetero_ops import _core

Section = Literal["reason", "finding", "warning"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One code: what it states, what to do, and the unit of its numbers (`None` for counts)."""

    means: str
    advice: str
    unit: str | None = None


@functools.cache
def registry() -> dict[Section, dict[str, Entry]]:
    """All codes by section, in the order of the registry."""
    table = tomllib.loads(_core.codes())
    sections: tuple[Section, ...] = ("reason", "finding", "warning")
    return {section: {code: Entry(**entry) for code, entry in table[section].items()} for section in sections}
