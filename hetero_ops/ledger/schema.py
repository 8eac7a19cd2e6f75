"""The tables of the ledger as this version of the program knows them. Times are milliseconds since 1970, UTC."""

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

METADATA = MetaData()
_Milli = BigInteger

setting = Table(
    "setting",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    comment="Facts of the database itself, as the host of a SQLite file.",
)

reservation = Table(
    "reservation",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("owner_kind", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("team", Text),
    Column("priority", BigInteger),
    Column("requirement", Text, nullable=False),
    Column("trace_id", Text, nullable=False),
    Column("cluster", Text, nullable=False),
    Column("terms", JSON, nullable=False, comment="What was granted, and what the step agreed to."),
    Column("holds", JSON, nullable=False, comment="What it has of each node, as the core takes it."),
    Column("takes", JSON, nullable=False, comment="The same as amounts of countable things."),
    Column("since_ms", _Milli, nullable=False),
    Column("heartbeat_ms", _Milli, nullable=False),
    Column("lease_ms", _Milli, nullable=False),
    Column("checkpoint_ms", _Milli),
    Column("ended_ms", _Milli),
    Column("ended_by", Text),
)
Index("reservation_by_state", reservation.c.state)
Index("reservation_by_trace", reservation.c.trace_id)

taken = Table(
    "taken",
    METADATA,
    Column("resource", Text, primary_key=True),
    Column("cluster", Text, primary_key=True),
    Column("node", Text, primary_key=True),
    Column("item", Text, primary_key=True),
    Column("amount", BigInteger, CheckConstraint("amount >= 0"), nullable=False),
    comment="How much of each countable thing all live reservations have together.",
)

event = Table(
    "event",
    METADATA,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("at_ms", _Milli, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False, comment="What changed: the id of a reservation, a device, a team."),
    Column("by", Text, nullable=False),
    Column("data", JSON, nullable=False),
    comment="Every change, in order. Nothing is ever changed or deleted here.",
    sqlite_autoincrement=True,
)
Index("event_by_subject", event.c.subject)

decision = Table(
    "decision",
    METADATA,
    Column("trace_id", Text, primary_key=True),
    Column("at_ms", _Milli, nullable=False),
    Column("requirement", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("body", LargeBinary, nullable=False, comment="The decision as JSON, deflated."),
)
