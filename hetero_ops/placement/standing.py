"""Where a step stands on its ladder, as its records say."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hetero_ops.placement.ladder_record import (
    Failed,
    Left,
    Opened,
    Preempted,
    Record,
    Returning,
    Taken,
    Waiting,
    Yielding,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the records of the present climb come to; a climb begins with the first record, and anew when a step left.

    Attributes:
        began_ms: when the climb began; `None` before there is any record.
        opened: how many rungs are open.
        opened_ms: since when.
        waiting: what was told last of waiting, since then.
        preempted: what was to end for the step.
        aside_until_ms: until when it asks for nothing, since it gave way.
        taken: where it runs.
        yielding: for whom it is giving way there.
        failed: how the climb ended, if it did.
    """

    began_ms: int | None = None
    opened: int = 0
    opened_ms: int = 0
    waiting: Waiting | None = None
    preempted: tuple[Preempted, ...] = ()
    aside_until_ms: int | None = None
    taken: Taken | None = None
    yielding: Yielding | None = None
    failed: Failed | None = None

    @classmethod
    def of(cls, history: Iterable[Record]) -> "Standing":
        """Where these records lead."""
        standing = cls()
        for record in history:
            standing = standing.after(record)
        return standing

    def after(self, record: Record) -> "Standing":
        """Where one more record leads."""
        then = self
        match record:
            case Opened():
                began_ms = record.at_ms if self.began_ms is None else self.began_ms
                then = replace(self, began_ms=began_ms, opened=record.opened, opened_ms=record.at_ms, waiting=None)
            case Waiting():
                then = replace(self, waiting=record)
            case Preempted():
                then = replace(self, preempted=(*self.preempted, record))
            case Taken():
                then = replace(self, taken=record)
            case Yielding():
                then = replace(self, yielding=record)
            case Left():
                aside_ms = None if self.yielding is None else record.at_ms + self.yielding.aside_ms
                then = Standing(began_ms=record.at_ms, aside_until_ms=aside_ms)
            case Failed():
                then = replace(self, failed=record)
            case Returning():  # the place that it returns to follows
                pass
        return then
