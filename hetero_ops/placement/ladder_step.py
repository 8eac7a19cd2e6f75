"""What a host tells a ladder, and what the ladder tells the host to do."""

from dataclasses import dataclass
from typing import Literal

from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.rung import Rung
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.ladder_record import Record, Taken

ASIDE_MS = 30_000
"""How long a step that gave way asks for nothing, so that the other one gets what it left."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A step of another priority wants the devices of this one.

    Attributes:
        owner: whose step it is.
        priority: of that step.
        aside_ms: how long this one should ask for nothing once it is gone: as long as the other needs to notice.
    """

    owner: str
    priority: int
    aside_ms: int = ASIDE_MS


@dataclass(frozen=True, slots=True)
class Gone:
    """The step is no longer where it was, or is tried again after it failed.

    Attributes:
        cause: why, for the record: `yielded`, `device fault`.
    """

    cause: str


Event = Placement | NoFit | Wanted | Gone
"""What a host tells: the answer to an `Ask`, or what happened to a step that runs."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the fleet, best by booking at once, and hand the answer in.

    Attributes:
        requirement: with the open choices only.
        may_preempt: whether victims are of use: a host that books asks `preemption` when it is refused, and hands in
            the decision of that.
        is_homeward: the step runs, and asks whether its first choice is free; what is booked for that is held beside
            the place that it has, and given back unless the ladder then says `Return`.
        records: what the host adds to the history before it goes on; so in every step.
    """

    requirement: Requirement
    may_preempt: bool = False
    is_homeward: bool = False
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing fits now. Ask the ladder again when something may have changed, and no later than `until_ms`.

    Attributes:
        until_ms: when the ladder itself goes on.
        reason: what is waited for and why, for people.
    """

    until_ms: int
    reason: str
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """Take this and run there.

    Attributes:
        rung: what was granted; image, environment and arguments are those of its choice.
        placement: where.
        taken: what the record says of it.
    """

    rung: Rung
    placement: Placement
    taken: Taken
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Preempt:
    """End these, by their own contracts, then ask the ladder again. To end them twice, after a crash, harms nobody.

    Attributes:
        owners: whose they are, as the fleet names them: ids of reservations, or what runs beside the ledger.
        nodes: where the step would then fit.
        answer: the refusal that says so.
        until_ms: until when the room is waited for.
    """

    owners: tuple[str, ...]
    nodes: tuple[str, ...]
    answer: NoFit
    until_ms: int
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Stay:
    """Go on where the step runs.

    Attributes:
        until_ms: from when on the ladder has a question when something may have changed: whether the first choice is
            free; `None` where it has none as things are.
        reason: why, for people.
    """

    until_ms: int | None
    reason: str
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Yield:
    """Save a checkpoint, stop, give the devices back, and tell the ladder that the step is `Gone`."""

    owner: str
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Return:
    """Save a checkpoint, stop, give the devices back, and go on at the first choice.

    Attributes:
        run: where.
    """

    run: Run
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Fail:
    """The ladder ended without a place.

    Attributes:
        verdict: `impossible` where no rung could ever fit, else `busy`.
        reason: for people.
        answer: the last refusal with all its reasons; `None` when it was told before.
    """

    verdict: Literal["busy", "impossible"]
    reason: str
    answer: NoFit | None
    records: tuple[Record, ...] = ()


Step = Ask | Wait | Run | Preempt | Stay | Yield | Return | Fail
