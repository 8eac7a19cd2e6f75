"""Runs a step as processes of this machine: books, runs, saves, releases, and goes on elsewhere when it has to."""

import logging
from dataclasses import dataclass
from signal import Signals

from hetero_ops.checkpoint import BUSY, SAVED, is_remote
from hetero_ops.errors import InvalidRequirement
from hetero_ops.hosts.attempt import Attempt, Attempted, Stop, place_of
from hetero_ops.hosts.climb import Booked, Climb, Settings
from hetero_ops.hosts.notice import Inbox, listening, told_to_end
from hetero_ops.hosts.step import LocalStep, Report, Try
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.placement.decision import Placement
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.ladder_step import Fail, Gone
from hetero_ops.runtime.bound import bound_to
from hetero_ops.runtime.causes import excluded_by
from hetero_ops.runtime.checkpoint import Place, Resume, directory_of, links, resume, warnings_on
from hetero_ops.runtime.saved import known

IMPOSSIBLE = 69
"""The exit code of a step that no node could ever take."""
_SIGNALLED = 128

_log = logging.getLogger(__name__)


def run(step: LocalStep, fleet: Fleet, ledger: Ledger, settings: Settings | None = None) -> Report:
    """Runs a step to its end, on this machine.

    Signals to this process are the step's meanwhile: SIGTERM, SIGINT and SIGHUP ask it to save and to end, SIGUSR1 and
    SIGUSR2 are passed on. Outside of the main thread none can be had.

    A step that states a checkpoint, or has retries, is started again where the fleet failed it or wants it elsewhere.
    What it has booked is given back however it ends.

    Args:
        step: what runs.
        fleet: what exists; it is not changed.
        ledger: where it is booked.
        settings: how it is placed and booked.

    Raises:
        InvalidRequirement: the step cannot run as one process, or its checkpoint directory cannot be told.
        CheckpointUnusable: what it should start from cannot be used where it was placed.
        CutFirst: a device has to be cut into partitions first.
        ReservationConflict: others were faster every time.
        LedgerUnusable: the ledger cannot be used.
    """
    _check(step)
    inbox = Inbox()
    climb = Climb(step.requirement, fleet, ledger, inbox, settings or Settings())
    with listening(inbox):
        return _LocalRun(step, ledger, climb, inbox).go()


