"""Making and ending a reservation in one statement each: a round trip to a server costs more than what it does there.

PostgreSQL only, and in its own words. What a statement does in several tables it does in the order in which its parts
need each other.
"""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from hetero_ops.ledger.events import Event
from hetero_ops.ledger.reservation import Ending, Reservation
from hetero_ops.ledger.statement import TURN

# A row that does not keep a rule of its table (PostgreSQL, appendix A).
_REFUSED = "23514"

# Rows are locked in the order of the takes, which is one for all, so that nobody waits in a circle; and everything else
# comes after them: so events have the order of what happened. What would be too much is written as -1, which the table
# refuses: then nothing is done.
_RESERVE = """
WITH made AS (
    SELECT * FROM json_populate_record(NULL::reservation, CAST(%(row)s AS json))
), asked AS (
    SELECT each.* FROM made, ROWS FROM (
        json_to_recordset(takes)
        AS (resource text, cluster text, node text, item text, amount bigint, most bigint)
    ) WITH ORDINALITY AS each (resource, cluster, node, item, amount, most, place)
), took AS (
    INSERT INTO taken AS had (resource, cluster, node, item, amount)
    SELECT resource, cluster, node, item, amount FROM asked ORDER BY place
    ON CONFLICT (resource, cluster, node, item) DO UPDATE SET amount = CASE
        WHEN had.amount + excluded.amount <= (
            SELECT most FROM asked
            WHERE (asked.resource, asked.cluster, asked.node, asked.item)
                = (excluded.resource, excluded.cluster, excluded.node, excluded.item)
        ) THEN had.amount + excluded.amount ELSE -1 END
    RETURNING 1
), after AS (
    SELECT count(*) FROM took
), reserved AS (
    INSERT INTO reservation SELECT made.* FROM made, after
), remembered AS (
    INSERT INTO decision (trace_id, at_ms, requirement, verdict, body)
    SELECT trace_id, since_ms, requirement, %(verdict)s, %(body)s FROM made, after
    ON CONFLICT DO NOTHING
), told AS (
    INSERT INTO event (at_ms, kind, subject, by, data)
    SELECT since_ms, %(kind)s, id, %(by)s, json_build_object('holds', holds, 'takes', takes) FROM made, after
)
SELECT 1
"""

_END = """
WITH ended AS (
    UPDATE reservation SET state = %(state)s, ended_ms = %(at_ms)s, ended_by = %(by)s
    WHERE id = %(of)s AND state IN ('reserved', 'orphaned') AND heartbeat_ms = coalesce(%(heartbeat_ms)s, heartbeat_ms)
    RETURNING *
), given AS (
    SELECT each.* FROM ended, ROWS FROM (
        json_to_recordset(takes) AS (resource text, cluster text, node text, item text, amount bigint)
    ) WITH ORDINALITY AS each (resource, cluster, node, item, amount, place)
    WHERE each.resource <> %(turn)s
), locked AS (
    SELECT given.* FROM given JOIN taken USING (resource, cluster, node, item) ORDER BY place FOR UPDATE OF taken
), back AS (
    UPDATE taken SET amount = taken.amount - locked.amount FROM locked
    WHERE (taken.resource, taken.cluster, taken.node, taken.item)
        = (locked.resource, locked.cluster, locked.node, locked.item)
), told AS (
    INSERT INTO event (at_ms, kind, subject, by, data)
    SELECT %(at_ms)s, %(state)s, id, %(by)s, json_build_object('takes', takes) FROM ended
)
SELECT row_to_json(ended) FROM ended
"""

_LIVE = """
SELECT id, CASE WHEN since_ms >= %(since_ms)s THEN CAST(holds AS text) END
FROM reservation WHERE state IN ('reserved', 'orphaned')
"""


def reserve(connection: Connection, made: Reservation, kept: dict[str, Any]) -> bool:
    """Writes a reservation, what it takes, its decision and its event; `False` where somebody else has a part of it.

    It needs no transaction around it, and ends one where it answers `False`.

    Args:
        connection: where.
        made: the reservation.
        kept: its decision, as `decisions.row_of` has it.
    """
    row = json.dumps(made.to_row())
    parameters = {"row": row, "verdict": kept["verdict"], "body": kept["body"], "by": str(made.owner)}
    try:
        run(connection, _RESERVE, parameters | {"kind": Event.RESERVED.value})
    except IntegrityError as error:
        if getattr(error.orig, "sqlstate", None) == _REFUSED:
            return False
        raise
    return True


def end(connection: Connection, reservation_id: str, ending: Ending) -> Reservation | None:
    """Ends a reservation, gives back what it took, and writes its event; `None` where it is not there to be ended.

    It needs no transaction around it.
    """
    parameters = {
        "of": reservation_id,
        "state": ending.state.value,
        "at_ms": ending.at_ms,
        "by": ending.by,
        "heartbeat_ms": ending.heartbeat_ms,
        "turn": TURN,
    }
    ended = run(connection, _END, parameters)
    return Reservation.from_dict(ended[0][0]) if ended else None


def live(connection: Connection, since_ms: int) -> Sequence[Any]:
    """Ids of all that live, each with what it has of each node, as JSON, where it was reserved since then."""
    return run(connection, _LIVE, {"since_ms": since_ms})


def run(connection: Connection, statement: str, parameters: dict[str, Any]) -> list[Any]:
    """Hands a statement to the driver: by way of SQLAlchemy it costs twice as much. Errors are those of SQLAlchemy."""
    driver: Any = connection.connection.driver_connection
    base = connection.dialect.loaded_dbapi.Error
    try:
        return list(driver.execute(statement, parameters).fetchall())
    except base as error:
        is_lost = driver.closed
        if is_lost:
            connection.invalidate(error)
        told = {"hide_parameters": True, "connection_invalidated": is_lost}
        raise DBAPIError.instance(statement, parameters, error, base, **told) from error
