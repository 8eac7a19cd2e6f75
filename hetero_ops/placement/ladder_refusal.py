"""What a refusal says to a ladder: which rungs can never fit, what would have to end, and why in a few words."""

import json
from dataclasses import dataclass

from hetero_ops.placement.decision import NoFit


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal as a ladder reads it.

    Attributes:
        answer: the refusal.
        impossible: places of the choices that can never fit, even on an empty fleet.
        codes: why not now, nearest miss first; why never, where all that is asked can never fit.
        why: the nearest reason, with its numbers.
        owners: whose work would have to end, in order; none where nothing may, or nothing helps.
        nodes: where the step would then fit.
    """

    answer: NoFit
    impossible: frozenset[int]
    codes: tuple[str, ...]
    why: str
    owners: tuple[str, ...]
    nodes: tuple[str, ...]

    @classmethod
    def of(cls, answer: NoFit, rungs: int, priority: int | None) -> "Refusal":
        """Reads the refusal of so many rungs.

        Args:
            answer: the refusal.
            rungs: how many were asked for.
            priority: of the step; nothing ends for one without.
        """
        told = json.loads(answer.to_json())
        passing = [reason for reason in told["reasons"] if not reason["is_permanent"]]
        codes = {reason["code"] for reason in passing or told["reasons"]}
        victims = told.get("victims")
        # The core names lower ones only; a stale answer to another priority must not end anything all the same.
        is_allowed = priority is not None and victims and all(one["priority"] < priority for one in victims["victims"])
        return cls(
            answer=answer,
            impossible=frozenset(range(rungs)) - {reason["choice_index"] for reason in passing},
            codes=tuple(code for code in answer.codes if code in codes),
            why=_nearest(told["nearest"]) or ", ".join(answer.codes),
            owners=tuple(sorted({one["owner"] for one in victims["victims"]})) if is_allowed else (),
            nodes=tuple(victims["nodes"]) if is_allowed else (),
        )


def _nearest(nearest: dict[str, object] | None) -> str:
    if nearest is None:
        return ""
    have, want, unit = nearest["have"], nearest["want"], nearest["unit"]
    numbers = "" if have is None or want is None else f" ({have} of {want}{f' {unit}' if unit else ''})"
    return f"{nearest['choice']}: {nearest['code']}{numbers} on {nearest['node']}"
