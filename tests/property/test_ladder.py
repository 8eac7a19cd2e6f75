"""Whatever is asked for and answered: the ladder ends, needs consent, keeps its budgets, and is replayable."""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.rung import rungs
from hetero_ops.gap.words import BITS
from hetero_ops.placement.decision import NoFit
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.ladder_record import Opened, Preempted, Record, Taken, from_dicts, to_dicts
from hetero_ops.placement.ladder_step import Ask, Event, Fail, Gone, Preempt, Run, Stay, Step, Wait, Wanted, Yield
from hetero_ops.placement.resolve import MOST_PREEMPTIONS, RETURNS_WITHIN_MS, ROOM_COMES_WITHIN_MS, next_step
from hetero_ops.placement.standing import Standing
from tests.placement.climbing import BEGIN_MS, busy, in_use

H100, A100, B300 = "H100-SXM5-80GB", "A100-SXM4-80GB", "B300-SXM6-270GB"
LOWER = {"preemptible": True, "priority": 1}
PRIORITY = 5

FLEETS: Sequence[Fleet] = [
    in_use(busy("h", H100, used=()), busy("a", A100, used=())),
    in_use(busy("h", H100), busy("a", A100, used=())),
    in_use(busy("h", H100), busy("a", A100)),
    in_use(busy("h", H100, used=(0, 1, 2, 3, 4)), busy("a", A100)),
    in_use(busy("h", H100, **LOWER), busy("a", A100)),
    in_use(busy("h", H100), busy("a", A100, **LOWER)),
    in_use(busy("h", H100, preemptible=True, priority=9), busy("b", B300, used=())),
    in_use(busy("b", B300)),
    in_use(busy("a", A100, used=(0, 1, 2, 3, 4, 5, 6))),
]
HEADS = ["H100:8", "A100:8", "H200:8", "H100:4", "gpu:8 fp8", "A100:8 quant=int8", "A100!:8", "B300:2", "gpu:12"]
WORDS = ["", "bf16", "batch=scale", "min_precision=int8", "bf16 min_precision=bf16", "impact=10%"]


@st.composite
def steps(draw: st.DrawFn) -> Requirement:
    """Steps with waits of minutes, and all that a step can agree to."""
    choices = []
    for head in draw(st.lists(st.sampled_from(HEADS), min_size=1, max_size=4)):
        wait = draw(st.sampled_from(["", "", "wait=1m", "wait=10m"]))
        word = draw(st.sampled_from(WORDS)) if " " not in head else ""
        choices.append(" ".join(filter(None, [head, wait, word])))
    degrade = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "max_wait": st.sampled_from(["30s", "5m", "1h"]),
                "preempt": st.sampled_from(["lower", "never"]),
                "yield": st.booleans(),
                "return": st.booleans(),
            },
        )
    )
    more = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "quantizable": st.lists(st.sampled_from(["int8", "fp8", "int4"]), max_size=3),
                "footprint": st.sampled_from([{"weights": "600GB@bf16"}, {"weights": "900GB@bf16"}]),
                "priority": st.just(PRIORITY),
                "checkpoint": st.just({"dir": "/tmp/c", "every": "1m"}),  # noqa: S108 - nothing is written there
            },
        )
    )
    return Requirement.parse({"accelerators": " | ".join(choices), "degrade": degrade, **more})


class Climber:
    """A host that is stopped and started again after every step, and holds the ladder to its word."""

    def __init__(self, requirement: Requirement) -> None:
        self.requirement = requirement
        self.now_ms = BEGIN_MS
        self.history: tuple[Record, ...] = ()
        self.budget_ms = self._budget_ms()
        self.began_ms = BEGIN_MS
        self.impossible: set[int] = set()

    def _budget_ms(self) -> int:
        if self.requirement.degrade.max_wait_s is not None:
            return self.requirement.degrade.max_wait_s * 1000
        return sum(choice.wait_s or 0 for choice in self.requirement.choices) * 1000

    @property
    def ends_ms(self) -> int:
        """When the present climb must be over, but for the room of those that end for it."""
        standing = Standing.of(self.history)
        is_unbound = self.requirement.degrade.max_wait_s is None
        began_ms = self.began_ms if standing.began_ms is None else standing.began_ms
        if is_unbound and standing.aside_until_ms is not None:
            return began_ms + max(self.budget_ms, RETURNS_WITHIN_MS)
        room_ms = len(standing.preempted) * ROOM_COMES_WITHIN_MS if is_unbound else 0
        return began_ms + self.budget_ms + room_ms

    def next(self, fleet: Fleet, event: Event | None = None) -> Step:
        for _ in range(len(rungs(self.requirement)) + 3):  # a question opens more, or it is the last
            step = self._once(event)
            if not isinstance(step, Ask):
                return step
            answer = fleet.place(step.requirement)
            self._learn(answer)
            event = answer
        raise AssertionError("it asks without end")

    def _once(self, event: Event | None) -> Step:
        before = Standing.of(self.history)
        step = next_step(self.requirement, self.history, self.now_ms, event)
        assert next_step(self.requirement, self.history, self.now_ms, event) == step
        self._check_opening(before, step)
        kept = (*self.history, *step.records)
        self.history = from_dicts(json.loads(json.dumps(to_dicts(kept))))
        assert self.history == kept
        return step

    def _learn(self, answer: object) -> None:
        if isinstance(answer, NoFit):
            reasons = json.loads(answer.to_json())["reasons"]
            passing = {reason["choice_index"] for reason in reasons if not reason["is_permanent"]}
            self.impossible = set(range(len(rungs(self.requirement)))) - passing

    def _check_opening(self, before: Standing, step: Step) -> None:
        """A rung opens only when all before it were held out for, or cannot be had, or no time is left."""
        for record in step.records:
            if isinstance(record, Opened) and before.opened and before.taken is None and before.failed is None:
                held_ms = record.at_ms - before.opened_ms
                last = rungs(self.requirement)[before.opened - 1].choice
                is_over = self.requirement.degrade.max_wait_s is not None and record.at_ms >= self.ends_ms
                assert held_ms >= (last.wait_s or 0) * 1000 or before.opened - 1 in self.impossible or is_over
            if isinstance(record, Taken):
                self._check_consent(before, record)

    def _check_consent(self, before: Standing, record: Taken) -> None:
        rung = rungs(self.requirement)[record.index]
        assert record.index < before.opened or before.taken is not None  # open, or the first choice on a return
        least = rung.choice.least_precision
        if record.quantize is not None:
            written = [choice.quantize for choice in self.requirement.choices]
            assert record.quantize in (self.requirement.quantizable if record.is_derived else written)
            assert least is None or BITS[record.quantize] >= BITS[least]
            assert "!" not in record.label
            assert not (record.quantize == "int8" and "B300" in record.label)


