"""A host that climbs: it asks a real fleet, keeps the records as JSON, and has a clock that a test sets."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.ladder_record import Record, from_dicts, to_dicts
from hetero_ops.placement.ladder_step import Ask, Event, Step
from hetero_ops.placement.resolve import next_step
from tests.placement.sample import H100, fleet, node

MINUTE_MS = 60_000
BEGIN_MS = 1_796_083_200_000


class Host:
    """Does what the ladder says, up to what takes time or ends a phase."""

    def __init__(self, requirement: str | Mapping[str, Any], there: Fleet) -> None:
        self.requirement = Requirement.parse(requirement)
        self.fleet = there
        self.now_ms = BEGIN_MS
        self.history: tuple[Record, ...] = ()

    @property
    def kinds(self) -> list[str]:
        return [type(record).__name__ for record in self.history]

    @property
    def lines(self) -> list[str]:
        return [str(record) for record in self.history]

    @property
    def waited_minutes(self) -> float:
        return (self.now_ms - BEGIN_MS) / MINUTE_MS

    def next(self, event: Event | None = None, *, minutes: float = 0) -> Step:
        """The step after so many minutes, every question answered."""
        self.now_ms += round(minutes * MINUTE_MS)
        step = self._once(event)
        while isinstance(step, Ask):
            step = self._once(self.fleet.place(step.requirement))
        return step

    def at(self, until_ms: int | None) -> Step:
        """The step at a time that a step named."""
        assert until_ms is not None
        assert until_ms > self.now_ms
        self.now_ms = until_ms
        return self.next()

    def _once(self, event: Event | None) -> Step:
        step = next_step(self.requirement, self.history, self.now_ms, event)
        assert next_step(self.requirement, self.history, self.now_ms, event) == step
        # What was kept is all that a host that died has.
        self.history = from_dicts(json.loads(json.dumps(to_dicts((*self.history, *step.records)))))
        return step


def busy(name: str, sku: str = H100, count: int = 8, used: Sequence[int] | None = None, **use: Any) -> dict[str, Any]:
    """A node whose devices somebody has, all of them if not said."""
    taken = list(range(count)) if used is None else list(used)
    return {**node(name, f"{count}x{sku}"), "used": [{"owner": f"on {name}", "devices": taken, **use}] if taken else []}


def in_use(*nodes: dict[str, Any]) -> Fleet:
    return fleet(*nodes, generated={"at": "2026-11-29T10:00:00Z", "by": "test"})
