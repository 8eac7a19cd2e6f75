"""A step that runs gives way where it agreed to, and returns to its first choice where that is worth the move."""

from typing import Any

import pytest

from hetero_ops.errors import UnexpectedAnswer
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.ladder_record import Returning, Taken
from hetero_ops.placement.ladder_step import Ask, Fail, Gone, Return, Run, Stay, Wait, Wanted, Yield
from hetero_ops.placement.resolve import RETURNS_WITHIN_MS, next_step
from tests.placement.climbing import MINUTE_MS, Host, busy, in_use
from tests.placement.sample import H100

A100 = "A100-SXM4-80GB"
CHECKPOINT = {"dir": "s3://runs/a", "every": "10m", "grace": "2m"}
AWAY = in_use(busy("h", H100), busy("a", A100, used=()))
HOME = in_use(busy("h", H100, used=()), busy("a", A100))


def on(accelerators: str = "H100:8 | A100:8", there: Fleet = AWAY, **more: Any) -> Host:
    degrade = {"return": True, "yield": True, **more.pop("degrade", {})}
    written = {"accelerators": accelerators, "priority": 5, "checkpoint": CHECKPOINT, "degrade": degrade, **more}
    host = Host({key: value for key, value in written.items() if value is not None}, there)
    assert isinstance(host.next(), Run)
    return host


def _apart(east: dict[str, Any], west: dict[str, Any]) -> Fleet:
    clusters = [{"name": "east", "nodes": [east]}, {"name": "west", "nodes": [west]}]
    return Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters})


def last_taken(host: Host) -> Taken:
    return [record for record in host.history if isinstance(record, Taken)][-1]


def test_it_gives_way_stands_aside_waits_and_returns() -> None:
    host = on("H100:8", HOME)
    step = host.next(Wanted("train", 9), minutes=7)
    assert isinstance(step, Yield)
    assert step.owner == "train"
    assert isinstance(host.next(minutes=1), Yield)  # a host that died in between is told again
    assert host.kinds.count("Yielding") == 1
    aside = host.next(Gone("yielded"))
    assert isinstance(aside, Wait)
    assert aside.reason == "stands aside for 30s, having given way"
    host.fleet = in_use(busy("h", H100))  # the other one got it
    waiting = host.at(aside.until_ms)
    assert isinstance(waiting, Wait)
    assert waiting.until_ms - host.now_ms == RETURNS_WITHIN_MS - 30_000
    host.fleet = HOME
    assert isinstance(host.next(minutes=90), Run)
    assert [line.split(":")[0] for line in host.lines[2:]] == [
        "gives way to train of priority 9",
        "left its place",
        "asks for H100",
        "waits up to 1439m for H100 (COUNT_SHORT)",
        "takes H100 in west",
    ]


def test_it_waits_for_its_return_no_longer_than_max_wait() -> None:
    host = on("H100:8", HOME, degrade={"max_wait": "20m"})
    host.next(Wanted("train", 9))
    host.fleet = in_use(busy("h", H100))
    step = host.next(Gone("yielded"))
    began_ms = host.now_ms
    while isinstance(step, Wait):
        step = host.at(step.until_ms)
    assert isinstance(step, Fail)
    assert host.now_ms == began_ms + 20 * MINUTE_MS


@pytest.mark.parametrize(
    ("more", "wanted", "why"),
    [
        ({"degrade": {"yield": False}}, 9, "keeps H100: it did not agree to yield"),
        ({}, 5, "keeps H100: its priority 5 is not below 5"),
        ({}, 4, "keeps H100: its priority 5 is not below 4"),
        ({"priority": None}, 9, "keeps H100: it states no priority"),
    ],
)
def test_it_keeps_its_place_otherwise(more, wanted, why) -> None:
    host = on("H100:8", HOME, **more)
    step = host.next(Wanted("train", wanted))
    assert isinstance(step, Stay)
    assert step.reason == why
    assert host.kinds == ["Opened", "Taken"]


def test_who_waits_has_nothing_to_give() -> None:
    host = Host({"accelerators": "H100:8 wait=5m", "degrade": {"yield": True}, "priority": 5}, AWAY)
    assert isinstance(host.next(Wanted("train", 9)), Wait)


