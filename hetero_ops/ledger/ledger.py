"""`Ledger`: books, renews and ends reservations. Each change is one transaction, with the events that tell of it."""

import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Engine, Select, select, update
from sqlalchemy.exc import IntegrityError

from hetero_ops.errors import ReservationConflict, UnknownReservation
from hetero_ops.ledger import at_once, decisions, in_steps, statement
from hetero_ops.ledger.database import default_url, open_engine, reader_of, turn_of
from hetero_ops.ledger.events import Event, record
from hetero_ops.ledger.lasting import lasting
from hetero_ops.ledger.reservation import LIVE, Asked, Ending, Reservation, State
from hetero_ops.ledger.schema import reservation
from hetero_ops.placement.decision import Decision

T = TypeVar("T")
Ask = Callable[[Connection], Asked]
"""Says what is to be reserved, looking on the connection that it is given."""

_MOST_NAMED = 3


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Ledger:
    """The durable state. Safe to share between threads; after a fork the child opens connections of its own.

    All state is in the database: two processes, or two hosts with PostgreSQL, see the same.
    """

    def __init__(self, engine: Engine, clock: Callable[[], int] = _now_ms) -> None:
        """Wraps an engine that `open_engine` made; `Ledger.open` is the usual way in."""
        self._engine = engine
        self._reader = reader_of(engine)
        self._turn = turn_of(engine)
        self._is_file = engine.dialect.name == "sqlite"
        ways = (
            (in_steps.reserve, in_steps.end, in_steps.live)
            if self._is_file
            else (at_once.reserve, at_once.end, at_once.live)
        )
        self._reserve_in, self._end_in, self._live_in = ways
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

    def reserve(self, asked: Asked) -> Reservation:
        """Books what a placement holds, all or nothing.

        Raises:
            ReservationConflict: somebody else has what it would take.
        """
        return self._reserve(lambda _connection: asked, self._changing)

    def reserve_alone(self, ask: Ask, *, across_hosts: bool = False) -> Reservation:
        """Books what `ask` answers, while nobody else who does the same can: it sees all that they booked.

        Args:
            ask: is given the connection on which it has to look; what it raises is raised, and nothing is booked.
            across_hosts: whether those on other hosts wait too, and not only the processes of this one; a server lines
                them up, at the cost of two messages more. A SQLite ledger is used by one host anyway.

        Raises:
            ReservationConflict: somebody who did not wait was faster.
        """
        return self._reserve(ask, partial(self._alone, across_hosts=across_hosts))

    def _reserve(self, ask: Ask, begin: Callable[[], AbstractContextManager[Connection]]) -> Reservation:
        now, reservation_id = self._clock(), uuid.uuid4().hex

        def change(is_again: bool) -> Reservation:  # noqa: FBT001 - the one thing it is told
            try:
                with begin() as connection:
                    # An attempt whose answer was lost may have been made.
                    if is_again and (made := self._found(connection, statement.ONE, reservation_id)):
                        return made
                    return self._insert(connection, ask(connection), reservation_id, now)
            except (ReservationConflict, IntegrityError):
                # And it may have been under way until now: then it is itself what stood in its way.
                if is_again and (made := self._one(reservation_id)):
                    return made
                raise

        return lasting(change)

    def _insert(self, connection: Connection, asked: Asked, reservation_id: str, now: int) -> Reservation:
        made = asked.reservation(reservation_id, now)
        is_there = all(take["amount"] <= take["most"] for take in made.takes)
        if is_there and self._reserve_in(connection, made, decisions.row_of(asked.placement, now)):
            return made
        rules_first = sorted(made.takes, key=lambda take: take["resource"] not in statement.RULES)
        named = " or ".join(map(_words, rules_first[:_MOST_NAMED])) + (" or more" if rules_first[_MOST_NAMED:] else "")
        raise ReservationConflict(f"{named} was reserved by somebody else since; place again")

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
        told = {"checkpoint_ms": checkpoint_ms, "peak_memory_mib": peak_memory_mib, "mean_power_mw": mean_power_mw}
        values = {"heartbeat_ms": now, **{name: value for name, value in told.items() if value is not None}}
        if not self._renew(reservation_id, values):
            lasting(lambda _: self._recover(reservation_id, values))

    def _renew(self, reservation_id: str, values: dict[str, Any]) -> bool:
        """Renews one that is not withheld: one statement, and no transaction around it. Whether it did."""
        renewing = statement.renewing(*values) if len(values) > 1 else statement.RENEWING
        parameters = {"of": reservation_id, **{f"now_{name}": value for name, value in values.items()}}

        def change(_is_again: bool) -> int:  # noqa: FBT001 - the one thing it is told
            with self._changing() as connection:
                return connection.execute(renewing, parameters).rowcount

        return lasting(change) > 0

    def _recover(self, reservation_id: str, values: dict[str, Any]) -> None:
        with self.writing() as connection:
            before = self._found(connection, statement.ONE_ALONE, reservation_id)
            if before is None or not before.is_live:
                raise _not_living(reservation_id)
            values = {**values, "state": State.RESERVED.value}
            connection.execute(update(reservation).where(reservation.c.id == reservation_id).values(values))
            if before.state is State.ORPHANED:
                record(connection, values["heartbeat_ms"], Event.RECOVERED, reservation_id, before.owner, {})

    def release(self, reservation_id: str, *, by: str = "owner") -> Reservation:
        """Ends a reservation and gives back what it took.

        Raises:
            UnknownReservation: there is none, or it ended before.
        """
        ended = self._end(reservation_id, Ending(State.RELEASED, self._clock(), by))
        if ended is None:
            raise _not_living(reservation_id)
        return ended

    def expire(self, reservation_id: str, *, heartbeat_ms: int, by: str) -> Reservation | None:
        """Ends a reservation whose owner is gone, unless it was heard of since `heartbeat_ms`."""
        return self._end(reservation_id, Ending(State.EXPIRED, self._clock(), by, heartbeat_ms))

    def _end(self, reservation_id: str, ending: Ending) -> Reservation | None:
        def change(is_again: bool) -> Reservation | None:  # noqa: FBT001 - the one thing it is told
            with self._changing() as connection:
                ended = self._end_in(connection, reservation_id, ending)
            if ended is None and is_again and (found := self._one(reservation_id)) and ending.was_of(found):
                return found  # by an attempt whose answer was lost
            return ended

        return lasting(change)

    def orphan(self, reservation_id: str, *, heartbeat_ms: int, by: str) -> bool:
        """Withholds what a reservation has, unless it was heard of since `heartbeat_ms`. Whether it did."""
        now = self._clock()
        is_same = (reservation.c.id == reservation_id) & (reservation.c.heartbeat_ms == heartbeat_ms)
        found = is_same & (reservation.c.state == State.RESERVED.value)

        def change(_is_again: bool) -> bool:  # noqa: FBT001 - the one thing it is told
            with self.writing() as connection:
                changed = connection.execute(update(reservation).where(found).values(state=State.ORPHANED.value))
                if not changed.rowcount:
                    return False
                record(connection, now, Event.ORPHANED, reservation_id, by, {})
                return True

        return lasting(change)

    def get(self, reservation_id: str) -> Reservation:
        """A reservation, whether it lives or ended.

        Raises:
            UnknownReservation: there is none.
        """
        found = self._one(reservation_id)
        if found is None:
            raise UnknownReservation(
                f"the ledger has no reservation {reservation_id}; `hetero-ops ledger list` shows those that live"
            )
        return found

    def live(self) -> list[Reservation]:
        """All that hold devices, the oldest first."""
        return self.find(LIVE)

    def find(self, states: Iterable[State] = tuple(State), *, trace_id: str | None = None) -> list[Reservation]:
        """Those in any of these states, the oldest first."""
        query = select(reservation).where(reservation.c.state.in_([state.value for state in states]))
        if trace_id is not None:
            query = query.where(reservation.c.trace_id == trace_id)
        rows = self._read(
            lambda connection: connection.execute(query.order_by(reservation.c.since_ms, reservation.c.id)).all()
        )
        return [Reservation.of(row) for row in rows]

    def live_holds(self, since_ms: int, connection: Connection | None = None) -> dict[str, str | None]:
        """What lives, by id, with what it has of each node, as JSON; `None` where it was reserved before `since_ms`."""
        rows = self._read(lambda reading: self._live_in(reading, since_ms), connection)
        return dict(sorted(tuple(row) for row in rows))

    def holds_of(self, ids: Sequence[str], connection: Connection | None = None) -> dict[str, str]:
        """What these have of each node, as JSON, by id; those that ended since are left out."""
        if not ids:
            return {}
        holds, parameters = statement.HOLDS[self._engine.dialect.name], {"ids": json.dumps(ids)}
        rows = self._read(lambda reading: reading.execute(holds, parameters).all(), connection)
        return dict(sorted(tuple(row) for row in rows))

    def turns(self, connection: Connection | None = None) -> dict[str, int]:
        """How many reservations each cluster has had whose pools share it: whether anybody reserved there since."""
        rows = self._read(lambda reading: reading.execute(statement.TURNS).all(), connection)
        return {row.cluster: row.amount for row in rows}

    def remember(self, decision: Decision) -> None:
        """Keeps a decision, so that it can be read back by its trace id."""
        now = self._clock()

        def change(_is_again: bool) -> None:  # noqa: FBT001 - the one thing it is told
            with self.writing() as connection:
                decisions.remember(connection, decision, now)

        lasting(change)

    def reading(self) -> Connection:
        """A connection that only reads."""
        return self._reader.connect()

    @contextmanager
    def _alone(self, *, across_hosts: bool) -> Iterator[Connection]:
        if self._is_file:
            with self.writing() as connection:
                yield connection
        elif across_hosts:
            with self._turn(), self.writing(is_alone=True) as connection:
                yield connection
        else:  # nobody waits while the connection is given back
            with self.reading() as connection, self._turn():
                yield connection

    def _changing(self) -> AbstractContextManager[Connection]:
        """For one statement, or what is one for a server: that is a transaction by itself."""
        return self.writing() if self._is_file else self.reading()

    @contextmanager
    def writing(self, *, is_alone: bool = False) -> Iterator[Connection]:
        """A transaction; in SQLite the only one that writes.

        Args:
            is_alone: on a server the only one of those that want to be.
        """
        with self._turn() if self._is_file else nullcontext(), self._engine.connect() as connection:
            connection.execution_options(alone=is_alone)
            with connection.begin():
                yield connection

    def _read(self, read: Callable[[Connection], T], connection: Connection | None = None) -> T:
        if connection is not None:
            return read(connection)

        def once(_is_again: bool) -> T:  # noqa: FBT001 - the one thing it is told
            with self.reading() as own:
                return read(own)

        return lasting(once)

    def _one(self, reservation_id: str) -> Reservation | None:
        return self._read(lambda connection: self._found(connection, statement.ONE, reservation_id))

    @staticmethod
    def _found(connection: Connection, query: Select[Any], reservation_id: str) -> Reservation | None:
        row = connection.execute(query, {"of": reservation_id}).one_or_none()
        return None if row is None else Reservation.of(row)


def _not_living(reservation_id: str) -> UnknownReservation:
    what = f"reservation {reservation_id} does not live"
    return UnknownReservation(f"{what}: it ended or never was, and its devices may be somebody else's")


def _words(take: dict[str, Any]) -> str:
    if take["resource"] == statement.TURN:
        return f"a share of the pools of {take['cluster']}"
    if take["resource"] == "quota":
        return f"the quota of team {take['node']} for {take['item']}"
    item = f" {take['item']}" if take["item"] else ""
    return f"{take['resource']}{item} of {take['node']} in {take['cluster']}"
