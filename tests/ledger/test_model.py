"""The ledger against a model in a few lines of Python, with connections that fail between any two statements.

Either all of a change is made or none of it, whatever it was and wherever it stopped.
"""

from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from hetero_ops import Fleet
from hetero_ops.booking.view import FleetView
from hetero_ops.errors import ReservationConflict, UnknownReservation
from hetero_ops.ledger import at_once
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reaping import reap
from tests.ledger.asking import asked
from tests.ledger.checker import amounts, check, room_of
from tests.ledger.clock import Clock
from tests.ledger.fleets import document

DOCUMENT = document(2, 2)
ASKS = ("gpu:1", "gpu:2", "gpu:0.5", "gpu:0.3 >=8GB", "cpu:40 >=300GB", "gpu:4 nodes=2")
LEASE_S, HARD_LIMIT_S = 10, 100


class Crash(Exception):  # noqa: N818 - it is none of the program
    """The process ends here, or so it looks to the database."""


@dataclass(frozen=True)
class Known:
    """A reservation as the model has it."""

    owner: str
    heartbeat_ms: int
    holds: tuple[dict[str, Any], ...]
    checkpoint_ms: int | None = None
    state: str = "reserved"


RUN = at_once.run


class Model(RuleBasedStateMachine):
    """Rules are what users do. Each may be told to crash at its n-th statement; then nothing may have happened."""

    reservations: Bundle[str] = Bundle("reservations")
    make_url: Any = None

    @initialize()
    def begin(self):
        self.url = type(self).make_url()
        self.clock = Clock()
        self.room = room_of(DOCUMENT)
        self.known: dict[str, Known] = {}
        self.gone: set[str] = set()
        self.owners = 0
        self.patched = mock.patch.object(at_once, "run", self._running)
        self.patched.start()
        self._open()

    def _open(self):
        self.crash_at: int | None = None
        self.ledger = Ledger.open(self.url, clock=self.clock)
        self.view = FleetView(Fleet.from_document(DOCUMENT), self.ledger)
        for engine in (self.ledger._engine, self.ledger._reader):
            event.listen(engine, "before_cursor_execute", self._crash)
        event.listen(self.ledger._engine, "commit", self._crash)

    def _running(self, *arguments: object) -> object:
        self._crash()
        return RUN(*arguments)

    def _crash(self, *_arguments: object) -> None:
        if self.crash_at is not None:
            self.crash_at -= 1
            if self.crash_at < 0:
                self.crash_at = None
                raise Crash

    def _try(self, at, change, *arguments, **named):
        """What a change answers; a crash where it was to crash, and then all is as it was."""
        self.crash_at = at
        try:
            return change(*arguments, **named)
        except Crash:
            return Crash
        finally:
            self.crash_at = None

    def _is_gone(self, key):
        return True if key in self.gone else None

    @rule(
        target=reservations, ask=st.sampled_from(ASKS), at=st.none() | st.integers(0, 7), is_stale=st.booleans(),
        is_alone=st.booleans(), across_hosts=st.booleans(),
    )  # fmt: skip
    def reserve(self, ask, at, is_stale, is_alone, across_hosts):
        if not is_stale:
            self.view.follow()
        if not self.view.fleet.place(ask).ok:
            return multiple()
        self.owners += 1
        owner = Owner("model", str(self.owners))
        wanted = asked(self.view.fleet, ask, owner, LEASE_S)
        taken = sum((amounts(each.holds, self.room) for each in self._live().values()), start=amounts([], self.room))
        after = taken + amounts(wanted.holding.holds, self.room)
        fits = all(amount <= self.room[thing] for thing, amount in after.items())
        try:
            if is_alone:
                made = self._try(at, self.ledger.reserve_alone, lambda _connection: wanted, across_hosts=across_hosts)
            else:
                made = self._try(at, self.ledger.reserve, wanted)
        except ReservationConflict:
            assert not fits
            return multiple()
        if made is Crash:
            return multiple()
        assert fits
        self.known[made.id] = Known(owner.key, self.clock.now_ms, wanted.holding.holds)
        return made.id

    def _live(self):
        return {one: each for one, each in self.known.items() if each.state in {"reserved", "orphaned"}}

    @rule(one=reservations, at=st.none() | st.integers(0, 4), checkpoint_ms=st.none() | st.integers(0, 9))
    def heartbeat(self, one, at, checkpoint_ms):
        known = self.known[one]
        try:
            answer = self._try(at, self.ledger.heartbeat, one, checkpoint_ms=checkpoint_ms)
        except UnknownReservation:
            assert one not in self._live()
            return
        if answer is not Crash:
            assert one in self._live()
            told = known.checkpoint_ms if checkpoint_ms is None else checkpoint_ms
            self.known[one] = replace(known, heartbeat_ms=self.clock.now_ms, checkpoint_ms=told, state="reserved")

    @rule(one=reservations, at=st.none() | st.integers(0, 5))
    def release(self, one, at):
        try:
            answer = self._try(at, self.ledger.release, one)
        except UnknownReservation:
            assert one not in self._live()
            return
        if answer is not Crash:
            assert one in self._live()
            self.known[one] = replace(self.known[one], state="released")

    @rule(one=reservations, at=st.none() | st.integers(0, 4))
    def orphan(self, one, at):
        known = self.known[one]
        answer = self._try(at, self.ledger.orphan, one, heartbeat_ms=known.heartbeat_ms, by="model")
        if answer is not Crash:
            assert answer == (known.state == "reserved")
            self.known[one] = replace(known, state="orphaned") if answer else known

    @rule(one=consumes(reservations))
    def owner_ends(self, one):
        self.gone.add(self.known[one].owner)

    @rule(seconds=st.sampled_from((1, 11, 101)))
    def time_passes(self, seconds):
        self.clock.pass_s(seconds)

    @rule()
    def reap(self):
        reaped = reap(self.ledger, {"model": self}, hard_limit_s=HARD_LIMIT_S)
        expected: dict[str, list[str]] = {"expired": [], "orphaned": [], "kept": []}
        for one, known in self._live().items():
            silent_ms = self.clock.now_ms - known.heartbeat_ms
            if silent_ms > LEASE_S * 1000:
                is_over = silent_ms > HARD_LIMIT_S * 1000 and known.state == "reserved"
                becomes = "expired" if known.owner in self.gone else "orphaned" if is_over else "kept"
                expected[becomes].append(one)
                self.known[one] = known if becomes == "kept" else replace(known, state=becomes)
        for becomes, ones in expected.items():
            assert sorted(each.id for each in getattr(reaped, becomes)) == sorted(ones)

    def is_gone(self, key):
        return self._is_gone(key)

    @rule()
    def reopen(self):
        self.ledger.close()
        self._open()

    @invariant()
    def both_know_the_same(self):
        if not hasattr(self, "ledger"):
            return
        seen = {
            each.id: Known(each.owner.key, each.heartbeat_ms, tuple(each.holds), each.checkpoint_ms, each.state.value)
            for each in self.ledger.find()
        }
        assert seen == self.known

    def teardown(self):
        if not hasattr(self, "ledger"):
            return
        self.patched.stop()
        self.view.follow()
        assert set(self.view._holds) == set(self._live())
        account = check(self.url, DOCUMENT)
        assert not account.faults
        assert set(account.live) == set(self._live())
        self.ledger.close()


def _run(make_url, examples):
    machine = type("Drawn", (Model,), {"make_url": staticmethod(make_url)})
    case = machine.TestCase
    case.settings = settings(
        max_examples=examples, stateful_step_count=20, deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )  # fmt: skip
    case().runTest()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_sqlite_does_as_the_model(tmp_path_factory):
    _run(lambda: f"sqlite:///{tmp_path_factory.mktemp('model') / 'ledger.db'}", 10)


def test_postgresql_does_as_the_model(server):
    _run(lambda: server.empty("model"), 5)


@pytest.mark.thorough
@pytest.mark.timeout(3600)
def test_both_do_as_the_model_for_longer(server, tmp_path_factory):
    _run(lambda: f"sqlite:///{tmp_path_factory.mktemp('model') / 'ledger.db'}", 400)
    _run(lambda: server.empty("model"), 200)


def test_a_crash_is_no_error_of_the_database():
    assert not issubclass(Crash, DBAPIError)  # or the ledger would try again, and the model would see nothing
