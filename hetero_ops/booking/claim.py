"""Claims: a step of higher priority has others end. In the ledger, so that they reach owners wherever those run.

A claim is a plan of moves, one for each reservation that is to end. Whoever owns one looks for claims on it, ends its
step by its own contract, releases, and asks for nothing until the claim is settled: else it would be the first to take
what it gave.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import CHECKS, Owner, OwnerCheck
from hetero_ops.ledger.records import change_move, moves_of, plan_moves
from hetero_ops.ledger.schema import move

_KIND = "claim"
_OPEN, _SETTLED = "planned", "settled"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim on one reservation.

    Attributes:
        plan: of which plan it is a move.
        reservation_id: what is to end.
        owner: for whose step.
        priority: of that step.
        until_ms: how long it waits for the room.
    """

    plan: str
    reservation_id: str
    owner: Owner
    priority: int
    until_ms: int


def claim(ledger: Ledger, reservation_ids: Sequence[str], owner: Owner, *, priority: int, until_ms: int) -> str:
    """Has reservations end for a step of this owner; the plan, for `settle`."""
    plan = f"{_KIND} {uuid.uuid4().hex}"
    data = {
        "kind": _KIND,
        "owner_kind": owner.kind,
        "owner": owner.key,
        "priority": priority,
        "until_ms": until_ms,
    }
    plan_moves(ledger, plan, [(each, data) for each in reservation_ids], by=str(owner))
    return plan


def settle(ledger: Ledger, plan: str, *, by: Owner) -> None:
    """Says that the claimant has its place, or does not wait for it any more."""
    for each in moves_of(ledger, plan):
        change_move(ledger, plan, each.place, _SETTLED, by=str(by))


def claims_on(ledger: Ledger, reservation_id: str) -> list[Claim]:
    """The open claims on a reservation, the oldest first."""
    is_open = (move.c.reservation_id == reservation_id) & (move.c.state == _OPEN)
    with ledger.reading() as connection:
        rows = connection.execute(select(move).where(is_open).order_by(move.c.id)).all()
    return [
        Claim(
            row.plan,
            reservation_id,
            Owner(row.data["owner_kind"], row.data["owner"]),
            row.data["priority"],
            row.data["until_ms"],
        )
        for row in rows
        if row.data.get("kind") == _KIND
    ]


def is_settled(ledger: Ledger, claimed: Claim, checks: Mapping[str, OwnerCheck] = CHECKS) -> bool:
    """Whether nobody waits any more for what a claim asked for: settled, given up, or its owner is gone."""
    if ledger.now_ms() >= claimed.until_ms:
        return True
    check = checks.get(claimed.owner.kind)
    if check is not None and check.is_gone(claimed.owner.key):
        return True
    return all(each.state != _OPEN for each in moves_of(ledger, claimed.plan))
