"""When the rungs of a requirement open, and what is asked then."""

from typing import Any

import pytest

from hetero_ops.gap.ladder import Ladder
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.rung import rungs

MINUTE_MS = 60_000
STEP: dict[str, Any] = {
    "accelerators": "H100:8 bf16 wait=30m | MI300X:8 bf16 | A100:8 bf16 wait=10m batch=scale",
    "quantizable": ["int8"],
}


def ladder(written: Any = STEP) -> Ladder:
    return Ladder.of(Requirement.parse(written))


@pytest.mark.parametrize(
    ("opened", "held_m", "impossible", "expected"),
    [
        (0, 0, set(), 1),  # the first one at once
        (1, 0, set(), 1),
        (1, 29, set(), 1),
        (1, 30, set(), 3),  # the second is not waited for
        (1, 0, {0}, 3),  # what can never fit is not waited for
        (1, 0, {0, 1}, 3),
        (3, 9, set(), 3),
        (3, 10, set(), 7),  # all that is derived, at once
        (3, 0, {2}, 7),
        (3, 0, {0, 1}, 3),
        (7, 10_000, set(), 7),
    ],
)
def test_the_next_rung_opens_when_the_wait_for_the_last_is_over(opened, held_m, impossible, expected) -> None:
    assert len(ladder().rungs) == 7
    assert ladder().next_opened(opened, held_m * MINUTE_MS, impossible) == expected


def test_without_waits_all_is_open_at_once() -> None:
    assert ladder("H100:8 | MI300X:8 | A100:8").next_opened(0, 0) == 3


def test_the_last_choice_is_held_out_for_too() -> None:
    assert ladder("H100:8 | A100:8 wait=5m").hold_ms(2) == 5 * MINUTE_MS
    assert ladder("H100:8 | A100:8 wait=5m").hold_ms(2, {1}) == 0


def test_what_is_derived_does_not_inherit_the_wait() -> None:
    found = ladder({"accelerators": "H100:2 bf16 wait=1h", "quantizable": ["int8"]})
    assert [found.wait_ms(at) for at in range(2)] == [60 * MINUTE_MS, 0]


@pytest.mark.parametrize("opened", [1, 2, 3])
def test_what_is_asked_is_the_open_rungs_and_nothing_that_follows_from_them(opened) -> None:
    written = {"models": "H100", "wait": "1h", "parallel": {"tp": 4, "dp": 2, "least_tp": 1}, "batch": "scale"}
    choices = [written | {"models": model} for model in ("H100", "H200", "A100")]
    found = ladder({"choices": choices, "quantizable": ["int8"], "need": {"precision": "bf16"}})
    asked = [rung.label for rung in rungs(found.asked(opened))]
    assert asked == [rung.label for rung in found.rungs[:opened]]
    assert not any(rung.is_derived for rung in found.rungs[:opened])


def test_with_all_open_the_step_itself_is_asked() -> None:
    found = ladder()
    assert found.asked(len(found.rungs)) is found.requirement


def test_the_yardstick_and_the_contract_stay() -> None:
    step = {"accelerators": "H100:8 wait=1m | A100:8 perf>=0.5 | L4:8", "priority": 3, "team": "vision"}
    asked = ladder(step).asked(2)
    assert str(asked.choices[0]) == str(Requirement.parse("H100:8 wait=1m").choices[0])
    assert (asked.choices[1].performance_floor_milli, asked.priority, asked.team) == (500, 3, "vision")
