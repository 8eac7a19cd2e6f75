"""What a host keeps of a ladder: one small record a change, in order. They are plain data, and JSON gives them back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from hetero_ops.errors import InvalidDocument
from hetero_ops.units import roughly


@dataclass(frozen=True, slots=True)
class Opened:
    """More rungs are open; `labels` are those that were not before.

    Attributes:
        at_ms: when, milliseconds since 1970, as in every record.
        opened: how many are open.
        why: what ended the wait for those before; empty for the first ones.
    """

    at_ms: int
    opened: int
    labels: tuple[str, ...]
    why: str = ""

    def __str__(self) -> str:
        return f"asks for {' | '.join(self.labels)}{f', {self.why}' if self.why else ''}"


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing that is open fits now.

    Attributes:
        at_ms: when the answer came.
        label: what is held out for.
        until_ms: until when.
        impossible: places of the open rungs that can never fit.
        codes: why nothing fits, nearest miss first.
    """

    at_ms: int
    label: str
    until_ms: int
    impossible: tuple[int, ...]
    codes: tuple[str, ...]

    def __str__(self) -> str:
        return f"waits up to {roughly(self.until_ms - self.at_ms)} for {self.label} ({', '.join(self.codes)})"


@dataclass(frozen=True, slots=True)
class Preempted:
    """Others of lower priority were to end for this step.

    Attributes:
        at_ms: when.
        owners: whose they are, in order.
        until_ms: until when their room is waited for.
    """

    at_ms: int
    owners: tuple[str, ...]
    until_ms: int

    def __str__(self) -> str:
        return f"has {', '.join(self.owners)} end, and waits up to {roughly(self.until_ms - self.at_ms)} for it"


@dataclass(frozen=True, slots=True)
class Taken:
    """The rung that the step got.

    Attributes:
        at_ms: when.
        index: its place on the ladder.
        label: what it is called.
        cluster: where it is.
        is_degraded: whether it is any but the first choice.
        is_derived: whether it follows from what the step agreed to, and was not written.
        quantize: precision that the step is to be quantized to; `None` where it is not.
        performance: speed relative to the first choice; `None` where it is unknown.
        performance_source: where that figure comes from, `stated` where it is the impact that the choice states.
        waited_ms: how long the step waited for it.
        slo_micro: the targets that it must keep there, as `relaxed_slo` gives them.
        trace_id: of the decision.
    """

    at_ms: int
    index: int
    label: str
    cluster: str
    is_degraded: bool
    is_derived: bool
    quantize: str | None
    performance: float | None
    performance_source: str | None
    waited_ms: int
    slo_micro: tuple[tuple[str, int], ...]
    trace_id: str

    def __str__(self) -> str:
        speed = "unknown" if self.performance is None else f"{self.performance:.2f} ({self.performance_source})"
        how = f"degraded, performance {speed}" if self.is_degraded else "as preferred"
        return f"takes {self.label} in {self.cluster}: {how}, waited {roughly(self.waited_ms)}"


@dataclass(frozen=True, slots=True)
class Yielding:
    """A step of higher priority wants the devices, and gets them.

    Attributes:
        at_ms: when.
        owner: whose step it is.
        priority: of that step.
        aside_ms: how long this one does not ask for anything once it is gone.
    """

    at_ms: int
    owner: str
    priority: int
    aside_ms: int

    def __str__(self) -> str:
        return f"gives way to {self.owner} of priority {self.priority}"


@dataclass(frozen=True, slots=True)
class Returning:
    """The first choice is free again, and worth the move; what it gets there follows as `Taken`.

    Attributes:
        at_ms: when.
        lost_ms: time that was lost on the lesser rung.
        cost_ms: what the move costs at most.
    """

    at_ms: int
    lost_ms: int
    cost_ms: int

    def __str__(self) -> str:
        lost, cost = roughly(self.lost_ms), roughly(self.cost_ms)
        return f"returns to the first choice: {lost} lost by being slower, the move costs {cost}"


@dataclass(frozen=True, slots=True)
class Left:
    """The step is no longer where it was, and asks anew.

    Attributes:
        at_ms: when.
        cause: why, as `yielded` or `device fault`.
    """

    at_ms: int
    cause: str

    def __str__(self) -> str:
        return f"left its place: {self.cause}"


@dataclass(frozen=True, slots=True)
class Failed:
    """The ladder ended without a place.

    Attributes:
        at_ms: when.
        verdict: `impossible` where no rung could ever fit, else `busy`.
        waited_ms: how long it waited.
        codes: the reasons of the last answer, nearest miss first.
    """

    at_ms: int
    verdict: Literal["busy", "impossible"]
    waited_ms: int
    codes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.verdict} after {roughly(self.waited_ms)}: {', '.join(self.codes)}"


Record = Opened | Waiting | Preempted | Taken | Yielding | Returning | Left | Failed

_KINDS: dict[str, type[Record]] = {
    "opened": Opened,
    "waiting": Waiting,
    "preempted": Preempted,
    "taken": Taken,
    "yielding": Yielding,
    "returning": Returning,
    "left": Left,
    "failed": Failed,
}
_WORDS = {kind: word for word, kind in _KINDS.items()}


def to_dicts(history: Iterable[Record]) -> list[dict[str, Any]]:
    """Records as JSON has them; the key `record` says which each is."""
    return [
        {"record": _WORDS[type(record)]} | {field.name: getattr(record, field.name) for field in fields(record)}
        for record in history
    ]


def from_dicts(documents: Sequence[Mapping[str, Any]]) -> tuple[Record, ...]:
    """Reads what `to_dicts` wrote, also after a round trip through JSON.

    Raises:
        InvalidDocument: an entry is no record; the message says which.
    """
    return tuple(_record(at, document) for at, document in enumerate(documents))


def _record(at: int, document: Mapping[str, Any]) -> Record:
    values = {name: _frozen(value) for name, value in document.items() if name != "record"}
    try:
        return _KINDS[document["record"]](**values)
    except (KeyError, TypeError):
        what = f"record {at} is none of a ladder ({', '.join(_KINDS)}), or lacks a field"
        raise InvalidDocument(f"{what}; hand in what `to_dicts` wrote, unchanged", f"[{at}]") from None


def _frozen(value: Any) -> Any:  # noqa: ANN401 - whatever JSON has
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
