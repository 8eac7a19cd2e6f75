"""Exit codes: a script can tell degraded, impossible and busy from each other, and all of them from a mistake."""

from collections.abc import Iterable
from enum import IntEnum

from hetero_ops.placement.decision import Decision


class ExitCode(IntEnum):
    """How a command ended. 2 is left to wrong options and arguments."""

    PLACED = 0
    DEGRADED = 10
    BAD_REQUEST = 64
    BAD_FLEET = 65
    IMPOSSIBLE = 69
    BUSY = 75


_OF_VERDICT = {
    "placed": ExitCode.PLACED,
    "degraded": ExitCode.DEGRADED,
    "busy": ExitCode.BUSY,
    "impossible": ExitCode.IMPOSSIBLE,
}
# Of several steps the worst counts; this is what worse means.
_WORST_FIRST = (
    ExitCode.BAD_FLEET,
    ExitCode.BAD_REQUEST,
    ExitCode.IMPOSSIBLE,
    ExitCode.BUSY,
    ExitCode.DEGRADED,
    ExitCode.PLACED,
)


def of_decision(decision: Decision, *, strict: bool = False) -> ExitCode:
    """The code of one decision; under `strict` a degraded placement counts as impossible."""
    code = _OF_VERDICT[decision.verdict]
    return ExitCode.IMPOSSIBLE if strict and code is ExitCode.DEGRADED else code


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """The worst of several codes; `PLACED` of none."""
    return min(codes, key=_WORST_FIRST.index, default=ExitCode.PLACED)
