"""Events: every change of the ledger, in order, never changed again."""

from enum import StrEnum
from typing import Any

from sqlalchemy import Connection

from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.statement import RECORDING


class Event(StrEnum):
    """What happened to the subject of an event."""

    RESERVED = "reserved"
    RELEASED = "released"
    EXPIRED = "expired"
    ORPHANED = "orphaned"
    RECOVERED = "recovered"
    MEASURED = "measured"
    QUARANTINED = "quarantined"
    LIFTED = "lifted"
    MOVE_PLANNED = "move_planned"
    MOVE_CHANGED = "move_changed"


def record(  # noqa: PLR0913, PLR0917 - the columns of an event
    connection: Connection, at_ms: int, kind: Event, subject: str, by: Owner | str, data: dict[str, Any]
) -> None:
    """Writes an event in the transaction of the change that it tells of."""
    row = {"at_ms": at_ms, "kind": kind.value, "subject": subject, "by": str(by), "data": data}
    connection.execute(RECORDING, row)
