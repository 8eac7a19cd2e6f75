"""What a host is told while it waits or a step runs: one queue for everything, so that nothing is missed."""

import queue
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from hetero_ops.booking.claim import Claim
from hetero_ops.hosts.process import Exit

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Whoever sends one of these wants the step gone."""
PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH)
"""These are the step's own affair."""


@dataclass(frozen=True, slots=True)
class Signalled:
    """This process was sent a signal."""

    number: signal.Signals


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing of the step is left."""

    exit: Exit


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Devices of the step are in quarantine, as node and id; `why` is the reason of the first."""

    devices: tuple[tuple[str, int], ...]
    why: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """A step of another priority wants the devices."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class Unbooked:
    """The reservation ended without this host: its devices may be somebody else's."""


Notice = Signalled | Ended | Withdrawn | Claimed | Unbooked
Inbox = queue.SimpleQueue[Notice]
"""Where notices arrive. Its `put` may be called from a signal handler."""


@contextmanager
def listening(inbox: Inbox) -> Iterator[None]:
    """Signals to this process are notices meanwhile. Outside of the main thread none can be had.

    What this process was started to ignore, as SIGHUP under nohup, stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def hear(number: int, _frame: FrameType | None) -> None:
        inbox.put(Signalled(signal.Signals(number)))

    heard = [each for each in (*ENDING, *PASSED_ON) if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, hear) for each in heard}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def told_to_end(inbox: Inbox, within_s: float = 0) -> signal.Signals | None:
    """The signal by which somebody wants the step gone; `None` where nobody did so within that time.

    For while no step runs: whatever else arrives tells of one that is over.
    """
    end_s = time.monotonic() + within_s
    while True:
        try:
            notice = inbox.get(timeout=max(0.0, end_s - time.monotonic()))
        except queue.Empty:
            return None
        if isinstance(notice, Signalled) and notice.number in ENDING:
            return notice.number
