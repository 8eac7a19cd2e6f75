"""One run of a step where it was placed: started, watched, asked to save, ended. Releases nothing."""

import logging
import os
import queue
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGINT, SIGKILL, Signals
from typing import TYPE_CHECKING

from hetero_ops.booking.claim import Claim
from hetero_ops.checkpoint import is_remote
from hetero_ops.hosts.climb import Booked, Climb
from hetero_ops.hosts.notice import (
    PASSED_ON,
    Claimed,
    Ended,
    Inbox,
    Notice,
    Signalled,
    Unbooked,
    Withdrawn,
)
from hetero_ops.hosts.process import Exit, StepProcess
from hetero_ops.hosts.step import LocalStep
from hetero_ops.hosts.watch import AWAY, Watch
from hetero_ops.inject.environment import environment
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.placement.decision import Placement
from hetero_ops.runtime import asking
from hetero_ops.runtime import checkpoint as contracts
from hetero_ops.runtime.causes import Cause, Ending, classify
from hetero_ops.runtime.checkpoint import Place, Resume
from hetero_ops.runtime.saved import Saved, newest

if TYPE_CHECKING:
    from hetero_ops.gap.contract import Checkpoint

_TICK_S = 1.0
_KILLED_WITHIN_S = 30.0

_log = logging.getLogger(__name__)


@dataclass
class Stop:
    """Why a step is being stopped; several things may come together.

    Attributes:
        told: the signal by which somebody wants it gone.
        claim: for whom it gives way.
        home: the first choice, to which it moves.
        withdrawn: devices that it has lost.
        is_unbooked: whether its reservation ended without this host.
    """

    told: Signals | None = None
    claim: Claim | None = None
    home: Booked | None = None
    withdrawn: Withdrawn | None = None
    is_unbooked: bool = False


@dataclass(frozen=True, slots=True)
class Attempted:
    """How a run ended.

    Attributes:
        exit: of the process.
        ending: what is known of the end.
        cause: what that means.
        stop: why it was stopped, as far as it was.
        has_saved: whether all that it did is safe; `None` where it was not asked, and did not say so.
        newest: its newest checkpoint; `None` where there is none, or where that is not known.
        lost_s: work that was lost, seconds; `None` where that is not known.
        resumed_from: the checkpoint that it started from.
        began_ms: milliseconds since 1970.
        ended_ms: milliseconds since 1970.
    """

    exit: Exit
    ending: Ending
    cause: Cause
    stop: Stop
    has_saved: bool | None
    newest: Saved | None
    lost_s: int | None
    resumed_from: str | None
    began_ms: int
    ended_ms: int


