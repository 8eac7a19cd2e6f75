"""Budgets of teams: what may be used in a window of time; and when a window begins."""

import json
from datetime import datetime
from typing import Any

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.limit import Budget, Window, window_start
from tests.placement import sample

OF_H100 = {"team": "vision", "per": "model", "name": "H100", "device_hours": 500, "window": "week"}
IN_UNITS = {"team": "vision", "per": "unit", "unit_hours": 200.5, "window": "month"}
QUOTA = {"team": "vision", "per": "class", "name": "gpu", "devices": 4}


def fleet(*limits: dict[str, Any]) -> Fleet:
    return sample.fleet(sample.node("nv", f"8x{sample.H100}"), sample.node("ada", "8xL40S"), limits=list(limits))


def ask(*choices: str, team: str | None = "vision") -> dict[str, Any]:
    return {"choices": list(choices), **({"team": team} if team else {})}


def budgets(decision: Placement | NoFit) -> list[tuple[Any, ...]]:
    fields = ("choice", "have", "want", "unit", "limit", "is_permanent")
    reasons = json.loads(decision.to_json())["reasons"]
    return [tuple(reason.get(field) for field in fields) for reason in reasons if reason["code"] == "BUDGET"]


def test_a_budget_of_which_nothing_is_left_refuses_and_later_choices_are_tried() -> None:
    here = fleet(OF_H100)
    here.set_spent([500_000])
    decision = here.place(ask("H100:2", "L40S:2"))
    assert (decision.verdict, decision.nodes) == ("degraded", ["ada"])
    named = "500 device-hours of model H100 per week for team vision"
    assert budgets(decision) == [("H100", 500, 500, "device-hours", named, False)]
    assert f"H100: BUDGET (500 of 500 device-hours) on nv, limit is {named}" in decision.why()
    assert here.place(ask("H100:2")).verdict == "busy"


@pytest.mark.parametrize("spent", [None, 0, 499_999])
def test_as_long_as_anything_is_left_a_step_may_begin(spent: int | None) -> None:
    here = fleet(OF_H100)
    here.set_spent([spent])
    assert here.place(ask("H100:8")).ok


def test_a_new_window_lets_steps_in_again() -> None:
    here = fleet(OF_H100)
    here.set_spent([600_000])
    refused = here.place(ask("H100"))
    here.set_spent([0])
    placed = here.place(ask("H100"))
    assert (refused.verdict, placed.verdict) == ("busy", "placed")
    assert refused.trace_id != placed.trace_id


def test_compute_units_count_devices_of_every_kind() -> None:
    here = fleet(IN_UNITS)
    here.set_spent([200_500])
    named = "200.5 unit-hours per month for team vision"
    assert budgets(here.place(ask("L40S"))) == [("L40S", 200, 201, "unit-hours", named, False)]
    assert here.place(ask("L40S", team="speech")).ok


def test_cores_alone_are_not_refused_for_a_budget() -> None:
    here = fleet(IN_UNITS)
    here.set_spent([300_000])
    assert not budgets(here.place(ask("cpu:4 nodes=2")))


def test_a_budget_of_nothing_is_never_renewed_to_anything() -> None:
    assert fleet(OF_H100 | {"device_hours": 0}).place(ask("H100")).verdict == "impossible"


def test_what_can_never_be_kept_is_named_before_what_passes() -> None:
    here = fleet(OF_H100, QUOTA)
    here.set_spent([500_000])
    decision = here.place(ask("H100:6"))
    assert decision.verdict == "impossible"
    assert "limit is 4 devices of class gpu for team vision" in decision.why()


def test_a_snapshot_keeps_what_was_spent() -> None:
    here = fleet(OF_H100, QUOTA, IN_UNITS)
    here.set_spent([500_000, None])
    again = Fleet.from_json(here.to_json())
    assert again.place(ask("H100")).trace_id == here.place(ask("H100")).trace_id
    assert again.place(ask("H100")).verdict == "busy"


def test_what_a_placement_spends_in_an_hour() -> None:
    here = fleet(OF_H100, QUOTA, IN_UNITS)
    assert here.budgets() == (
        Budget("vision", "model", "H100", 500_000, "week"),
        Budget("vision", "unit", None, 200_500, "month"),
    )

    def spends(*choices: str, team: str | None = "vision") -> list[int | None]:
        placed = here.place(ask(*choices, team=team))
        assert isinstance(placed, Placement)
        return here.spending(placed)

    of_one = spends("H100")[1]
    assert of_one is not None
    assert spends("H100:4") == [4000, 4 * of_one]
    assert spends("H100:0.25") == [250, -(-of_one // 4)]
    assert spends("L40S")[0] is None
    assert spends("H100", team="speech") == [None, None]
    assert spends("H100", team=None) == [None, None]


@pytest.mark.parametrize(
    ("spent", "message"),
    [
        ([], "0 numbers for 1 budgets"),
        ([1, 2], "2 numbers for 1 budgets"),
        ([-1], "spent: invalid value: integer `-1`"),
    ],
)
def test_what_was_spent_is_told_of_every_budget(spent: list[int], message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        fleet(OF_H100).set_spent(spent)


@pytest.mark.parametrize(
    ("limit", "path", "message"),
    [
        ({"name": "H100", "per": "model"}, "limits[0]", "one of devices, units, device_hours and unit_hours"),
        ({"name": "H100", "per": "model", "devices": 1, "units": 2}, "limits[0]", "one of devices, units"),
        ({"name": "H100", "per": "model", "units": 2}, "limits[0].per", "go with per: unit"),
        ({"per": "unit", "devices": 2}, "limits[0].per", "per unit states units or unit_hours"),
        ({"per": "unit", "name": "H100", "units": 2}, "limits[0].name", "has no name"),
        ({"per": "model", "devices": 2}, "limits[0]", "a limit has a name at its level"),
        ({"per": "unit", "units": -1}, "limits[0]", "0 or more"),
        ({"per": "unit", "unit_hours": 1}, "limits[0]", "window: day, week or month"),
        ({"per": "unit", "units": 1, "window": "day"}, "limits[0].window", "only device_hours and unit_hours"),
        ({"per": "unit", "unit_hours": 1, "window": "7d"}, "limits[0].window", "unknown variant `7d`"),
    ],
)
def test_a_limit_that_contradicts_itself_is_refused(limit: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        fleet({"team": "vision", **limit})
    assert refused.value.path == path
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("window", "now", "start"),
    [
        ("day", "2026-11-30T23:59:59", "2026-11-30T00:00:00"),
        ("day", "2026-12-01T00:00:00", "2026-12-01T00:00:00"),
        ("week", "2026-11-29T23:59:59", "2026-11-23T00:00:00"),  # a Sunday
        ("week", "2026-11-30T00:00:00", "2026-11-30T00:00:00"),  # a Monday
        ("week", "2027-01-01T12:00:00", "2026-12-28T00:00:00"),
        ("month", "2026-11-30T23:59:59", "2026-11-01T00:00:00"),
        ("month", "2028-02-29T12:00:00", "2028-02-01T00:00:00"),
        ("month", "2028-03-01T00:00:00", "2028-03-01T00:00:00"),
        ("month", "2027-02-28T23:59:59", "2027-02-01T00:00:00"),
        ("month", "2026-12-31T23:59:59", "2026-12-01T00:00:00"),
        ("month", "2027-01-01T00:00:00", "2027-01-01T00:00:00"),
    ],
)
def test_a_window_begins_by_the_calendar(window: Window, now: str, start: str) -> None:
    assert window_start(window, _seconds(now)) == _seconds(start)


def _seconds(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp())
