"""The ladder of a requirement: its rungs, and when each of them opens.

It is derived from what the step wrote and agreed to, never written a second time. Nothing here knows a clock: who asks
says how long something lasted.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Self

from hetero_ops.gap.choice import Choice
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.rung import Rung, rungs

_MS = 1000


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rungs of a requirement in their order; those that are open are always the first so many.

    Attributes:
        requirement: what the step asks for.
        rungs: the choices that were written, then those that follow from what it agreed to.
    """

    requirement: Requirement
    rungs: tuple[Rung, ...]

    @classmethod
    def of(cls, requirement: Requirement) -> Self:
        """The ladder of a requirement."""
        return cls(requirement, tuple(rungs(requirement)))

    @property
    def max_wait_ms(self) -> int | None:
        """How long the step waits in all; `None` where it waits for its choices only."""
        max_wait_s = self.requirement.degrade.max_wait_s
        return None if max_wait_s is None else max_wait_s * _MS

    def wait_ms(self, at: int) -> int:
        """How long a rung is held out for before the next one opens; derived ones are not waited for."""
        rung = self.rungs[at]
        return 0 if rung.is_derived else (rung.choice.wait_s or 0) * _MS

    def hold_ms(self, opened: int, impossible: AbstractSet[int] = frozenset()) -> int:
        """How long it stays at so many open rungs; what can never fit is not waited for."""
        return 0 if opened == 0 or opened - 1 in impossible else self.wait_ms(opened - 1)

    def next_opened(self, opened: int, held_ms: int, impossible: AbstractSet[int] = frozenset()) -> int:
        """How many rungs are open once the last of them was held out for so long.

        Args:
            opened: how many are open.
            held_ms: for how long they were all that was open.
            impossible: places of those that can never fit.
        """
        while opened < len(self.rungs) and self.hold_ms(opened, impossible) <= held_ms:
            opened, held_ms = opened + 1, 0
        return opened

    def asked(self, opened: int) -> Requirement:
        """The requirement with the open rungs only; the first choice stays the yardstick of `perf`."""
        if opened >= len(self.rungs):
            return self.requirement
        # Derived rungs are not waited for, so they open all at once: what is left out here are written ones or all that
        # are derived.
        choices = [_as_written(choice) for choice in self.requirement.choices[:opened]]
        return self.requirement.model_copy(update={"choices": choices, "quantizable": ()})


def _as_written(choice: Choice) -> Choice:
    """A choice from which nothing is derived."""
    changed: dict[str, object] = {}
    if choice.batch == "scale":
        changed["batch"] = None
    if choice.parallel is not None and choice.parallel.least_tp is not None:
        changed["parallel"] = choice.parallel.model_copy(update={"least_tp": None})
    return choice.model_copy(update=changed) if changed else choice
