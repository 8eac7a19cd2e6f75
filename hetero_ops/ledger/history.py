"""Reading back what happened: events, and decisions as they stood."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from hetero_ops.ledger import decisions
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.schema import event
from hetero_ops.placement.decision import Decision


@dataclass(frozen=True, slots=True)
class Happened:
    """An event: at `at_ms` something of the kind `kind` happened to `subject`, by whom, with what came with it."""

    id: int
    at_ms: int
    kind: str
    subject: str
    by: str
    data: dict[str, Any]


def events(ledger: Ledger, subject: str | None = None, *, after: int = 0) -> list[Happened]:
    """Events in order, of one subject or of all, those numbered above `after`."""
    query = select(event).where(event.c.id > after).order_by(event.c.id)
    if subject is not None:
        query = query.where(event.c.subject == subject)
    with ledger.reading() as connection:
        return [Happened(**row._mapping) for row in connection.execute(query)]  # noqa: SLF001 - its public name


def decision(ledger: Ledger, trace_id: str) -> tuple[Decision, int] | None:
    """A decision as it stood, and when it was made, milliseconds since 1970; `None` where it was not kept."""
    with ledger.reading() as connection:
        return decisions.recall(connection, trace_id)
