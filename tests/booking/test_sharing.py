"""What teams share by rule, when they book: quotas that hold against races, budgets that are spent and begin anew."""

from pathlib import Path

import pytest

from hetero_ops import Fleet, NoFit
from hetero_ops.booking.book import book, reserve
from hetero_ops.booking.view import FleetView
from hetero_ops.errors import ReservationConflict
from hetero_ops.gap.requirement import Requirement
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import Reservation
from hetero_ops.ledger.spending import spent
from tests.placement import sample

HOUR_MS = 3_600_000
OWNER = Owner("task", "etl/1")
MIDNIGHT_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z, a Tuesday


class Desk:
    def __init__(self, path: Path, *limits: dict) -> None:
        self.now_ms = MIDNIGHT_MS
        self.fleet = sample.fleet(
            sample.node("nv", f"8x{sample.H100}"), sample.node("ada", "8xL40S"), limits=list(limits)
        )
        self.ledger = Ledger.open(str(path / "ledger.db"), clock=lambda: self.now_ms)
        self.view = self.open_view()

    def open_view(self) -> FleetView:
        return FleetView(Fleet.from_json(self.fleet.to_json()), self.ledger)

    def book(self, *choices: str, team: str = "vision") -> Reservation | NoFit:
        return book(self.view, {"choices": list(choices), "team": team}, self.ledger, OWNER)

    def race(self, asked: str) -> list[Reservation]:
        """Two place before either books, on devices of their own."""
        requirement = Requirement.parse({"accelerators": asked, "team": "vision"})
        views = [self.open_view(), self.open_view()]
        views[1].fleet.commit(views[1].fleet.place(asked))  # so that it looks elsewhere
        placed = [view.fleet.place(requirement) for view in views]
        return [reserve(view, where, requirement, OWNER) for view, where in zip(views, placed, strict=True)]


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"per": "model", "name": "H100", "devices": 6}, "the quota of team vision for model H100"),
        ({"per": "class", "name": "gpu", "devices": 7}, "the quota of team vision for class gpu"),
        ({"per": "vendor", "name": "nvidia", "devices": 7}, "the quota of team vision for vendor nvidia"),
        ({"per": "unit", "units": 7.5}, "the quota of team vision for unit"),
    ],
)
def test_a_quota_holds_against_two_who_placed_before_either_booked(tmp_path: Path, limit: dict, words: str) -> None:
    desk = Desk(tmp_path, {"team": "vision", **limit})
    with pytest.raises(ReservationConflict, match=words):
        desk.race("H100:4")
    assert len(desk.ledger.live()) == 1


def test_the_quota_of_another_team_is_another_one(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"team": "vision", "per": "model", "name": "H100", "devices": 4})
    assert isinstance(desk.book("H100:4"), Reservation)
    assert isinstance(desk.book("H100:1"), NoFit)
    assert isinstance(desk.book("H100:1", team="nlp"), Reservation)


def test_what_ended_is_given_back_to_the_quota(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"team": "vision", "per": "model", "name": "H100", "devices": 4})
    for _ in range(3):
        booked = desk.book("H100:4")
        assert isinstance(booked, Reservation)
        desk.ledger.release(booked.id)


def test_a_spent_budget_refuses_and_lets_in_again_in_the_next_window(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"team": "vision", "per": "model", "name": "H100", "device_hours": 8, "window": "day"})
    first = desk.book("H100:4")
    desk.now_ms += 2 * HOUR_MS  # 8 device-hours
    desk.ledger.release(first.id)
    refused = desk.book("H100:1")
    assert isinstance(refused, NoFit)
    assert "BUDGET" in refused.codes
    assert "8 device-hours of model H100 per day for team vision" in refused.why()
    other = desk.book("H100:1", "L40S:1")
    assert other.terms["choice"] == "L40S"  # which the budget does not count
    desk.now_ms = MIDNIGHT_MS + 24 * HOUR_MS - 6000
    assert isinstance(desk.book("H100:1"), NoFit)
    desk.now_ms += 6000
    assert isinstance(desk.book("H100:1"), Reservation)


