"""Reservations, what they take, events and decisions."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Makes the first tables."""
    op.create_table(
        "setting", sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False)
    )
    op.create_table(
        "reservation",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("owner_kind", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("team", sa.Text),
        sa.Column("priority", sa.BigInteger),
        sa.Column("requirement", sa.Text, nullable=False),
        sa.Column("trace_id", sa.Text, nullable=False),
        sa.Column("cluster", sa.Text, nullable=False),
        sa.Column("terms", sa.JSON, nullable=False),
        sa.Column("holds", sa.JSON, nullable=False),
        sa.Column("takes", sa.JSON, nullable=False),
        sa.Column("since_ms", sa.BigInteger, nullable=False),
        sa.Column("heartbeat_ms", sa.BigInteger, nullable=False),
        sa.Column("lease_ms", sa.BigInteger, nullable=False),
        sa.Column("checkpoint_ms", sa.BigInteger),
        sa.Column("ended_ms", sa.BigInteger),
        sa.Column("ended_by", sa.Text),
    )
    op.create_index("reservation_by_state", "reservation", ["state"])
    op.create_index("reservation_by_trace", "reservation", ["trace_id"])
    op.create_table(
        "taken",
        *(sa.Column(name, sa.Text, primary_key=True) for name in ("resource", "cluster", "node", "item")),
        sa.Column("amount", sa.BigInteger, sa.CheckConstraint("amount >= 0"), nullable=False),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("event_by_subject", "event", ["subject"])
    op.create_table(
        "decision",
        sa.Column("trace_id", sa.Text, primary_key=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("requirement", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