@settings(max_examples=150, deadline=None)
@given(requirement=steps(), data=st.data())
def test_a_climb_ends_within_its_budget(requirement, data) -> None:
    climber = Climber(requirement)
    for _ in range(200):
        step = climber.next(data.draw(st.sampled_from(FLEETS)))
        assert climber.now_ms <= climber.ends_ms
        if isinstance(step, Run | Fail):
            break
        assert isinstance(step, Wait | Preempt)
        assert climber.now_ms < step.until_ms <= climber.ends_ms
        _check_preempted(climber, step)
        # now and then it looks before anything has to change
        early_ms = data.draw(st.integers(1, step.until_ms - climber.now_ms)) if data.draw(st.booleans()) else None
        climber.now_ms = step.until_ms if early_ms is None else climber.now_ms + early_ms
    assert isinstance(step, Run | Fail)


def _check_preempted(climber: Climber, step: Wait | Preempt) -> None:
    told = [record.owners for record in climber.history if isinstance(record, Preempted)]
    assert len(set(told)) == len(told) <= MOST_PREEMPTIONS
    if isinstance(step, Preempt):
        assert climber.requirement.degrade.preempt == "lower"
        assert climber.requirement.priority == PRIORITY
        victims = json.loads(step.answer.to_json())["victims"]["victims"]
        assert all(victim["priority"] < PRIORITY for victim in victims)
        assert tuple(sorted({victim["owner"] for victim in victims})) == step.owners
        assert Standing.of(climber.history).opened == len(rungs(climber.requirement))


@settings(max_examples=100, deadline=None)
@given(requirement=steps(), fleet=st.sampled_from(FLEETS), polls=st.integers(2, 6))
def test_what_does_not_change_is_not_told_twice(requirement, fleet, polls) -> None:
    climber = Climber(requirement)
    step = climber.next(fleet)
    while isinstance(step, Wait | Preempt):
        each_ms = max(1, (step.until_ms - climber.now_ms) // polls)
        until_ms = step.until_ms
        if isinstance(step, Preempt):
            step = climber.next(fleet)  # that it waits for the room is one more change
        told = climber.history
        while climber.now_ms + each_ms < until_ms:
            climber.now_ms += each_ms
            assert isinstance(climber.next(fleet), Wait)
            assert climber.history == told
        climber.now_ms = until_ms
        step = climber.next(fleet)
    assert isinstance(step, Run | Fail)


@settings(max_examples=100, deadline=None)
@given(requirement=steps(), data=st.data())
def test_a_step_that_runs_yields_returns_and_climbs_by_the_same_rules(requirement, data) -> None:
    climber = Climber(requirement)
    step = climber.next(data.draw(st.sampled_from(FLEETS)))
    for _ in range(12):
        is_running = isinstance(step, Run | Stay | Yield) or Standing.of(climber.history).taken is not None
        events: list[Event | None] = [None]
        if is_running:
            events += [Wanted("other", priority) for priority in (PRIORITY - 1, PRIORITY, PRIORITY + 1)]
        if is_running or isinstance(step, Fail):
            events.append(Gone("lost"))
        climber.now_ms += data.draw(st.sampled_from([0, 1000, 60_000, 3_600_000]))
        event = data.draw(st.sampled_from(events))
        step = climber.next(data.draw(st.sampled_from(FLEETS)), event)
        if isinstance(step, Yield):
            assert requirement.degrade.may_yield
            assert requirement.priority == PRIORITY
        if isinstance(step, Wait):
            assert step.until_ms > climber.now_ms


def test_every_ending_was_met() -> None:
    """The fleets and steps above reach what they are to test."""
    lower: dict[str, Any] = {"degrade": {"preempt": "lower"}, "priority": PRIORITY}
    full, preemptible = FLEETS[2], FLEETS[4]
    assert isinstance(Climber(Requirement.parse("H100:8 wait=1m")).next(full), Wait)
    assert isinstance(Climber(Requirement.parse({"accelerators": "H100:8", **lower})).next(preemptible), Preempt)
    quantized = {"accelerators": "A100:8 bf16", "footprint": {"weights": "900GB@bf16"}, "quantizable": ["int8"]}
    run = Climber(Requirement.parse(quantized)).next(FLEETS[0])
    assert isinstance(run, Run)
    assert run.taken.quantize == "int8"
