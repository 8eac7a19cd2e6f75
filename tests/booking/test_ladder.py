"""A step climbs by booking: what it takes is its own, and whose devices it needs is told by their reservations."""

from pathlib import Path
from typing import TYPE_CHECKING

from hetero_ops import Fleet, NoFit, Placement, Requirement
from hetero_ops.booking.book import book
from hetero_ops.booking.preempt import Preemption, preemption
from hetero_ops.booking.view import FleetView
from hetero_ops.ledger.history import decision
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.placement.ladder_step import Ask, Preempt, Run, Step, Wait
from hetero_ops.placement.resolve import next_step
from tests.placement.sample import H100, document, node

if TYPE_CHECKING:
    from hetero_ops.placement.ladder_record import Record


class Booker:
    """A host that books what it asks for."""

    def __init__(self, path: Path, name: str, **step: object) -> None:
        self.ledger = Ledger.open(str(path / "ledger.db"))
        self.view = FleetView(Fleet.from_document(document(node("a", f"8x{H100}"))), self.ledger)
        self.owner = Owner("task", name)
        self.requirement = Requirement.parse(step)
        self.history: tuple[Record, ...] = ()

    def next(self) -> Step:
        answer: Placement | NoFit | None = None
        while True:
            step = next_step(self.requirement, self.history, self.ledger.now_ms(), answer)
            self.history += step.records
            if not isinstance(step, Ask):
                return step
            answer = self._answer(step)

    def _answer(self, ask: Ask) -> Placement | NoFit:
        booked = book(self.view, ask.requirement, self.ledger, self.owner)
        if not isinstance(booked, NoFit):
            found = decision(self.ledger, booked.trace_id)
            assert found is not None
            assert isinstance(found[0], Placement)
            return found[0]
        plan = preemption(self.view, ask.requirement) if ask.may_preempt else None
        return plan.decision if isinstance(plan, Preemption) else booked


def test_a_booked_step_ends_for_a_more_important_one(tmp_path: Path) -> None:
    low = Booker(tmp_path, "low", accelerators="H100:8", priority=1, preemptible=True)
    taken = low.next()
    assert isinstance(taken, Run)
    assert taken.placement.nodes == ["a"]

    high = Booker(tmp_path, "high", accelerators="H100:4", priority=9, degrade={"preempt": "lower", "max_wait": "1h"})
    asked = high.next()
    (reservation,) = high.ledger.live()
    assert isinstance(asked, Preempt)
    assert asked.owners == (reservation.id,)
    assert isinstance(high.next(), Wait)  # it is told once, and waits for them to go

    low.ledger.release(reservation.id)
    assert isinstance(high.next(), Run)
    assert [each.owner for each in high.ledger.live()] == [high.owner]


def test_an_open_choice_is_booked_and_no_other(tmp_path: Path) -> None:
    Booker(tmp_path, "first", accelerators="H100:5").next()
    second = Booker(tmp_path, "second", accelerators="H100:8 wait=30m batch=scale")
    assert isinstance(second.next(), Wait)
    assert len(second.ledger.live()) == 1  # three are free, which it takes only when its wait is over
