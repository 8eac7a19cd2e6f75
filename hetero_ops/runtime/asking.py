"""Ask, wait, confirm: how a host has a running step save, and how it knows whether it did.

Pure but for a look into the directory: the host brings the clock, sends the signal, and waits.

    asked = ask(contract, directory, now_ms=..)             # before the signal: what is there already
    process.send_signal(asked.signal)                       # the process itself; its group is for the kill
    process.wait(..) until asked.is_over(now_ms), then kill the group
    confirmed = confirm(asked, exit_code=.., now_ms=..)     # saved or not, and what is lost otherwise
"""

import signal as signals
from dataclasses import dataclass
from typing import Literal

from hetero_ops.checkpoint import SAVED, is_remote
from hetero_ops.gap.contract import Checkpoint
from hetero_ops.runtime.saved import Saved, known, newest

NO_CONTRACT_GRACE_S = 30
"""How long a step without a contract has to end after SIGTERM, as Kubernetes has it."""

Evidence = Literal["exit-code", "checkpoint"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A step that was asked to save and to end.

    Attributes:
        signal: what is sent to the process.
        asked_ms: when.
        grace_s: how long it may take.
        directory: where it saves; `None` for a step without a contract.
        saved_exit_codes: by which it says that it saved.
        known: keys of the checkpoints that were there when it was asked.
    """

    signal: signals.Signals
    asked_ms: int
    grace_s: int
    directory: str | None
    saved_exit_codes: tuple[int, ...]
    known: frozenset[str]

    @property
    def until_ms(self) -> int:
        """When the grace ends."""
        return self.asked_ms + self.grace_s * 1000

    def is_over(self, now_ms: int) -> bool:
        """Whether the grace has ended: whatever of the step still runs is to be killed."""
        return now_ms >= self.until_ms


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Whether a step that was asked has saved.

    Attributes:
        has_saved: whether what was done until the asking is safe.
        evidence: what says so; `None` where nothing does.
        newest: the newest whole checkpoint now; `None` where there is none, or the directory is not local.
        lost_s: work that is lost, seconds: what was done after a checkpoint; `None` where that is not known.
    """

    has_saved: bool
    evidence: Evidence | None
    newest: Saved | None
    lost_s: int | None

    def __str__(self) -> str:
        """One sentence for a log."""
        if self.has_saved:
            return "saved when asked" + ("" if self.newest is None else f": {self.newest.path.name}")
        since = "there is no checkpoint" if self.newest is None else f"the newest is {self.newest.path.name}"
        lost = "" if self.lost_s is None else f", {self.lost_s}s of work are lost"
        return f"not saved when asked: {since}{lost}"


def ask(contract: Checkpoint | None, directory: str | None, *, now_ms: int) -> Ask:
    """What to send, and how long to wait. Notes what is saved already, so ask before the signal is sent.

    Args:
        contract: what the step agreed to; without one it gets SIGTERM and has `NO_CONTRACT_GRACE_S` to end.
        directory: where it saves.
        now_ms: the host's clock, milliseconds.
    """
    if contract is None or directory is None:
        return Ask(signals.SIGTERM, now_ms, NO_CONTRACT_GRACE_S, None, (SAVED,), frozenset())
    number = signals.Signals[contract.signal]
    return Ask(number, now_ms, contract.grace_s, directory, contract.saved_exit_codes, _known(directory))


def confirm(asked: Ask, *, exit_code: int | None, started_ms: int, now_ms: int) -> Confirmed:
    """Whether the step saved: it says so by its exit code, or a whole checkpoint is there that was not before.

    The exit code is believed: there are layouts that nobody here knows.

    Args:
        asked: what it was asked.
        exit_code: how it ended; `None` where a signal ended it, or nobody knows.
        started_ms: when this try began: without a checkpoint all since then is lost.
        now_ms: when it ended, milliseconds.
    """
    found = None if asked.directory is None else _newest(asked.directory)
    if exit_code in asked.saved_exit_codes:
        return Confirmed(has_saved=True, evidence="exit-code", newest=found, lost_s=0)
    is_known = asked.directory is None or not is_remote(asked.directory)
    lost = lost_s(found, started_ms=started_ms, now_ms=now_ms) if is_known else None
    if found is not None and found.key not in asked.known:
        return Confirmed(has_saved=True, evidence="checkpoint", newest=found, lost_s=lost)
    return Confirmed(has_saved=False, evidence=None, newest=found, lost_s=lost)


def lost_s(found: Saved | None, *, started_ms: int, now_ms: int) -> int:
    """Work that is lost where a try ends now: since its last checkpoint, or since it began where that is later.

    Seconds; a clock that was set back makes it 0, never less.
    """
    since_ms = started_ms if found is None else max(started_ms, found.saved_ms)
    return max(0, now_ms - since_ms) // 1000


def _newest(directory: str) -> Saved | None:
    return None if is_remote(directory) else newest(directory)


def _known(directory: str) -> frozenset[str]:
    return frozenset() if is_remote(directory) else known(directory)
