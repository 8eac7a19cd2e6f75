"""The statements of reserving, renewing and ending. Built once: building one costs as much as running it."""

from typing import Any

from sqlalchemy import JSON, Text, bindparam, case, cast, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from hetero_ops.ledger.reservation import LIVE, State
from hetero_ops.ledger.schema import decision, event, reservation, taken

_DIALECTS = {"sqlite": sqlite, "postgresql": postgresql}
_IS_IT = reservation.c.id == bindparam("of")
# Literals, since a list of parameters is written out anew at every execution.
_IS_LIVE = reservation.c.state.in_([bindparam(None, state.value, literal_execute=True) for state in LIVE])
_KEY = (taken.c.resource, taken.c.cluster, taken.c.node, taken.c.item)

# Text as it is stored: it goes to the core, which reads it itself.
_HOLDS = cast(reservation.c.holds, Text)
_EACH = {
    "sqlite": select(func.json_each(bindparam("ids")).table_valued("value").c.value),
    "postgresql": select(func.json_array_elements_text(cast(bindparam("ids", type_=Text), JSON)).column_valued()),
}
LIVE_HOLDS = select(reservation.c.id, case((reservation.c.since_ms >= bindparam("since_ms"), _HOLDS))).where(_IS_LIVE)
"""All that live, with what they have of each node where they were reserved since then."""
HOLDS = {
    name: select(reservation.c.id, _HOLDS).where(_IS_LIVE).where(reservation.c.id.in_(each))
    for name, each in _EACH.items()
}
"""What those have whose ids are in a list in JSON: written out, the statement would be built anew for every length."""
ONE = select(reservation).where(_IS_IT)
ONE_ALONE = ONE.with_for_update()
"""Nobody else changes it until the transaction ends."""

RESERVING = insert(reservation)
ENDING = (
    update(reservation)
    .where(_IS_IT)
    .values({name: bindparam(f"now_{name}") for name in ("state", "ended_ms", "ended_by")})
)
RECORDING = insert(event)
REMEMBERING = {name: dialect.insert(decision).on_conflict_do_nothing() for name, dialect in _DIALECTS.items()}
GIVING_BACK = (
    update(taken)
    .where(*(column == bindparam(f"of_{column.name}") for column in _KEY))
    .values(amount=taken.c.amount - bindparam("given"))
)


def of_take(take: dict[str, Any]) -> dict[str, Any]:
    """The parameters of `GIVING_BACK`."""
    return {**{f"of_{column.name}": take[column.name] for column in _KEY}, "given": take["amount"]}


def _taking() -> Any:  # noqa: ANN401 - an insert
    row = sqlite.insert(taken)
    after = taken.c.amount + row.excluded.amount
    return row.on_conflict_do_update(
        index_elements=list(_KEY), set_={"amount": after}, where=after <= bindparam("most")
    )


TAKING = _taking()
"""Adds to what is taken where all of it together stays within what there is; changes no row otherwise."""


def renewing(*told: str) -> Any:  # noqa: ANN401 - an update
    """Renews a reservation that is not withheld, and keeps what its owner told beside."""
    values: dict[str, Any] = {name: bindparam(f"now_{name}") for name in ("heartbeat_ms", *told)}
    return update(reservation).where(_IS_IT & (reservation.c.state == State.RESERVED.value)).values(values)


RENEWING = renewing()

TURN = "turn"
"""A resource that is only ever taken: whoever reserved in a cluster took a turn there. It is not given back."""

RULES = (TURN, "quota")
"""Resources that are no things: what rules leave to somebody."""

TURNS = select(taken.c.cluster, taken.c.amount).where(taken.c.resource == TURN)
