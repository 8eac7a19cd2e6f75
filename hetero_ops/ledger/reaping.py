"""What becomes of reservations whose owners are not heard of: freed, kept, or withheld and alerted. Never guessed."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import CHECKS, OwnerCheck
from hetero_ops.ledger.reservation import Reservation, State

HARD_LIMIT_S = 3600.0
"""A reservation whose owner was silent for so long, and of whom nobody can say what became, is orphaned."""

_WITHHELD = (
    "reservation %s of %s was not heard of for too long and is withheld; look whether it still runs, then "
    "`hetero-ops ledger release %s`"
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reaped:
    """What a look at late reservations found.

    Attributes:
        expired: freed, since their owners are gone.
        orphaned: withheld from now on: past the hard limit, and nobody knows whether their owners live.
        kept: late, and kept: their owners live, or may, and the hard limit is not reached.
    """

    expired: list[Reservation] = field(default_factory=list)
    orphaned: list[Reservation] = field(default_factory=list)
    kept: list[Reservation] = field(default_factory=list)


def reap(
    ledger: Ledger,
    checks: Mapping[str, OwnerCheck] = CHECKS,
    *,
    hard_limit_s: float = HARD_LIMIT_S,
    by: str = "reap",
) -> Reaped:
    """Looks at every late reservation.

    Args:
        ledger: whose.
        checks: by kind of owner; an owner of another kind is one of whom nothing is known.
        hard_limit_s: silence after which a reservation of unknown owner is withheld.
        by: who asks, for the events.
    """
    reaped = Reaped()
    now = ledger.now_ms()
    for late in ledger.live():
        if not late.is_late(now):
            continue
        check = checks.get(late.owner.kind)
        is_gone = check.is_gone(late.owner.key) if check else None
        is_over = now > late.heartbeat_ms + hard_limit_s * 1000
        if is_gone:
            if ended := ledger.expire(late.id, heartbeat_ms=late.heartbeat_ms, by=by):
                reaped.expired.append(ended)
        elif is_gone is None and is_over and late.state is State.RESERVED:
            if ledger.orphan(late.id, heartbeat_ms=late.heartbeat_ms, by=by):
                _log.warning(_WITHHELD, late.id, late.owner, late.id, extra=_ids(late))
                reaped.orphaned.append(late)
        else:
            reaped.kept.append(late)
    return reaped


def _ids(reservation: Reservation) -> dict[str, str]:
    return {"trace_id": reservation.trace_id, "reservation_id": reservation.id}