@pytest.mark.parametrize(
    ("limit", "expected_milli"),
    [
        ({"per": "model", "name": "H100", "device_hours": 99, "window": "day"}, 4000 * 3 + 500),
        ({"per": "sku", "name": "H100-SXM5-80GB", "device_hours": 99, "window": "day"}, 4000 * 3 + 500),
        ({"per": "vendor", "name": "nvidia", "device_hours": 99, "window": "day"}, 4000 * 3 + 500 + 2000),
        ({"per": "class", "name": "gpu", "device_hours": 99, "window": "week"}, 4000 * 4 + 500 + 2000),
        ({"per": "unit", "unit_hours": 99, "window": "day"}, None),
    ],
)
def test_what_is_spent_counts_from_the_window_and_until_now(tmp_path: Path, limit: dict, expected_milli: int) -> None:
    desk = Desk(tmp_path, {"team": "vision", **limit})
    desk.now_ms -= HOUR_MS
    desk.book("H100:4")  # an hour of it before midnight, and it goes on
    desk.now_ms += 2 * HOUR_MS
    half = desk.book("H100:0.5")
    ended = desk.book("L40S:2")
    desk.book("H100:1", team="nlp")
    desk.now_ms += HOUR_MS
    desk.ledger.release(half.id)
    desk.ledger.release(ended.id)
    desk.now_ms += HOUR_MS
    (sums,) = spent(desk.ledger, desk.fleet.budgets(), desk.fleet.catalog)
    if expected_milli is None:
        unit = {sku: desk.fleet.catalog[sku].unit_milli for sku in ("H100-SXM5-80GB", "L40S")}
        expected_milli = (12_500 * unit["H100-SXM5-80GB"] + 2_000 * unit["L40S"]) // 1000
    assert sums.spent_milli == expected_milli


POOLS = {
    "apiVersion": "hetero-ops/v1",
    "kind": "Fleet",
    "clusters": [
        {
            "name": "west",
            "pools": [
                {"name": "train", "nominal": 0.75, "lend": 0.5, "takes": ["training"]},
                {"name": "burst", "nominal": 0.125, "borrow": 0.5, "takes": ["inference"]},
                {"name": "dev", "nominal": 0.125, "borrow": 0.5, "takes": ["dev"]},
            ],
            "nodes": [
                {"name": name, "labels": {"on": name}, "devices": [{"sku": "H100-SXM5-80GB", "count": 8}]}
                for name in ("n0", "n1")
            ],
        }
    ],
}


def test_two_pools_cannot_borrow_the_same_devices_at_once(tmp_path: Path) -> None:
    ledger = Ledger.open(str(tmp_path / "ledger.db"))
    views = [FleetView(Fleet.from_document(POOLS), ledger) for _ in range(2)]
    # each borrows 6 of the 8 that are lent
    asked = [
        Requirement.parse(f"H100:8 label=on:{node} kind={kind}") for node, kind in (("n0", "inference"), ("n1", "dev"))
    ]
    placed = [view.fleet.place(one) for view, one in zip(views, asked, strict=True)]
    assert [each.nodes for each in placed] == [["n0"], ["n1"]]
    reserve(views[0], placed[0], asked[0], OWNER)
    with pytest.raises(ReservationConflict, match="a share of the pools of west"):
        reserve(views[1], placed[1], asked[1], OWNER)
    refused = book(Fleet.from_document(POOLS), asked[1], ledger, OWNER)
    assert isinstance(refused, NoFit)  # 2 of those that are lent are left
    assert "RESERVED_POOL" in refused.codes


def test_what_pools_borrowed_is_lent_again_once_it_ended(tmp_path: Path) -> None:
    ledger = Ledger.open(str(tmp_path / "ledger.db"))
    view = FleetView(Fleet.from_document(POOLS), ledger)
    for _ in range(3):
        booked = book(view, "H100:8 kind=inference", ledger, OWNER)
        assert booked.holds[0]["pool"] == "burst"
        refused = book(view, "H100:8 kind=training", ledger, OWNER)
        assert isinstance(refused, NoFit)
        assert refused.codes == ["RESERVED_POOL"]
        ledger.release(booked.id)
