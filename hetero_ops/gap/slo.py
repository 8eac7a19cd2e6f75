"""What a running step must keep on the choice that it got: its targets, relaxed by what was stated and nothing else."""

from hetero_ops.gap.choice import Choice, Target
from hetero_ops.gap.contract import Degrade

_MILLI = 1000


def relaxed_slo(choice: Choice, degrade: Degrade, *, is_degraded: bool) -> tuple[tuple[Target, int], ...]:
    """The targets of a choice once it is granted.

    `impact=10%` makes a latency 10 % longer and a throughput 10 % lower, exactly. The factors of `slo_relax` come on
    top where the step is degraded: a latency is multiplied by its factor, a throughput divided.

    Args:
        choice: what was granted.
        degrade: what the step agreed to.
        is_degraded: whether it is any but the first choice.

    Returns:
        By target, millionths: of a second for a latency, of one a second for a throughput. What a factor leaves of a
        millionth is rounded to the looser side.
    """
    factors = dict(degrade.slo_relax) if is_degraded else {}
    impact_milli = choice.impact_milli or 0
    relaxed: list[tuple[Target, int]] = []
    for target, stated_milli in choice.slo:
        factor_milli = factors.get(target, _MILLI)
        if target == "latency":
            relaxed.append((target, -(-stated_milli * (_MILLI + impact_milli) * factor_milli // _MILLI)))
        else:
            relaxed.append((target, stated_milli * (_MILLI - impact_milli) * _MILLI // factor_milli))
    return tuple(relaxed)