def test_it_returns_once_as_much_time_was_lost_as_the_move_costs() -> None:
    host = on()
    slower = 1 - (last_taken(host).performance or 0)
    assert 0.5 < slower < 0.9
    stay = host.next()
    assert isinstance(stay, Stay)
    assert stay.until_ms is not None
    assert (stay.until_ms - host.now_ms) * slower == pytest.approx(12 * MINUTE_MS, rel=1e-6)  # grace and interval
    host.fleet = HOME
    assert isinstance(host.next(minutes=1), Stay)
    step = host.at(stay.until_ms)
    assert isinstance(step, Return)
    assert (step.run.rung.label, step.run.placement.nodes) == ("H100", ["h"])
    assert isinstance(host.history[-2], Returning)
    assert host.lines[-2:] == [
        "returns to the first choice: 12m lost by being slower, the move costs 12m",
        "takes H100 in west: as preferred, waited 0s",
    ]
    home = host.next(minutes=600)
    assert isinstance(home, Stay)
    assert (home.until_ms, home.reason) == (None, "runs on H100")
    with pytest.raises(UnexpectedAnswer, match="but the step runs on H100"):
        host.next(HOME.place("H100:8"))


def test_the_question_is_only_whether_the_first_choice_is_free() -> None:
    host = on("H100:8 | A100:8 | L4:8")
    step = next_step(host.requirement, host.history, host.now_ms + 600 * MINUTE_MS)
    assert isinstance(step, Ask)
    assert step.is_homeward
    assert [choice.label for choice in step.requirement.choices] == ["H100"]
    stay = host.next(minutes=600)  # still busy
    assert isinstance(stay, Stay)
    assert (stay.until_ms, stay.reason) == (host.now_ms, "runs on A100; the first choice is busy")
    assert host.kinds == ["Opened", "Taken"]
    with pytest.raises(UnexpectedAnswer, match="but the step runs on A100; tell that it is `Gone` first"):
        host.next(HOME.place(host.requirement))


@pytest.mark.parametrize(
    ("accelerators", "more", "why"),
    [
        ("H100:8 | A100:8", {"degrade": {"return": False}}, "runs on A100"),
        ("H100:8 | A100:8", {"checkpoint": None}, "without a checkpoint a move would lose all work"),
        ("A100:8 | H100:8", {}, "the first choice is not faster"),
    ],
)
def test_it_stays_where_a_move_is_not_allowed_or_gains_nothing(accelerators, more, why) -> None:
    away = AWAY if accelerators.startswith("H100") else HOME
    host = on(accelerators, away, **more)
    host.fleet = in_use(busy("h", H100, used=()), busy("a", A100, used=()))
    step = host.next(minutes=10_000)
    assert isinstance(step, Stay)
    assert step.until_ms is None
    assert why in step.reason


def test_it_stays_where_the_first_choice_is_as_fast() -> None:
    host = on("H100:8 cluster=east | H100:8 cluster=west", _apart(busy("e", H100), busy("w", H100, used=())))
    assert last_taken(host).performance == 1
    host.fleet = _apart(busy("e", H100, used=()), busy("w", H100))
    step = host.next(minutes=10_000)
    assert isinstance(step, Stay)
    assert "the first choice is not faster" in step.reason


def test_it_stays_where_the_speed_is_unknown() -> None:
    unknown = {"sku": "unknown", "model": "XPU-9000", "class": "gpu", "vendor": "amd", "memory_mib": 65536, "count": 8}
    node = {"name": "x", "devices": [unknown]}
    host = on("H100:8 | XPU-9000:8", in_use(busy("h", H100), node))
    assert last_taken(host).performance is None
    host.fleet = in_use(busy("h", H100, used=()), node)
    step = host.next(minutes=10_000)
    assert isinstance(step, Stay)
    assert "speed is unknown" in step.reason


def test_a_checkpoint_that_stays_in_its_cluster_keeps_the_step_there() -> None:
    for portable, expected in ((False, Stay), (True, Return)):
        host = on(
            there=_apart(busy("h", H100), busy("a", A100, used=())), checkpoint={**CHECKPOINT, "portable": portable}
        )
        host.fleet = _apart(busy("h", H100, used=()), busy("a", A100))
        assert isinstance(host.next(minutes=10_000), expected)
