"""What was measured of a reservation; measured runs, quarantines and moves."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Adds columns and tables; nothing that stands there changes."""
    op.add_column("reservation", sa.Column("peak_memory_mib", sa.BigInteger))
    op.add_column("reservation", sa.Column("mean_power_mw", sa.BigInteger))
    op.create_index("reservation_by_end", "reservation", ["ended_ms"])
    op.create_table(
        "run",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("workload", sa.Text, nullable=False),
        sa.Column("sku", sa.Text, nullable=False),
        sa.Column("devices", sa.BigInteger, nullable=False),
        sa.Column("precision", sa.Text),
        sa.Column("per_second", sa.Float, nullable=False),
        sa.Column("reservation_id", sa.Text),
    )
    op.create_index("run_by_workload", "run", ["workload"])
    op.create_table(
        "quarantine",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("cluster", sa.Text, nullable=False),
        sa.Column("node", sa.Text, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("since_ms", sa.BigInteger, nullable=False),
        sa.Column("until_ms", sa.BigInteger),
        sa.Column("lifted_ms", sa.BigInteger),
    )
    op.create_table(
        "move",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("place", sa.BigInteger, nullable=False),
        sa.Column("reservation_id", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
    )
