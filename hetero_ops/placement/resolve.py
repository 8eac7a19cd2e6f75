"""Climbs a ladder: what a host does next, from what a step asked for, what was recorded, and the time.

A pure function: it asks no fleet, reads no clock and draws nothing. So the same records, time and event have the same
answer, and a host that died goes on from the records that it kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hetero_ops.errors import UnexpectedAnswer
from hetero_ops.gap.ladder import Ladder
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.ladder_record import Failed, Left, Opened, Preempted, Record, Waiting
from hetero_ops.placement.ladder_refusal import Refusal
from hetero_ops.placement.ladder_step import Ask, Event, Fail, Gone, Preempt, Run, Step, Wait, Wanted
from hetero_ops.placement.running import go_on, taken
from hetero_ops.placement.standing import Standing
from hetero_ops.units import roughly

MOST_PREEMPTIONS = 3
"""So often others end for a step before it has a place; whoever was faster each time is left alone."""
ROOM_COMES_WITHIN_MS = 300_000
"""How long the room of those that end is waited for, where no `max_wait` says it."""

RETURNS_WITHIN_MS = 86_400_000
"""How long a step that gave way waits for a place, where no `max_wait` says it."""


def next_step(
    requirement: Requirement,
    history: Sequence[Record],
    now_ms: int,
    event: Event | None = None,
    *,
    position: int | None = None,
) -> Step:
    """What the host of a step does next.

    The host adds the step's `records` to the history, does what the step says, and asks again: with the answer or with
    what happened, or with nothing when the time of a `Wait` or `Stay` is over or something may have changed.

    Args:
        requirement: what the step asks for; the same in every call.
        history: the records so far, in order.
        now_ms: milliseconds since 1970. A clock that went back counts as standing still.
        event: what the host has to tell.
        position: of the step among those that wait, from 1, where the host knows it; said in the reason of a `Wait`.

    Raises:
        UnexpectedAnswer: the event is the answer to another question, or of a step that does not run.
    """
    standing = Standing.of(history)
    now_ms = max([now_ms, *(record.at_ms for record in history[-1:])])
    if isinstance(event, Gone):
        if standing.taken is None and standing.failed is None:
            raise UnexpectedAnswer("the step has no place that it could be gone from; hand in the answer to the `Ask`")
        left = Left(now_ms, event.cause)
        then = next_step(requirement, (*history, left), now_ms, position=position)
        return replace(then, records=(left, *then.records))
    if standing.failed is not None:
        return Fail(standing.failed.verdict, str(standing.failed), answer=None)
    ladder = Ladder.of(requirement)
    if standing.taken is not None:
        return go_on(ladder, standing.taken, standing.yielding, now_ms, event)
    climb = _Climb(ladder, standing, now_ms, position)
    match event:
        case Placement():
            climb.check(event)
            return climb.run(event)
        case NoFit():
            climb.check(event)
            return climb.refused(Refusal.of(event, standing.opened, requirement.priority))
        case Wanted() | None:  # who does not run has nothing to give
            return climb.ask()


@dataclass(frozen=True, slots=True)
class _Climb:
    """A step that has no place yet, at a point in time."""

    ladder: Ladder
    standing: Standing
    now_ms: int
    position: int | None

    @property
    def began_ms(self) -> int:
        return self.now_ms if self.standing.began_ms is None else self.standing.began_ms

    @property
    def ends_ms(self) -> int | None:
        """When waiting of any kind is over; `None` where only the choices say it."""
        max_wait_ms = self.ladder.max_wait_ms
        if max_wait_ms is None and self.standing.aside_until_ms is not None:
            max_wait_ms = RETURNS_WITHIN_MS
        return None if max_wait_ms is None else self.began_ms + max_wait_ms

    @property
    def is_over(self) -> bool:
        return self.ends_ms is not None and self.now_ms >= self.ends_ms

    def within(self, until_ms: int) -> int:
        return until_ms if self.ends_ms is None else min(until_ms, self.ends_ms)

    def check(self, answer: Placement | NoFit) -> None:
        asked = str(self.ladder.asked(self.standing.opened)) if self.standing.opened else None
        if answer.requirement != asked:
            what = f"the answer is to {answer.requirement!r}, but the ladder asked {asked!r}"
            raise UnexpectedAnswer(f"{what}; ask what `Ask.requirement` says, and keep the records of each step")

    def opened_now(self, impossible: frozenset[int]) -> int:
        """How many rungs are open by now; once waiting is over, all."""
        if self.is_over:
            return len(self.ladder.rungs)
        held_ms = self.now_ms - self.standing.opened_ms
        return self.ladder.next_opened(self.standing.opened, held_ms, impossible)

    def held_until_ms(self, impossible: frozenset[int]) -> int:
        """Until when nothing follows on the rungs that are open."""
        return self.within(self.standing.opened_ms + self.ladder.hold_ms(self.standing.opened, impossible))

    def ask(self, impossible: frozenset[int] = frozenset()) -> Step:
        """The question of this moment."""
        aside_ms = self.standing.aside_until_ms
        if aside_ms is not None and self.now_ms < self.within(aside_ms):
            until_ms = self.within(aside_ms)
            return Wait(until_ms, f"stands aside for {roughly(until_ms - self.now_ms)}, having given way")
        opened = self.opened_now(impossible)
        records: tuple[Record, ...] = ()
        if opened > self.standing.opened:
            fresh = self.ladder.rungs[self.standing.opened : opened]
            labels = tuple(rung.label for rung in fresh)
            records = (Opened(self.now_ms, opened, labels, self.why_opened(impossible)),)
        then = replace(self, standing=self.standing.after(records[0])) if records else self
        return Ask(self.ladder.asked(opened), may_preempt=then.may_preempt(impossible), records=records)

    def why_opened(self, impossible: frozenset[int]) -> str:
        """What ended the wait for the last rung that was open."""
        if self.standing.opened == 0:
            return ""
        last = self.standing.opened - 1
        hold_ms, label = self.ladder.hold_ms(self.standing.opened, impossible), self.ladder.rungs[last].label
        if last in impossible:
            return f"as {label} can never fit"
        if self.now_ms - self.standing.opened_ms < hold_ms:
            return "as no time is left to wait"
        return f"having waited {roughly(hold_ms)} for {label}"

    def run(self, placement: Placement) -> Run:
        rung = self.ladder.rungs[placement.choice_index]
        record = taken(self.ladder, placement, self.now_ms, self.now_ms - self.began_ms)
        return Run(rung, placement, record, records=(record,))

    def refused(self, refusal: Refusal) -> Step:
        """What follows when nothing fits: hold out, open more, have others end, wait for what is left, fail."""
        if self.opened_now(refusal.impossible) > self.standing.opened:
            return self.ask(refusal.impossible)
        if refusal.answer.verdict == "impossible":
            return self.fail(refusal)
        held_until_ms = self.held_until_ms(refusal.impossible)
        if self.now_ms < held_until_ms:
            return self.wait(held_until_ms, refusal)
        is_new = all(refusal.owners != before.owners for before in self.standing.preempted)
        if refusal.owners and is_new and self.may_preempt(refusal.impossible):
            return self.preempt(refusal)
        until_ms = self.last_until_ms()
        return self.wait(until_ms, refusal) if self.now_ms < until_ms else self.fail(refusal)

    def may_preempt(self, impossible: frozenset[int]) -> bool:
        """Whether others of lower priority may end for the step by now: when all else was tried, and time is left."""
        requirement = self.ladder.requirement
        is_agreed = requirement.degrade.preempt == "lower" and requirement.priority is not None
        # Else the last rungs would not be open, or be waited for.
        is_last = self.now_ms >= self.held_until_ms(impossible)
        return is_agreed and is_last and not self.is_over and len(self.standing.preempted) < MOST_PREEMPTIONS

    def last_until_ms(self) -> int:
        """Until when it waits with everything open and tried."""
        if self.ends_ms is not None:
            return self.ends_ms
        return max([self.now_ms, *(preempted.until_ms for preempted in self.standing.preempted)])

    def preempt(self, refusal: Refusal) -> Preempt:
        until_ms = self.now_ms + ROOM_COMES_WITHIN_MS if self.ends_ms is None else self.ends_ms
        record = Preempted(self.now_ms, refusal.owners, until_ms)
        return Preempt(refusal.owners, refusal.nodes, refusal.answer, until_ms, records=(record,))

    def wait(self, until_ms: int, refusal: Refusal) -> Wait:
        possible = [at for at in range(self.standing.opened) if at not in refusal.impossible]
        label = " | ".join(self.ladder.rungs[at].label for at in possible)
        spent_ms, told = self.now_ms - self.began_ms, self.standing.waiting
        reason = f"waiting {roughly(spent_ms)} of {roughly(until_ms - self.began_ms)} for {label}; {refusal.why}"
        if self.position is not None:
            reason += f"; position {self.position}"
        impossible = tuple(sorted(refusal.impossible))
        is_told = told is not None and (told.until_ms, told.impossible) == (until_ms, impossible)
        record = Waiting(self.now_ms, label, until_ms, impossible, refusal.codes)
        return Wait(until_ms, reason, records=() if is_told else (record,))

    def fail(self, refusal: Refusal) -> Fail:
        verdict: Literal["busy", "impossible"] = "impossible" if refusal.answer.verdict == "impossible" else "busy"
        record = Failed(self.now_ms, verdict, self.now_ms - self.began_ms, refusal.codes)
        return Fail(verdict, str(record), refusal.answer, records=(record,))
