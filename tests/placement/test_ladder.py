"""A step that climbs: what it waits for, what it takes instead, and when it gives up."""

import pytest

from hetero_ops.errors import UnexpectedAnswer
from hetero_ops.placement.ladder_step import Ask, Fail, Gone, Run, Wait
from hetero_ops.placement.resolve import next_step
from tests.placement.climbing import BEGIN_MS, MINUTE_MS, Host, busy, in_use
from tests.placement.sample import H100, fleet, node

A100 = "A100-SXM4-80GB"
FULL = in_use(busy("h", H100), busy("a", A100))
ONLY_A100 = in_use(busy("h", H100), busy("a", A100, used=()))
FREE = in_use(busy("h", H100, used=()), busy("a", A100, used=()))


def test_what_fits_is_taken_at_once() -> None:
    host = Host("H100:8 wait=30m | A100:8", FREE)
    step = host.next()
    assert isinstance(step, Run)
    assert (step.rung.label, step.placement.nodes, step.taken.is_degraded) == ("H100", ["h"], False)
    assert host.lines == ["asks for H100", "takes H100 in west: as preferred, waited 0s"]


def test_the_preferred_choice_is_waited_for_as_long_as_it_says_then_the_next_is_taken() -> None:
    host = Host("H100:8 wait=30m | A100:8", ONLY_A100)
    step = host.next()
    assert isinstance(step, Wait)
    assert step.until_ms == BEGIN_MS + 30 * MINUTE_MS
    step = host.at(step.until_ms)
    assert isinstance(step, Run)
    assert (step.taken.label, step.taken.index, step.taken.waited_ms) == ("A100", 1, 30 * MINUTE_MS)
    assert (step.taken.is_degraded, step.taken.performance_source) == (True, "roofline")


def test_a_choice_without_a_wait_does_not_wait() -> None:
    assert isinstance(Host("H100:8 | A100:8", ONLY_A100).next(), Run)


def test_a_better_one_that_frees_while_others_are_open_is_taken() -> None:
    host = Host("H100:8 wait=30m | A100:8 wait=30m", FULL)
    host.next()
    host.next(minutes=30)
    host.fleet = FREE
    step = host.next(minutes=5)
    assert isinstance(step, Run)
    assert step.taken.label == "H100"


def test_one_record_a_change() -> None:
    host = Host("H100:8 wait=30m | A100:8 wait=10m", FULL)
    steps = [host.next(minutes=1) for _ in range(60)]
    assert host.lines == [
        "asks for H100",
        "waits up to 30m for H100 (COUNT_SHORT)",
        "asks for A100, having waited 30m for H100",
        "waits up to 10m for H100 | A100 (COUNT_SHORT)",
        "busy after 40m: COUNT_SHORT",
    ]
    assert isinstance(steps[-1], Fail)
    assert isinstance(steps[0], Wait)
    assert steps[0].reason == "waiting 0s of 30m for H100; H100: COUNT_SHORT (0 of 8) on h"


def test_the_place_in_the_queue_is_said_where_it_is_known() -> None:
    host = Host("H100:8 wait=30m", FULL)
    step = host.next()
    answer = FULL.place("H100:8 wait=30m")
    step = next_step(host.requirement, host.history, host.now_ms + MINUTE_MS, answer, position=2)
    assert isinstance(step, Wait)
    assert step.reason == "waiting 1m of 30m for H100; H100: COUNT_SHORT (0 of 8) on h; position 2"
    assert step.records == ()


@pytest.mark.parametrize(
    ("written", "waits_m"),
    [
        ("H100:8", 0),  # waits for nothing that it did not say
        ("H100:8 | A100:8", 0),
        ("H100:8 wait=30m", 30),
        ("H100:8 wait=30m | A100:8", 30),
        ("H100:8 wait=30m | A100:8 wait=15m", 45),
        ({"accelerators": "H100:8", "degrade": {"max_wait": "2h"}}, 120),
        ({"accelerators": "H100:8 wait=30m | A100:8", "degrade": {"max_wait": "2h"}}, 120),
        ({"accelerators": "H100:8 wait=30m | A100:8", "degrade": {"max_wait": "10m"}}, 10),
        ({"accelerators": "H100:8 wait=30m | A100:8 wait=1h", "degrade": {"max_wait": "40m"}}, 40),
    ],
)
def test_it_waits_as_long_as_it_agreed_to_then_fails_with_the_reasons(written, waits_m) -> None:
    host = Host(written, FULL)
    step = host.next()
    while isinstance(step, Wait):
        step = host.at(step.until_ms)
    assert isinstance(step, Fail)
    assert (step.verdict, host.waited_minutes) == ("busy", waits_m)
    assert step.answer is not None
    assert step.answer.requirement == str(host.requirement)  # in the end all that it wrote was asked
    assert step.answer.codes == ["COUNT_SHORT", "MODEL_MISMATCH"]


def test_max_wait_ends_the_wait_for_a_choice_and_the_others_get_their_chance() -> None:
    host = Host({"accelerators": "H100:8 wait=2h | A100:8", "degrade": {"max_wait": "20m"}}, ONLY_A100)
    step = host.next()
    assert isinstance(step, Wait)
    step = host.at(step.until_ms)
    assert isinstance(step, Run)
    assert (step.taken.label, step.taken.waited_ms) == ("A100", 20 * MINUTE_MS)
    assert host.lines[-2] == "asks for A100, as no time is left to wait"


