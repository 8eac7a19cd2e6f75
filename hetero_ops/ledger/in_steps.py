"""Making and ending a reservation table by table, as SQLite does: nobody else writes meanwhile.

The same as `at_once`, which says what is done and in which order.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from hetero_ops.ledger import statement
from hetero_ops.ledger.events import Event, record
from hetero_ops.ledger.reservation import Ending, Reservation


def reserve(connection: Connection, made: Reservation, kept: dict[str, Any]) -> bool:
    """Writes a reservation, what it takes, its decision and its event; `False` where somebody else has a part of it.

    Args:
        connection: in a transaction, which must not be committed where this answers `False`.
        made: the reservation.
        kept: its decision, as `decisions.row_of` has it.
    """
    if made.takes and connection.execute(statement.TAKING, made.takes).rowcount < len(made.takes):
        return False
    connection.execute(statement.RESERVING, made.to_row())
    connection.execute(statement.REMEMBERING["sqlite"], kept)
    told = {"holds": made.holds, "takes": made.takes}
    record(connection, made.since_ms, Event.RESERVED, made.id, made.owner, told)
    return True


def end(connection: Connection, reservation_id: str, ending: Ending) -> Reservation | None:
    """Ends a reservation, gives back what it took, and writes its event; `None` where it is not there to be ended."""
    row = connection.execute(statement.ONE, {"of": reservation_id}).one_or_none()
    found = None if row is None else Reservation.of(row)
    if found is None or not found.is_live or ending.heartbeat_ms not in (None, found.heartbeat_ms):
        return None
    ended = ending.of(found)
    values = {"now_state": ended.state.value, "now_ended_ms": ended.ended_ms, "now_ended_by": ended.ended_by}
    connection.execute(statement.ENDING, {"of": reservation_id, **values})
    if given := [statement.of_take(take) for take in found.takes if take["resource"] != statement.TURN]:
        connection.execute(statement.GIVING_BACK, given)
    record(connection, ending.at_ms, Event(ended.state.value), reservation_id, ending.by, {"takes": found.takes})
    return ended


def live(connection: Connection, since_ms: int) -> Sequence[Any]:
    """Ids of all that live, each with what it has of each node, as JSON, where it was reserved since then."""
    return connection.execute(statement.LIVE_HOLDS, {"since_ms": since_ms}).all()
