"""Others end for a step only when all else was tried, only lower ones, and for each set of them once."""

from typing import Any

import pytest

from hetero_ops.placement.decision import NoFit
from hetero_ops.placement.ladder_record import Preempted
from hetero_ops.placement.ladder_refusal import Refusal
from hetero_ops.placement.ladder_step import Ask, Fail, Preempt, Run, Wait
from hetero_ops.placement.resolve import MOST_PREEMPTIONS, ROOM_COMES_WITHIN_MS, next_step
from tests.placement.climbing import BEGIN_MS, MINUTE_MS, Host, busy, in_use

LOWER: dict[str, Any] = {"preemptible": True, "priority": 10}


def step(accelerators: str = "H100:8", **more: Any) -> dict[str, Any]:
    degrade = {"preempt": "lower", **more.pop("degrade", {})}
    return {"accelerators": accelerators, "priority": 50, "degrade": degrade, **more}


def test_lower_ones_end_and_their_room_is_taken() -> None:
    host = Host(step(), in_use(busy("a", **LOWER)))
    asked = host.next()
    assert isinstance(asked, Preempt)
    assert (asked.owners, asked.nodes, asked.answer.verdict) == (("on a",), ("a",), "busy")
    assert asked.until_ms == BEGIN_MS + ROOM_COMES_WITHIN_MS
    host.fleet = in_use(busy("a", used=()))
    assert isinstance(host.next(minutes=1), Run)
    assert host.lines[1] == "has on a end, and waits up to 5m for it"


def test_only_when_all_rungs_were_tried_and_their_waits_are_over() -> None:
    written = step("H100:8 bf16 wait=30m | A100:8 bf16 wait=10m", quantizable=["int8"])
    host = Host(written, in_use(busy("a", **LOWER)))
    waiting = host.next()
    assert isinstance(waiting, Wait)
    asked = host.at(waiting.until_ms)  # no A100 is there, so it is not waited for
    assert isinstance(asked, Preempt)
    assert host.kinds == ["Opened", "Waiting", "Opened", "Opened", "Preempted"]


def test_a_quantized_rung_goes_before_anybody_ends() -> None:
    written = step("H100:8 bf16", quantizable=["int8"], footprint={"weights": "600GB@bf16"})
    host = Host(written, in_use(busy("a", used=(0, 1), **LOWER)))
    assert isinstance(host.next(), Preempt)  # eight devices of either precision
    shrunk = step("H100:4..8 bf16", quantizable=["int8"], footprint={"weights": "600GB@bf16"})
    taken = Host(shrunk, in_use(busy("a", used=(0, 1), **LOWER))).next()
    assert isinstance(taken, Run)
    assert taken.placement.quantize == "int8"


@pytest.mark.parametrize(
    ("use", "changed"),
    [
        ({"preemptible": True, "priority": 50}, {}),
        ({"preemptible": True, "priority": 80}, {}),
        ({"preemptible": True}, {}),
        ({"preemptible": False, "priority": 10}, {}),
        (LOWER, {"priority": None}),
        (LOWER, {"priority": 10}),
        (LOWER, {"degrade": {"preempt": "never"}}),
        (LOWER, {"degrade": {}}),
    ],
)
def test_nobody_ends_who_is_as_important_or_did_not_agree_or_if_the_step_did_not_ask(use, changed) -> None:
    host = Host(step() | changed, in_use(busy("a", **use)))
    assert isinstance(host.next(), Fail)
    assert "Preempted" not in host.kinds


def test_the_same_ones_are_told_once() -> None:
    host = Host(step(degrade={"max_wait": "1h"}), in_use(busy("a", **LOWER)))
    assert isinstance(host.next(), Preempt)
    again = [host.next(minutes=5) for _ in range(11)]
    assert {type(one) for one in again} == {Wait}
    assert isinstance(host.next(minutes=5), Fail)
    assert host.kinds.count("Preempted") == 1


def test_others_are_told_when_somebody_took_the_room_but_not_for_ever() -> None:
    host = Host(step(degrade={"max_wait": "1d"}), in_use(busy("n0", **LOWER)))
    for round_of in range(1, MOST_PREEMPTIONS + 1):
        assert isinstance(host.next(minutes=1), Preempt)
        host.fleet = in_use(busy(f"n{round_of}", **LOWER))
    assert isinstance(host.next(minutes=1), Wait)
    found = [record.owners for record in host.history if isinstance(record, Preempted)]
    assert found == [("on n0",), ("on n1",), ("on n2",)]


def test_nobody_ends_when_no_time_is_left_for_it() -> None:
    host = Host(step("H100:8 wait=30m", degrade={"max_wait": "30m"}), in_use(busy("a", **LOWER)))
    host.next()
    assert isinstance(host.next(minutes=30), Fail)
    assert "Preempted" not in host.kinds


def test_without_max_wait_the_room_is_waited_for_and_no_longer() -> None:
    host = Host(step("H100:8 wait=1m"), in_use(busy("a", **LOWER)))
    assert isinstance(host.next(), Wait)
    asked = host.next(minutes=1)
    assert isinstance(asked, Preempt)
    waiting = host.next(minutes=2)
    assert isinstance(waiting, Wait)
    assert waiting.until_ms == asked.until_ms == BEGIN_MS + MINUTE_MS + ROOM_COMES_WITHIN_MS
    assert isinstance(host.at(waiting.until_ms), Fail)


def test_a_host_is_told_when_victims_are_of_use() -> None:
    host = Host(step("H100:8 wait=1m"), in_use(busy("a", **LOWER)))
    first = next_step(host.requirement, (), host.now_ms)
    assert isinstance(first, Ask)
    assert not first.may_preempt
    host.next()
    late = next_step(host.requirement, host.history, host.now_ms + MINUTE_MS)
    assert isinstance(late, Ask)
    assert late.may_preempt


def test_victims_are_of_no_use_to_a_step_without_a_priority() -> None:
    host = Host(step() | {"priority": None}, in_use(busy("a", **LOWER)))
    first = next_step(host.requirement, (), host.now_ms)
    assert isinstance(first, Ask)
    assert not first.may_preempt


def test_a_refusal_never_names_equals_whatever_it_was_asked_with() -> None:
    answer = in_use(busy("a", **LOWER)).place(step())
    assert isinstance(answer, NoFit)
    assert Refusal.of(answer, 1, priority=11).owners == ("on a",)
    assert Refusal.of(answer, 1, priority=10).owners == ()
    assert Refusal.of(answer, 1, priority=None).owners == ()