@dataclass
class Attempt:
    """A run of a step. Make one, call `run`.

    Attributes:
        step: what runs.
        booked: where.
        climb: its ladder.
        ledger: where it is booked.
        inbox: where notices arrive.
        directory: where it saves; `None` without a contract.
        resume: what it starts from.
        stop: why it is being stopped, as far as it is.
    """

    step: LocalStep
    booked: Booked
    climb: Climb
    ledger: Ledger
    inbox: Inbox
    directory: str | None
    resume: Resume
    stop: Stop = field(default_factory=Stop)

    def __post_init__(self) -> None:
        """Nothing has happened yet."""
        self._contract: Checkpoint | None = self.step.requirement.checkpoint
        self._asked: asking.Ask | None = None
        self._late_at_s: float | None = None
        self._is_ended_here = False

    @property
    def placement(self) -> Placement:
        """Where it runs."""
        return self.booked.run.placement

    def run(self) -> Attempted:
        """Runs the step until nothing of it is left."""
        command = (*self.step.command, *(self.booked.run.rung.choice.args or ()))
        given = self._environment()
        self._tell_of_start()
        began_ms = self.ledger.now_ms()
        with Watch(self.ledger, self.booked.reservation, self.inbox, self._saved_ms) as watch:
            self._process = StepProcess.start(command, given, lambda ended: self.inbox.put(Ended(ended)))
            try:
                ended = self._mind()
            finally:
                self._process.end()
                self._process.wait()
        is_killed = ended.code == -SIGKILL and not self._is_ended_here
        is_any_lately = watch.memory_kills.look(time.monotonic())
        return self._judged(ended, began_ms, is_out_of_memory=is_killed and is_any_lately)

    def _mind(self) -> Exit:
        """Does what each notice asks for, until the step has ended."""
        while True:
            match self._next():
                case Ended(ended):
                    return ended
                case Signalled(number) if number in PASSED_ON:
                    self._process.signal(number)
                case Signalled(number):
                    self._told(number)
                case Withdrawn() as withdrawn:
                    self.stop.withdrawn = withdrawn
                    devices = ", ".join(f"device {device} of {node}" for node, device in withdrawn.devices)
                    self._end(f"{devices} may not be used any more: {withdrawn.why}")
                case Unbooked():
                    self.stop.is_unbooked = True
                    self._end(f"reservation {self.booked.reservation.id} ended, and its devices may be another's")
                case Claimed(claim):
                    if not self._is_stopping and self.climb.gives_way(claim):
                        self.stop.claim = claim
                        self._ask(f"{claim.owner} of priority {claim.priority} wants its devices")
                case None:
                    self._tick()

    def _next(self) -> Notice | None:
        """The next notice; `None` when it is time to look at the clock."""
        if self._late_at_s is not None:
            wait_s: float | None = max(0.0, self._late_at_s - time.monotonic())
        else:
            wait_s = _TICK_S if self.climb.may_return and not self._is_stopping else None
        try:
            return self.inbox.get(timeout=wait_s)
        except queue.Empty:
            return None

    def _tick(self) -> None:
        if self._is_ended_here:
            self._late_at_s = None
            _log.warning("the kernel still holds the step; its devices stay booked until it lets go", extra=self._ids)
        elif self._asked is not None:
            self._end("its grace is over")
        else:
            with suppress(*AWAY):  # the step goes on where it is
                self.stop.home = self.climb.way_home()
            if self.stop.home is not None:
                self._ask("it moves to its first choice")

    def _told(self, number: Signals) -> None:
        if self.stop.told is not None and number is SIGINT:
            self._end("told so twice")
            return
        self.stop.told = number
        if not self._is_stopping:
            self._ask(f"this process was sent {number.name}", number)

    def _ask(self, why: str, number: Signals | None = None) -> None:
        """Asks the step to save and end; one without a contract gets the very signal that came."""
        self._asked = asking.ask(self._contract, self.directory, now_ms=self.ledger.now_ms())
        sent = number if number is not None and self._contract is None else self._asked.signal
        _log.info("%s: asked to end by %s, within %d s", why, sent.name, self._asked.grace_s, extra=self._ids)
        self._late_at_s = time.monotonic() + self._asked.grace_s
        self._process.signal(sent)

    def _end(self, why: str) -> None:
        self._is_ended_here = True
        self._late_at_s = time.monotonic() + _KILLED_WITHIN_S
        _log.info("%s: ended at once", why, extra=self._ids)
        self._process.end()

    def _judged(self, ended: Exit, began_ms: int, *, is_out_of_memory: bool | None) -> Attempted:
        stop, now_ms = self.stop, self.ledger.now_ms()
        code = ended.shell_code if ended.errno is not None else ended.code
        ending = Ending.of_returncode(
            code,
            is_asked=self._asked is not None or stop.is_unbooked,
            is_out_of_memory=is_out_of_memory,
            fault=None if stop.withdrawn is None else "lost",
            faulty=() if stop.withdrawn is None else stop.withdrawn.devices,
            detail="" if stop.withdrawn is None else stop.withdrawn.why,
        )
        cause = classify(ending, self._contract)
        found, has_saved, lost_s = self._newest(), None, None
        if self._asked is not None:
            said = code if code is not None and code >= 0 else None
            confirmed = asking.confirm(self._asked, exit_code=said, started_ms=began_ms, now_ms=now_ms)
            has_saved, lost_s = confirmed.has_saved, confirmed.lost_s
            _log.info("%s", confirmed, extra=self._ids)
        elif cause.name == "saved":
            has_saved, lost_s = True, 0
        elif cause.name != "done" and self._is_local:
            lost_s = asking.lost_s(found, started_ms=began_ms, now_ms=now_ms)
        resumed_from = self.resume.path
        return Attempted(ended, ending, cause, stop, has_saved, found, lost_s, resumed_from, began_ms, now_ms)

    def _environment(self) -> dict[str, str]:
        seen = environment(self.placement)
        inherited = {name: value for name, value in os.environ.items() if name not in seen.removed}
        given = {**inherited, **dict(self.booked.run.rung.choice.env), **seen.values}
        if self._contract is not None and self.directory is not None:
            given |= contracts.environment(self._contract, self.directory, self.resume, place_of(self.placement))
        return given

    def _tell_of_start(self) -> None:
        placement, choice = self.placement, self.booked.run.rung.choice
        devices = ",".join(str(device.id) for device in placement.devices)
        plural = "s" if len(placement.devices) > 1 else ""
        where = f"{placement.choice} on {placement.nodes[0]}" + (f", device{plural} {devices}" if devices else "")
        start = f"starts from {Path(self.resume.path).name}" if self.resume.path else "starts"
        _log.info("%s: %s, reservation %s", start, where, self.booked.reservation.id, extra=self._ids)
        for line in self.resume.notes:
            _log.info("%s", line, extra=self._ids)
        if choice.image is not None:
            _log.info("image %s is not used: the command runs on this machine as it is", choice.image)
        if not is_this_machine(placement.nodes[0]):
            _log.info("%s is not this machine: nodes are taken as the fleet says", placement.nodes[0])

    def _saved_ms(self) -> int | None:
        found = self._newest()
        return None if found is None else found.saved_ms

    def _newest(self) -> Saved | None:
        return newest(self.directory) if self.directory is not None and self._is_local else None

    @property
    def _is_stopping(self) -> bool:
        return self._asked is not None or self._is_ended_here

    @property
    def _is_local(self) -> bool:
        return self.directory is None or not is_remote(self.directory)

    @property
    def _ids(self) -> dict[str, str]:
        return {"trace_id": self.placement.trace_id, "reservation_id": self.booked.reservation.id}


def place_of(placement: Placement) -> Place:
    """Where a step runs, as far as a checkpoint may be bound to it."""
    return Place(placement.cluster, placement.vendor)


def is_this_machine(node: str) -> bool:
    """Whether a node of the fleet has the name of this machine, with or without its domain."""
    here = socket.gethostname()
    return node.partition(".")[0] == here.partition(".")[0]
