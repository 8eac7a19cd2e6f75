"""`Ledger`: books, renews and ends reservations. Each change is one transaction, with the events that tell of it."""

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Engine, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from hetero_ops.errors import ReservationConflict, UnknownReservation
from hetero_ops.ledger import decisions
from hetero_ops.ledger.database import default_url, open_engine
from hetero_ops.ledger.events import Event, record
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import LIVE, Reservation, State
from hetero_ops.ledger.schema import reservation, taken
from hetero_ops.placement.decision import Decision, Placement
from hetero_ops.placement.holding import Holding

LEASE_S = 90.0
"""A reservation is late when its owner was not heard of for so long."""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Ledger:
    """The durable state. Safe to share between threads; after a fork the child opens connections of its own.

    All state is in the database: two processes, or two hosts with PostgreSQL, see the same.
    """

    def __init__(self, engine: Engine, clock: Callable[[], int] = _now_ms) -> None:
        """Wraps an engine that `open_engine` made; `Ledger.open` is the usual way in."""
        self._engine = engine
        self._clock = clock

    @classmethod
    def open(cls, url: str | None = None, *, clock: Callable[[], int] = _now_ms) -> Self:
        """Opens a ledger, and makes it where there is none.

        Args:
            url: `sqlite:///FILE`, a path, or `postgresql://HOST/NAME`; without one `HETERO_OPS_LEDGER`, else a file in
                the user's state directory.
            clock: milliseconds since 1970.

        Raises:
            LedgerUnusable: it cannot be used from here; the message says what to set.
        """
        return cls(open_engine(url or default_url()), clock)

    def close(self) -> None:
        """Closes its connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        return self._engine.url.render_as_string()

    def now_ms(self) -> int:
        """The time by its clock."""
        return self._clock()

    def reserve(  # noqa: PLR0913 - what is remembered of a reservation
        self,
        placement: Placement,
        holding: Holding,
        owner: Owner,
        *,
        team: str | None = None,
        priority: int | None = None,
        lease_s: float = LEASE_S,
        terms: dict[str, Any] | None = None,
    ) -> Reservation:
        """Books what a placement holds, all or nothing.

        Args:
            placement: where the step goes.
            holding: what it holds there, by the fleet that placed it.
            owner: whose it is.
            team: whose quota and budget count it.
            priority: of the step, where it has one.
            lease_s: how long the owner may be silent.
            terms: more to remember of what was granted and agreed to.

        Raises:
            ReservationConflict: somebody else has what it would take.
        """
        now, reservation_id = self._clock(), uuid.uuid4().hex
        takes = [asdict(take) for take in holding.takes]
        row = {
            "id": reservation_id,
            "state": State.RESERVED.value,
            "owner_kind": owner.kind,
            "owner": owner.key,
            "team": team,
            "priority": priority,
            "requirement": placement.requirement,
            "trace_id": placement.trace_id,
            "cluster": placement.cluster,
            "terms": {"choice": placement.choice, "sku": placement.sku, **(terms or {})},
            "holds": list(holding.holds),
            "takes": takes,
            "since_ms": now,
            "heartbeat_ms": now,
            "lease_ms": round(lease_s * 1000),
            "checkpoint_ms": None,
            "ended_ms": None,
            "ended_by": None,
            "peak_memory_mib": None,
            "mean_power_mw": None,
        }
        with self._engine.begin() as connection:
            self._take(connection, takes)
            connection.execute(insert(reservation), row)
            decisions.remember(connection, placement, now)
            record(connection, now, Event.RESERVED, reservation_id, owner, {"holds": row["holds"], "takes": takes})
        return Reservation(owner=owner, state=State.RESERVED, **_without(row, ("owner_kind", "owner", "state")))

    def heartbeat(
        self,
        reservation_id: str,
        *,
        checkpoint_ms: int | None = None,
        peak_memory_mib: int | None = None,
        mean_power_mw: int | None = None,
    ) -> None:
        """Renews the lease; an orphaned reservation is its owner's again. A heartbeat alone writes no event.

        Args:
            reservation_id: which one.
            checkpoint_ms: when the step last saved its state, where it says so.
            peak_memory_mib: most memory that it used of any of its devices so far, where it was measured.
            mean_power_mw: mean power of its devices together so far, where it was measured.

        Raises:
            UnknownReservation: it does not live any more: whoever has its devices now, the caller has not.
        """
        now = self._clock()
        values: dict[str, Any] = {"heartbeat_ms": now, "state": State.RESERVED.value}
        told = {"checkpoint_ms": checkpoint_ms, "peak_memory_mib": peak_memory_mib, "mean_power_mw": mean_power_mw}
        values |= {name: value for name, value in told.items() if value is not None}
        with self._engine.begin() as connection:
            before = self._living(connection, reservation_id)
            connection.execute(update(reservation).where(reservation.c.id == reservation_id).values(values))
            if before.state is State.ORPHANED:
                record(connection, now, Event.RECOVERED, reservation_id, before.owner, {})

    def release(self, reservation_id: str, *, by: str = "owner") -> Reservation:
        """Ends a reservation and gives back what it took.

        Raises:
            UnknownReservation: there is none, or it ended before.
        """
        with self._engine.begin() as connection:
            return self._end(connection, reservation_id, State.RELEASED, Event.RELEASED, by)

    def expire(self, reservation_id: str, *, heartbeat_ms: int, by: str) -> Reservation | None:
        """Ends a reservation whose owner is gone, unless it was heard of since `heartbeat_ms`."""
        with self._engine.begin() as connection:
            found = self._live(connection, reservation_id)
            if found is None or found.heartbeat_ms != heartbeat_ms:
                return None
            return self._end(connection, reservation_id, State.EXPIRED, Event.EXPIRED, by)

    def orphan(self, reservation_id: str, *, heartbeat_ms: int, by: str) -> bool:
        """Withholds what a reservation has, unless it was heard of since `heartbeat_ms`. Whether it did."""
        now = self._clock()
        is_same = (reservation.c.id == reservation_id) & (reservation.c.heartbeat_ms == heartbeat_ms)
        found = is_same & (reservation.c.state == State.RESERVED.value)
        with self._engine.begin() as connection:
            changed = connection.execute(update(reservation).where(found).values(state=State.ORPHANED.value))
            if not changed.rowcount:
                return False
            record(connection, now, Event.ORPHANED, reservation_id, by, {})
            return True

    def get(self, reservation_id: str) -> Reservation:
        """A reservation, whether it lives or ended.

        Raises:
            UnknownReservation: there is none.
        """
        with self.reading() as connection:
            row = connection.execute(select(reservation).where(reservation.c.id == reservation_id)).one_or_none()
        if row is None:
            raise UnknownReservation(
                f"the ledger has no reservation {reservation_id}; `hetero-ops ledger list` shows those that live"
            )
        return Reservation.of(row)

    def live(self) -> list[Reservation]:
        """All that hold devices, the oldest first."""
        return self.find(LIVE)

    def find(self, states: Iterable[State] = tuple(State), *, trace_id: str | None = None) -> list[Reservation]:
        """Those in any of these states, the oldest first."""
        query = select(reservation).where(reservation.c.state.in_([state.value for state in states]))
        if trace_id is not None:
            query = query.where(reservation.c.trace_id == trace_id)
        with self.reading() as connection:
            return [
                Reservation.of(row)
                for row in connection.execute(query.order_by(reservation.c.since_ms, reservation.c.id))
            ]

    def live_ids(self) -> list[str]:
        """Ids of all that hold devices."""
        with self.reading() as connection:
            return list(connection.scalars(_LIVE_IDS))

    def holds_of(self, ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """What these have of each node, by id; those that ended since are left out."""
        if not ids:
            return {}
        with self.reading() as connection:
            return {row.id: row.holds for row in connection.execute(_HOLDS, {"ids": list(ids)})}

    def remember(self, decision: Decision) -> None:
        """Keeps a decision, so that it can be read back by its trace id."""
        with self._engine.begin() as connection:
            decisions.remember(connection, decision, self._clock())

    def reading(self) -> Connection:
        """A connection that only reads."""
        return self._engine.connect().execution_options(is_reading=True)

    def writing(self) -> Any:  # noqa: ANN401 - a context manager of a private type of SQLAlchemy
        """A transaction; in SQLite the only one that writes."""
        return self._engine.begin()

    def _take(self, connection: Connection, takes: list[dict[str, Any]]) -> None:
        """Takes each thing while it lasts; rows stay locked in the order of `takes`, so nobody waits in a circle."""
        for take in takes:
            is_there = take["amount"] <= take["most"]
            if not is_there or not connection.execute(self._taking, take, execution_options=_COUNTING).rowcount:
                raise ReservationConflict(f"{_words(take)} was reserved by somebody else since; place again")

    @property
    def _taking(self) -> Any:  # noqa: ANN401 - an insert of one of two dialects
        return _TAKING[self._engine.dialect.name]

    def _live(self, connection: Connection, reservation_id: str) -> Reservation | None:
        """A live reservation that nobody else changes until the transaction ends."""
        query = select(reservation).where(reservation.c.id == reservation_id).with_for_update()
        row = connection.execute(query).one_or_none()
        return Reservation.of(row) if row is not None and row.state in LIVE else None

    def _living(self, connection: Connection, reservation_id: str) -> Reservation:
        found = self._live(connection, reservation_id)
        if found is None:
            what = f"reservation {reservation_id} does not live"
            raise UnknownReservation(f"{what}: it ended or never was, and its devices may be somebody else's")
        return found

    def _end(self, connection: Connection, reservation_id: str, state: State, kind: Event, by: str) -> Reservation:
        now = self._clock()
        found = self._living(connection, reservation_id)
        ended = {"state": state.value, "ended_ms": now, "ended_by": by}
        connection.execute(update(reservation).where(reservation.c.id == reservation_id).values(ended))
        if found.takes:
            connection.execute(_GIVING_BACK, [_of_take(take) for take in found.takes])
        record(connection, now, kind, reservation_id, by, {"takes": found.takes})
        return Reservation(**{**_fields(found), **ended, "state": state})


_LIVE_IDS = select(reservation.c.id).where(reservation.c.state.in_([state.value for state in LIVE]))
_HOLDS = select(reservation.c.id, reservation.c.holds).where(
    reservation.c.id.in_(bindparam("ids", expanding=True)) & reservation.c.state.in_([state.value for state in LIVE])
)
_KEY = (taken.c.resource, taken.c.cluster, taken.c.node, taken.c.item)
_GIVING_BACK = (
    update(taken)
    .where(*(column == bindparam(f"of_{column.name}") for column in _KEY))
    .values(amount=taken.c.amount - bindparam("given"))
)


def _taking(dialect: Any) -> Any:  # noqa: ANN401 - a module of SQLAlchemy
    """Adds to what is taken where all of it together stays within what there is; changes no row otherwise."""
    row = dialect.insert(taken)
    after = taken.c.amount + row.excluded.amount
    return row.on_conflict_do_update(
        index_elements=list(_KEY), set_={"amount": after}, where=after <= bindparam("most")
    )


_TAKING = {"sqlite": _taking(sqlite), "postgresql": _taking(postgresql)}


# How many rows an insert changed is kept on demand only; psycopg says -1 otherwise, whatever happened.
_COUNTING = {"preserve_rowcount": True}


def _of_take(take: dict[str, Any]) -> dict[str, Any]:
    return {**{f"of_{column.name}": take[column.name] for column in _KEY}, "given": take["amount"]}


def _words(take: dict[str, Any]) -> str:
    if take["resource"] == "quota":
        return f"the quota of team {take['node']} for {take['item']}"
    item = f" {take['item']}" if take["item"] else ""
    return f"{take['resource']}{item} of {take['node']} in {take['cluster']}"


def _without(row: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _fields(found: Reservation) -> dict[str, Any]:
    return {name: getattr(found, name) for name in Reservation.__slots__}
