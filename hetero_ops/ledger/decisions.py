"""Decisions as they stood, by trace id."""

import zlib
from typing import Any

from sqlalchemy import Connection, select

from hetero_ops.ledger.schema import decision
from hetero_ops.ledger.statement import REMEMBERING
from hetero_ops.placement.decision import Decision

# The fastest level: a decision is a few kilobytes of names that repeat.
_LEVEL = 1


def row_of(made: Decision, now_ms: int) -> dict[str, Any]:
    """A decision as the table has it."""
    return {
        "trace_id": made.trace_id,
        "at_ms": now_ms,
        "requirement": made.requirement,
        "verdict": made.verdict,
        "body": zlib.compress(made.to_json().encode(), _LEVEL),
    }


def remember(connection: Connection, made: Decision, now_ms: int) -> None:
    """Keeps a decision; the same question has the same id and answer, so the first one stays."""
    connection.execute(REMEMBERING[connection.dialect.name], row_of(made, now_ms))


def recall(connection: Connection, trace_id: str) -> tuple[Decision, int] | None:
    """A decision and when it was made, milliseconds since 1970; `None` where it was not kept."""
    row = connection.execute(select(decision).where(decision.c.trace_id == trace_id)).one_or_none()
    if row is None:
        return None
    return Decision.from_json(zlib.decompress(row.body).decode()), row.at_ms