@dataclass
class _LocalRun:
    """A step between its tries."""

    step: LocalStep
    ledger: Ledger
    climb: Climb
    inbox: Inbox

    def __post_init__(self) -> None:
        self._contract = self.step.requirement.checkpoint
        self._directory = None if self._contract is None else directory_of(self._contract, self.step.names)
        self._saved_before: frozenset[str] | None = None
        self._tries: list[Try] = []
        self._retries = self.step.retries
        self._in_a_row = 0
        self._before: Attempted | None = None
        self._last: Place | None = None

    def go(self) -> Report:
        found = self._up()
        while isinstance(found, Booked):
            then = self._try(found)
            if isinstance(then, Booked | Signals):  # a signal is a number too
                found = then
            elif isinstance(then, int):
                return self._report(then)
            else:
                found = self._up(then)
        if isinstance(found, Signals):
            _log.info("%s: ends without a place", found.name)
            return self._report(self._code_without_place())
        if found.answer is not None:
            _log.info("%s", found.answer.why().rstrip())
        return self._report(self._code_without_place() if found.verdict == "busy" else IMPOSSIBLE)

    def _up(self, event: Gone | None = None) -> Booked | Fail | Signals:
        """Climbs to where the step can go on from its checkpoint."""
        return self.climb.up(event, bound_to(self._contract, self._directory, self._last))

    def _resume(self, placement: Placement) -> Resume:
        """What the next try starts from there."""
        if self._contract is None or self._directory is None:
            return Resume(None)
        before, here = self._saved_before, place_of(placement)
        chosen = resume(self._contract, self._directory, here, self._last, before=before)
        if before is None and not is_remote(self._directory):
            self._saved_before = known(self._directory)
        return chosen

    def _try(self, booked: Booked) -> int | Signals | Gone | Booked:
        """Runs the step once: the exit code where that is all, else where it goes on."""
        placement, stop = booked.run.placement, Stop()
        then: int | Signals | Gone | Booked | None = None
        try:
            start = self._resume(placement)
            attempt = Attempt(self.step, booked, self.climb, self.ledger, self.inbox, self._directory, start, stop)
            attempted = attempt.run()
        except BaseException:
            if stop.home is not None:
                self.climb.release(stop.home.reservation)
            raise
        finally:
            self.climb.release(booked.reservation)
        home = stop.home
        try:
            self._last = place_of(placement)
            self._tries.append(_told(booked, attempted))
            then = self._then(booked, attempted)
        finally:
            if home is not None and then is not home:
                self.climb.release(home.reservation)
        return then

    def _then(self, booked: Booked, attempted: Attempted) -> int | Signals | Gone | Booked:
        """What follows an end."""
        stop, cause, code = attempted.stop, attempted.cause, attempted.exit.shell_code
        _log.info("ended: %s: %s", cause.name, cause.why, extra={"trace_id": booked.reservation.trace_id})
        if cause.name == "done":
            return code
        if stop.told is not None:
            return SAVED if attempted.has_saved else _SIGNALLED + stop.told
        self._count(attempted)
        if not self._may_go_on(attempted):
            return code or (SAVED if attempted.has_saved else BUSY)
        self.climb.excluded |= excluded_by(cause, attempted.ending, booked.run.placement, nth=self._in_a_row)
        if stop.home is not None and cause.name in {"saved", "preempted"}:
            return told_to_end(self.inbox) or stop.home
        if stop.claim is not None:
            told = self.climb.stand_aside(stop.claim)
            return told or Gone(f"gave way to {stop.claim.owner}")
        wait_s = cause.action.wait(self._in_a_row)
        if wait_s:
            _log.info("starts again in %d s", wait_s)
        told = told_to_end(self.inbox, wait_s)
        return told or Gone(cause.name)

    def _count(self, attempted: Attempted) -> None:
        """How often in a row it ended like this, with nothing new saved in between."""
        before = self._before
        is_same = before is not None and before.cause.name == attempted.cause.name
        is_without_progress = before is not None and before.newest == attempted.newest
        self._in_a_row = self._in_a_row + 1 if is_same and is_without_progress else 1
        self._before = attempted

    def _may_go_on(self, attempted: Attempted) -> bool:
        """Whether the step is started again; a try that counts is taken off its retries."""
        action = attempted.cause.action
        is_repeatable = self.step.requirement.checkpoint is not None or self.step.retries > 0
        if not action.retry or not is_repeatable:
            return False
        if not action.is_charged(self._in_a_row):
            return True
        self._retries -= 1
        return self._retries >= 0

    def _code_without_place(self) -> int:
        """Of a step that has no place: one that saved says so."""
        return SAVED if self._tries and self._tries[-1].has_saved else BUSY

    def _report(self, exit_code: int) -> Report:
        return Report(exit_code, tuple(self._tries), self.climb.history)


def _check(step: LocalStep) -> None:
    """Refuses what one process cannot do, before anything is waited for; tells what may be meant otherwise."""
    for choice in step.requirement.choices:
        _check_nodes(choice.nodes)
    contract = step.requirement.checkpoint
    if contract is not None:
        directory = directory_of(contract, step.names)
        for path in links(contract, directory):
            _log.info("the step expects its checkpoints in %s: link it to %s", path, directory)
    for line in warnings_on(contract, step.command):
        _log.info("%s", line)


def _check_nodes(nodes: tuple[int, int] | None) -> None:
    if nodes is not None and nodes[1] > 1:
        words = f"nodes={nodes[0]}" if nodes[0] == nodes[1] else f"nodes={nodes[0]}..{nodes[1]}"
        raise InvalidRequirement(f"{words}: this host starts one process on one machine; ask for nodes=1")


def _told(booked: Booked, attempted: Attempted) -> Try:
    placement = booked.run.placement
    return Try(
        reservation_id=booked.reservation.id,
        trace_id=placement.trace_id,
        choice=placement.choice,
        node=placement.nodes[0],
        devices=tuple(device.id for device in placement.devices),
        resumed_from=attempted.resumed_from,
        began_ms=attempted.began_ms,
        ended_ms=attempted.ended_ms,
        code=attempted.exit.shell_code,
        cause=attempted.cause.name,
        why=attempted.cause.why,
        has_saved=attempted.has_saved,
        lost_s=attempted.lost_s,
    )
