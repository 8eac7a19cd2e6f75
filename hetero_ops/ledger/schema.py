"""The tables of the ledger as this version of the program knows them. Times are milliseconds since 1970, UTC."""

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

METADATA = MetaData()
_Milli = BigInteger
_Counted = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts in columns of this type only

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
    Column("peak_memory_mib", BigInteger, comment="Most memory that it used of any of its devices, as reported."),
    Column("mean_power_mw", BigInteger, comment="Mean power of all its devices together, as reported."),
)
Index("reservation_by_state", reservation.c.state)
Index("reservation_by_trace", reservation.c.trace_id)
Index("reservation_by_end", reservation.c.ended_ms)

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
    Column("id", _Counted, primary_key=True, autoincrement=True),
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

run = Table(
    "run",
    METADATA,
    Column("id", _Counted, primary_key=True, autoincrement=True),
    Column("at_ms", _Milli, nullable=False),
    Column("workload", Text, nullable=False),
    Column("sku", Text, nullable=False),
    Column("devices", BigInteger, nullable=False),
    Column("precision", Text),
    Column("per_second", Float, nullable=False),
    Column("reservation_id", Text),
    comment="Measured throughput of steps.",
)
Index("run_by_workload", run.c.workload)

quarantine = Table(
    "quarantine",
    METADATA,
    Column("id", _Counted, primary_key=True, autoincrement=True),
    Column("cluster", Text, nullable=False),
    Column("node", Text, nullable=False),
    Column("device", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("since_ms", _Milli, nullable=False),
    Column("until_ms", _Milli),
    Column("lifted_ms", _Milli),
)

move = Table(
    "move",
    METADATA,
    Column("id", _Counted, primary_key=True, autoincrement=True),
    Column("plan", Text, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("reservation_id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("data", JSON, nullable=False),
    Column("at_ms", _Milli, nullable=False),
)
