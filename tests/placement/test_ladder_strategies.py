"""The four ways to degrade, each of which leaves its records."""

from collections.abc import Callable
from typing import Any

import pytest

from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.ladder_record import Taken
from hetero_ops.placement.ladder_step import Gone, Preempt, Run, Wait, Wanted, Yield
from tests.placement.climbing import Host, busy, in_use

A100 = "A100-SXM4-80GB"
FULL, FREE = in_use(busy("h")), in_use(busy("h", used=()))
OTHER = in_use(busy("h"), busy("a", A100, used=()))
LOWER = in_use(busy("h", preemptible=True, priority=1))
SMALL = in_use(busy("a", A100, count=2, used=()))


def waits(host: Host) -> None:
    assert isinstance(host.next(), Wait)
    host.fleet = FREE
    assert isinstance(host.next(minutes=12), Run)


def goes_on(host: Host) -> None:
    waiting = host.next()
    assert isinstance(waiting, Wait)
    assert isinstance(host.at(waiting.until_ms), Run)


def takes(host: Host) -> None:
    assert isinstance(host.next(), Run)


def preempts(host: Host) -> None:
    asked = host.next()
    assert isinstance(asked, Preempt)
    # the other one, which agreed to it, saves and goes
    other = Host({"accelerators": "H100:8 wait=1h", "priority": 1, "degrade": {"yield": True}}, FREE)
    assert isinstance(other.next(), Run)
    assert isinstance(other.next(Wanted("us", host.requirement.priority or 0)), Yield)
    other.fleet = FULL
    assert isinstance(other.next(Gone("yielded")), Wait)
    assert other.lines[2:] == ["gives way to us of priority 5", "left its place: yielded"]
    host.fleet = FREE
    assert isinstance(host.next(minutes=1), Run)


STRATEGIES: list[tuple[Any, Fleet, Callable[[Host], None], list[str]]] = [
    (
        "H100:8 wait=30m | A100:8",
        FULL,
        waits,
        [
            "asks for H100",
            "waits up to 30m for H100 (COUNT_SHORT)",
            "takes H100 in west: as preferred, waited 12m",
        ],
    ),
    (
        "H100:8 wait=30m | A100:8 impact=10% slo=latency:200ms",
        OTHER,
        goes_on,
        [
            "asks for H100",
            "waits up to 30m for H100 (COUNT_SHORT)",
            "asks for A100, having waited 30m for H100",
            "takes A100 in west: degraded, performance 0.34 (roofline), waited 30m",
        ],
    ),
    (
        {
            "accelerators": "A100:2 bf16 impact=25% slo=throughput:40",
            "footprint": {"weights": "300GB@bf16"},
            "quantizable": ["int8"],
        },
        SMALL,
        takes,
        [
            "asks for A100 | A100 (int8)",
            "takes A100 (int8) in west: degraded, performance 1.73 (roofline), waited 0s",
        ],
    ),
    (
        {"accelerators": "H100:8", "priority": 5, "degrade": {"preempt": "lower"}},
        LOWER,
        preempts,
        [
            "asks for H100",
            "has on h end, and waits up to 5m for it",
            "takes H100 in west: as preferred, waited 1m",
        ],
    ),
]
TAKEN = [
    {"is_degraded": False, "quantize": None, "slo_micro": ()},
    {"is_degraded": True, "quantize": None, "slo_micro": (("latency", 220_000),)},
    {"is_degraded": True, "quantize": "int8", "is_derived": True, "slo_micro": (("throughput", 30_000_000),)},
    {"is_degraded": False, "quantize": None, "slo_micro": ()},
]
NAMES = ["wait for the preferred", "accept an alternative", "quantize and reduce", "checkpoint and preempt"]


@pytest.mark.parametrize(
    ("written", "there", "act", "lines", "record"),
    [(*row, record) for row, record in zip(STRATEGIES, TAKEN, strict=True)],
    ids=NAMES,
)
def test_each_leaves_its_records(written, there, act, lines, record) -> None:
    host = Host(written, there)
    act(host)
    assert host.lines == lines
    last = host.history[-1]
    assert isinstance(last, Taken)
    assert {name: getattr(last, name) for name in record} == record
