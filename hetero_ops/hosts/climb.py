"""A step on its ladder: asks by booking, waits, has others end, and is told what happens to it where it runs."""

import copy
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from signal import Signals
from typing import TYPE_CHECKING

from hetero_ops.booking.book import book
from hetero_ops.booking.claim import Claim, claim, is_settled, settle
from hetero_ops.booking.preempt import Preemption, preemption
from hetero_ops.booking.quarantined import quarantined
from hetero_ops.booking.view import FleetView
from hetero_ops.errors import CutFirst, LedgerUnusable, ReservationConflict, StalePlacement, UnknownReservation
from hetero_ops.gap.requirement import Requirement
from hetero_ops.hosts.notice import Inbox, Signalled, told_to_end
from hetero_ops.hosts.watch import AWAY
from hetero_ops.ledger.history import decision
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import LEASE_S, Reservation
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.excluded import Excluded, without
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.ladder_step import (
    Ask,
    Event,
    Fail,
    Gone,
    Preempt,
    Return,
    Run,
    Stay,
    Step,
    Wait,
    Wanted,
    Yield,
)
from hetero_ops.placement.resolve import next_step
from hetero_ops.runtime.bound import kept
from hetero_ops.runtime.checkpoint import Place

if TYPE_CHECKING:
    from hetero_ops.placement.ladder_record import Record

LOOK_EVERY_S = 0.25
"""How often a step that waits looks whether anything was booked, released or withdrawn."""
ASK_EVERY_S = 5.0
"""How often it asks again though nothing was: owners may be gone, and budgets begin anew."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a step is placed and booked, as for `book`."""

    policy: str = "aware"
    seed: int = 0
    weights: Mapping[str, int] | None = None
    lease_s: float = LEASE_S


@dataclass(frozen=True, slots=True)
class Booked:
    """A place of the step, and its reservation."""

    reservation: Reservation
    run: Run


