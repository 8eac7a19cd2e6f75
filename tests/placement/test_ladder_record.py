"""Records are plain data: JSON gives them back, and what is none is refused."""

import json
from typing import get_args

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.placement.ladder_record import (
    _KINDS,
    Failed,
    Left,
    Opened,
    Preempted,
    Record,
    Returning,
    Taken,
    Waiting,
    Yielding,
    from_dicts,
    to_dicts,
)

ONE_OF_EACH: list[Record] = [
    Opened(1, 2, ("H100", "A100"), "as H200 can never fit"),
    Waiting(2, "H100 | A100", 3_600_002, (0,), ("COUNT_SHORT",)),
    Preempted(3, ("r1", "r2"), 60_003),
    Taken(4, 1, "A100", "west", True, False, "int8", 0.5, "roofline", 3, (("latency", 220_000),), "t"),  # noqa: FBT003
    Yielding(5, "train", 9, 30_000),
    Left(6, "yielded"),
    Returning(7, 720_000, 600_000),
    Failed(8, "busy", 5000, ("COUNT_SHORT", "UNHEALTHY")),
]


def test_there_is_one_of_each() -> None:
    assert {type(record) for record in ONE_OF_EACH} == set(get_args(Record)) == set(_KINDS.values())


def test_json_gives_them_back() -> None:
    assert from_dicts(json.loads(json.dumps(to_dicts(ONE_OF_EACH)))) == tuple(ONE_OF_EACH)


def test_each_says_what_it_is() -> None:
    assert [document["record"] for document in to_dicts(ONE_OF_EACH)] == [
        "opened", "waiting", "preempted", "taken", "yielding", "left", "returning", "failed",
    ]  # fmt: skip


def test_each_is_one_line() -> None:
    assert [str(record) for record in ONE_OF_EACH] == [
        "asks for H100 | A100, as H200 can never fit",
        "waits up to 1h for H100 | A100 (COUNT_SHORT)",
        "has r1, r2 end, and waits up to 1m for it",
        "takes A100 in west: degraded, performance 0.50 (roofline), waited 0s",
        "gives way to train of priority 9",
        "left its place: yielded",
        "returns to the first choice: 12m lost by being slower, the move costs 10m",
        "busy after 5s: COUNT_SHORT, UNHEALTHY",
    ]


@pytest.mark.parametrize(
    "document", [{}, {"record": "nap"}, {"record": "left", "at_ms": 1}, {"record": "left", "at_ms": 1, "why": "x"}]
)
def test_what_is_none_is_refused(document) -> None:
    with pytest.raises(InvalidDocument, match=r"record 1 is none of a ladder .*; hand in what `to_dicts` wrote"):
        from_dicts([*to_dicts(ONE_OF_EACH[:1]), document])