def test_what_can_never_fit_is_not_waited_for() -> None:
    host = Host("H200:8 wait=30m | A100:8 wait=10m | H100:8", FULL)
    step = host.next()
    assert isinstance(step, Wait)
    assert step.until_ms == BEGIN_MS + 10 * MINUTE_MS
    assert host.lines == [
        "asks for H200",
        "asks for A100, as H200 can never fit",
        "waits up to 10m for A100 (COUNT_SHORT)",
    ]


def test_what_can_never_fit_any_more_is_not_waited_for_any_longer() -> None:
    host = Host("H100:8 wait=30m | A100:8", FULL)
    host.next()
    host.fleet = in_use(busy("a", A100, used=()))  # the node with the H100 is gone
    assert isinstance(host.next(minutes=3), Run)


def test_where_nothing_can_ever_fit_it_fails_at_once() -> None:
    host = Host({"accelerators": "H200:8 wait=1h | B200:8 wait=1h", "degrade": {"max_wait": "9h"}}, FULL)
    step = host.next()
    assert isinstance(step, Fail)
    assert (step.verdict, host.now_ms) == ("impossible", BEGIN_MS)
    assert step.reason == "impossible after 0s: MODEL_MISMATCH"


def test_an_end_is_an_end_until_the_step_is_tried_again() -> None:
    host = Host("H100:8", FULL)
    first, again = host.next(), host.next(minutes=5)
    assert isinstance(first, Fail)
    assert isinstance(again, Fail)
    assert (again.reason, again.answer) == (first.reason, None)
    host.fleet = FREE
    assert isinstance(host.next(Gone("tried again")), Run)
    assert host.kinds[-3:] == ["Left", "Opened", "Taken"]


def test_who_lost_its_place_climbs_anew_with_all_its_waits() -> None:
    host = Host("H100:8 wait=30m | A100:8", ONLY_A100)
    host.next()
    host.next(minutes=30)
    step = host.next(Gone("device fault"), minutes=100)
    assert isinstance(step, Wait)
    assert step.until_ms == host.now_ms + 30 * MINUTE_MS
    assert "left its place: device fault" in host.lines


def test_every_rung_has_its_own_image_environment_arguments_and_count() -> None:
    choices = [
        {"models": "H100", "count": 8, "with": {"image": "registry/train:cuda"}},
        {
            "models": "MI300X",
            "count": 2,
            "with": {"image": "registry/train:rocm", "env": {"HSA_X": "1"}, "args": ["-a"]},
        },
    ]
    step = Host({"choices": choices}, fleet(node("m", "8xMI300X"))).next()
    assert isinstance(step, Run)
    choice = step.rung.choice
    assert (choice.image, choice.env, choice.args) == ("registry/train:rocm", (("HSA_X", "1"),), ("-a",))
    assert len(step.placement.devices) == choice.count == 2


def test_the_record_has_the_relaxed_target_and_the_stated_figure() -> None:
    spec = {"accelerators": "H100:1 slo=latency:200ms | gpu:1 slo=latency:200ms impact=10%"}
    unknown = {"sku": "unknown", "model": "XPU-9000", "class": "gpu", "vendor": "amd", "memory_mib": 65536, "count": 1}
    step = Host(spec, fleet(node("x", unknown))).next()
    assert isinstance(step, Run)
    assert dict(step.taken.slo_micro) == {"latency": 220_000}
    assert (step.taken.performance, step.taken.performance_source) == (0.9, "stated")
    plain = Host("H100:1 | A100:1 slo=latency:200ms", ONLY_A100).next()
    assert isinstance(plain, Run)
    assert dict(plain.taken.slo_micro) == {"latency": 200_000}


def test_the_answer_to_another_question_is_refused() -> None:
    host = Host("H100:8 wait=30m | A100:8", FULL)
    with pytest.raises(UnexpectedAnswer, match=r"but the ladder asked None; ask what `Ask.requirement` says"):
        next_step(host.requirement, (), host.now_ms, FULL.place("H100:8 wait=30m"))
    asked = next_step(host.requirement, (), host.now_ms)
    assert isinstance(asked, Ask)
    with pytest.raises(UnexpectedAnswer, match=r"is to 'H100:8 wait=30m \| A100:8', but the ladder asked"):
        next_step(host.requirement, asked.records, host.now_ms, FULL.place(host.requirement))
    with pytest.raises(UnexpectedAnswer, match="no place that it could be gone from"):
        next_step(host.requirement, asked.records, host.now_ms, Gone("lost"))


def test_a_clock_that_goes_back_stands_still() -> None:
    host = Host("H100:8 wait=30m | A100:8", FULL)
    host.next()
    step = host.next(minutes=-600)
    assert isinstance(step, Wait)
    assert step.until_ms == BEGIN_MS + 30 * MINUTE_MS
    host.fleet = FREE
    step = host.next()
    assert isinstance(step, Run)
    assert (step.taken.at_ms, step.taken.waited_ms) == (BEGIN_MS, 0)


def test_that_one_of_several_can_never_fit_any_more_is_a_change() -> None:
    host = Host({"accelerators": "H100:8 | A100:8", "degrade": {"max_wait": "1h"}}, FULL)
    host.next()
    host.fleet = in_use(busy("a", A100))
    host.next(minutes=1)
    assert host.lines[1:] == [
        "waits up to 1h for H100 | A100 (COUNT_SHORT)",
        "waits up to 59m for A100 (COUNT_SHORT)",
    ]