class Climb:
    """The ladder of one step, with its history.

    Attributes:
        history: the records so far.
        excluded: what the step must not get any more.
    """

    def __init__(
        self, requirement: Requirement, fleet: Fleet, ledger: Ledger, inbox: Inbox, settings: Settings
    ) -> None:
        """Begins at the bottom; `fleet` is left as it is."""
        self.history: tuple[Record, ...] = ()
        self.excluded = Excluded()
        self._stated = self._requirement = requirement
        self._fleet = fleet
        self._ledger = ledger
        self._inbox = inbox
        self._settings = settings
        self._owner = Owner.this_process()
        self._out: Excluded | None = None
        self._view: FleetView | None = None
        self._home_at_ms: int | None = None
        self._home_state: object = None

    def up(self, event: Gone | None = None, bound: Place | None = None) -> Booked | Fail | Signals:
        """Climbs until the step has a place, the ladder ends, or somebody wants the step gone.

        Args:
            event: why the step is no longer where it was, if it was anywhere.
            bound: where it has to run, because of what it has saved.
        """
        self._requirement = kept(self._stated, bound or Place(), self._fleet.catalog)
        self._home_at_ms = self._home_state = None
        plans: list[str] = []
        told: Event | None = event
        try:
            while True:
                if (number := told_to_end(self._inbox)) is not None:
                    return number
                state = self._state()
                step, reservation = self._answered(told)
                told = None
                match step:
                    case Run() if reservation is not None:
                        return Booked(reservation, step)
                    case Fail():
                        return step
                    case Preempt():
                        plan = self._claim(step)
                        plans += [plan] if plan else []
                    case Wait():
                        self._wait(step.until_ms, state)
        finally:
            for plan in plans:
                self._settle(plan)

    def gives_way(self, claimed: Claim) -> bool:
        """Whether the step ends for this claim: it agreed to yield or to be preempted, and is less important."""
        wanted = Wanted(str(claimed.owner), claimed.priority, aside_ms=0)  # `stand_aside` knows better than a time
        if isinstance(self._next(wanted), Yield):
            return True
        priority = self._requirement.priority
        return bool(self._requirement.preemptible) and priority is not None and priority < claimed.priority

    def stand_aside(self, claimed: Claim) -> Signals | None:
        """Waits until nobody waits for what was claimed; the signal if somebody wants the step gone meanwhile."""
        while not is_settled(self._ledger, claimed):
            if (number := told_to_end(self._inbox, LOOK_EVERY_S)) is not None:
                return number
        return None

    def way_home(self) -> Booked | None:
        """The first choice, booked beside where the step runs, once it is free and worth the move.

        Asked as often as one likes: the fleet is asked only when something changed.
        """
        state = self._state()
        if state == self._home_state or (self._home_at_ms is not None and self._ledger.now_ms() < self._home_at_ms):
            return None
        try:
            step, reservation = self._answered(None)
        except (CutFirst, ReservationConflict, StalePlacement) as error:
            _log.info("stays where it is, as its first choice cannot be booked: %s", error)
            self._home_at_ms, self._home_state = None, self._state()
            return None
        if isinstance(step, Return) and reservation is not None:
            return Booked(reservation, step.run)
        if reservation is not None:
            self.release(reservation)
        self._home_at_ms = step.until_ms if isinstance(step, Stay) else None
        # Without a time the ladder has no question as things are; with one that is to come, the fleet was not asked.
        is_asked = self._home_at_ms is None or self._ledger.now_ms() >= self._home_at_ms
        self._home_state = self._state() if is_asked else None
        return None

    @property
    def may_return(self) -> bool:
        """Whether the step agreed to move to its first choice."""
        return self._requirement.degrade.may_return

    def release(self, reservation: Reservation) -> None:
        """Gives a reservation back; one that ended without this host stays as it is.

        How a step ended is told also where the ledger cannot be reached.
        """
        try:
            self._ledger.release(reservation.id)
        except UnknownReservation:
            pass
        except AWAY as error:
            _log.warning(
                "reservation %s could not be given back, and is freed once its lease is over: %s",
                reservation.id,
                error,
                extra={"trace_id": reservation.trace_id, "reservation_id": reservation.id},
            )

    def _answered(self, event: Event | None) -> tuple[Step, Reservation | None]:
        """The next step that is no question, and what was booked for the last question, if anything was."""
        reservation: Reservation | None = None
        try:
            step = self._next(event)
            while isinstance(step, Ask):
                answer, reservation = self._ask(step)
                step = self._next(answer)
        except BaseException:
            if reservation is not None:
                self.release(reservation)
            raise
        return step, reservation

    def _next(self, event: Event | None) -> Step:
        step = next_step(self._requirement, self.history, self._ledger.now_ms(), event)
        self.history += step.records
        answer = event if isinstance(event, Placement | NoFit) else None
        if isinstance(answer, NoFit) and step.records:
            self._ledger.remember(answer)
        for record in step.records:
            if answer is None:
                _log.info("%s", record)
            else:
                _log.info("%s, trace %s", record, answer.trace_id, extra={"trace_id": answer.trace_id})
        return step

    def _ask(self, ask: Ask) -> tuple[Placement | NoFit, Reservation | None]:
        view, settings = self._seen(), self._settings
        booked = book(
            view,
            ask.requirement,
            self._ledger,
            self._owner,
            policy=settings.policy,
            seed=settings.seed,
            weights=settings.weights,
            lease_s=settings.lease_s,
        )
        if isinstance(booked, NoFit):
            plan = preemption(view, ask.requirement) if ask.may_preempt else None
            return (plan.decision if isinstance(plan, Preemption) else booked), None
        try:
            found = decision(self._ledger, booked.trace_id)
        except BaseException:
            self.release(booked)
            raise
        if found is None or not isinstance(found[0], Placement):
            self.release(booked)
            raise LedgerUnusable(f"the ledger has not kept the decision of reservation {booked.id}; run the step again")
        return found[0], booked

    def _claim(self, step: Preempt) -> str | None:
        """Has others end; `None` where none of them can be reached."""
        live = self._live()
        for other in (each for each in step.owners if each not in live):
            _log.info("%s runs beside the ledger: nobody can have it end from here", other)
        ours = [each for each in step.owners if each in live]
        priority = self._requirement.priority
        if not ours or priority is None:
            return None
        return claim(self._ledger, ours, self._owner, priority=priority, until_ms=step.until_ms)

    def _settle(self, plan: str) -> None:
        """Lets others have again what was claimed; where the ledger is away, its time is over by itself."""
        try:
            settle(self._ledger, plan, by=self._owner)
        except AWAY as error:
            _log.warning("what was claimed stays claimed for its time, the ledger cannot be reached: %s", error)

    def _wait(self, until_ms: int, state: object) -> None:
        """Waits until something changed since `state`, or it is time; for a signal, which stays in the inbox."""
        again_s = time.monotonic() + ASK_EVERY_S
        while self._state() == state and time.monotonic() < again_s:
            left_s = (until_ms - self._ledger.now_ms()) / 1000
            if left_s <= 0:
                return
            number = told_to_end(self._inbox, min(LOOK_EVERY_S, left_s))
            if number is not None:
                self._inbox.put(Signalled(number))
                return

    def _state(self) -> object:
        """What is booked and what is withdrawn: while it is the same, so is the answer of the fleet."""
        return self._live(), quarantined(self._ledger)

    def _live(self) -> frozenset[str]:
        """Ids of all reservations that hold devices."""
        return frozenset(self._ledger.live_holds(since_ms=self._ledger.now_ms()))

    def _seen(self) -> FleetView:
        """The fleet without what is excluded and withdrawn, and with what is booked."""
        out = self.excluded | quarantined(self._ledger)
        if self._view is None or out != self._out:
            self._view, self._out = FleetView(without(copy.copy(self._fleet), out), self._ledger), out
        return self._view
