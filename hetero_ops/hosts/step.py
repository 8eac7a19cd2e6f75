"""What a host is given to run, and what it tells of it when it is over."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.ladder_record import Record, to_dicts


@dataclass(frozen=True, slots=True)
class LocalStep:
    """A command that needs devices.

    Attributes:
        requirement: what it needs, and how it saves, waits and degrades.
        command: the program and its arguments.
        retries: how often it is started again after an error of its own. What the fleet does to it costs none of these.
        names: what stands for placeholders of its checkpoint directory, as `run_id`.
    """

    requirement: Requirement
    command: tuple[str, ...]
    retries: int = 0
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Try:
    """One run of the command.

    Attributes:
        reservation_id: of what it had.
        trace_id: of the decision.
        choice: what was granted.
        node: where it was placed.
        devices: ids there.
        resumed_from: the checkpoint that it started from; `None` where it began anew.
        began_ms: milliseconds since 1970.
        ended_ms: when nothing of it was left.
        code: its exit code, as a shell says it.
        cause: why it ended, as `hetero_ops.runtime.causes` names it.
        why: the same in words.
        has_saved: whether all that it did is safe; `None` where it was not asked, and did not say so.
        lost_s: work that was lost, seconds; `None` where that is not known.
    """

    reservation_id: str
    trace_id: str
    choice: str
    node: str
    devices: tuple[int, ...]
    resumed_from: str | None
    began_ms: int
    ended_ms: int
    code: int
    cause: str
    why: str
    has_saved: bool | None
    lost_s: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """How a step went.

    Attributes:
        exit_code: what a process that ran it should end with; 0 only where the command ended with 0 by itself.
        tries: every run of the command, in order.
        records: what happened on the ladder, in order.
    """

    exit_code: int
    tries: tuple[Try, ...]
    records: tuple[Record, ...]

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        tries = [asdict(each) for each in self.tries]
        return {"exit_code": self.exit_code, "tries": tries, "records": to_dicts(self.records)}
