"""Booking: place, reserve, place anew where somebody was faster, and free what the dead hold before saying busy."""

import multiprocessing

import pytest

from hetero_ops import Fleet, NoFit
from hetero_ops.booking import book as booking
from hetero_ops.booking.book import book, reserve
from hetero_ops.booking.view import FleetView
from hetero_ops.errors import CutFirst, InvalidRequirement, ReservationConflict
from hetero_ops.gap.requirement import Requirement
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import Reservation, State
from tests.ledger.asking import STRANGER, small_fleet
from tests.ledger.clock import Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ledger(tmp_path, clock):
    with Ledger.open(str(tmp_path / "ledger.db"), clock=clock) as opened:
        yield opened


def test_a_booking_holds_what_was_placed_and_says_what_was_granted(ledger):
    fleet = small_fleet()
    booked = book(fleet, "gpu:2 bf16", ledger, STRANGER, lease_s=7)
    assert isinstance(booked, Reservation)
    assert booked.lease_ms == 7000
    assert (booked.device_milli, booked.nodes) == (2000, ["n01"])
    assert booked.terms["granted"][0]["sku"] == "A100-SXM4-40GB"
    assert (booked.terms["verdict"], booked.terms["precision"]) == ("placed", "bf16")
    assert ledger.live() == [booked]
    assert fleet.place("A100:2").ok  # the caller's fleet is as it was


def test_a_second_one_goes_elsewhere_and_a_third_is_told_why_not(ledger):
    first, second = (book(small_fleet(), "gpu:2", ledger, STRANGER) for _ in range(2))
    assert [*first.nodes, *second.nodes] == ["n01", "n00"]
    third = book(small_fleet(), "gpu:2", ledger, STRANGER)
    assert isinstance(third, NoFit)
    assert third.verdict == "busy"
    assert len(ledger.live()) == 2
    impossible = book(small_fleet(), "gpu:64", ledger, STRANGER)
    assert isinstance(impossible, NoFit)
    assert impossible.verdict == "impossible"


def test_what_is_released_is_free_for_a_view_that_was_there_before(ledger):
    view = FleetView(small_fleet(1, 1), ledger)
    first = book(view, "gpu:1", ledger, STRANGER)
    assert isinstance(book(view, "gpu:1", ledger, STRANGER), NoFit)
    ledger.release(first.id)
    assert book(view, "gpu:1", ledger, STRANGER).holds == first.holds


def test_what_the_dead_hold_is_freed_before_it_says_busy(ledger, clock):
    fleet = small_fleet(1, 1)
    child = multiprocessing.get_context("fork").Process(target=_book_and_end, args=(ledger, fleet))
    child.start()
    child.join()
    (left,) = ledger.live()
    assert isinstance(book(fleet, "gpu:1", ledger, STRANGER), NoFit)  # its lease lasts
    clock.pass_s(100)
    booked = book(fleet, "gpu:1", ledger, Owner("told", "x"))
    assert isinstance(booked, Reservation)
    assert (ledger.get(left.id).state, ledger.get(left.id).ended_by) == (State.EXPIRED, "told x")


def _book_and_end(ledger, fleet):
    book(fleet, "gpu:1", ledger, Owner.this_process())


def test_what_the_living_hold_is_not_freed_however_late(ledger, clock):
    fleet = small_fleet(1, 1)
    book(fleet, "gpu:1", ledger, Owner.this_process())
    clock.pass_s(1_000_000)
    assert isinstance(book(fleet, "gpu:1", ledger, STRANGER), NoFit)


class Faster(FleetView):
    """A view behind which somebody else takes the best, right after it looked, so many times."""

    def __init__(self, fleet, ledger, times):
        super().__init__(fleet, ledger)
        self.times = times
        self.rival = FleetView(Fleet.from_json(fleet.to_json()), ledger)

    def follow(self, connection=None):
        super().follow(connection)
        if connection is None and getattr(self, "times", 0) > 0:
            self.times -= 1
            self.rival.follow()
            reserve(self.rival, self.rival.fleet.place("gpu:1"), Requirement.parse("gpu:1"), STRANGER)


def test_who_was_slower_is_placed_anew(ledger):
    view = Faster(small_fleet(), ledger, times=1)
    booked = book(view, "gpu:1", ledger, STRANGER)
    assert isinstance(booked, Reservation)
    assert len(ledger.live()) == 2
    assert view.crowd == 1  # the next does not try in vain first
    view.times = 1
    assert isinstance(book(view, "gpu:1", ledger, STRANGER), Reservation)
    assert view.times == 1


def test_who_was_slower_for_the_last_one_is_told_that_it_is_busy(ledger):
    view = Faster(small_fleet(1, 1), ledger, times=1)
    answer = book(view, "gpu:1", ledger, STRANGER)
    assert isinstance(answer, NoFit)
    assert len(ledger.live()) == 1


def test_it_gives_up_in_the_end(ledger, monkeypatch):
    tries = []

    def refuse(asked):
        tries.append(asked)
        raise ReservationConflict("device 0 of n01 in west was reserved by somebody else since; place again")

    monkeypatch.setattr(booking, "ATTEMPTS", 3)
    monkeypatch.setattr(ledger, "reserve", refuse)
    monkeypatch.setattr(ledger, "reserve_alone", lambda ask, *, across_hosts: refuse((ask(None), across_hosts)))
    with pytest.raises(ReservationConflict, match="device 0 of n01"):
        book(small_fleet(), "gpu:1", ledger, STRANGER)
    assert [across_hosts for _, across_hosts in tries[1:]] == [False, True, True]
    assert len(tries) == 4
    assert ledger.live() == []


def test_a_requirement_that_nobody_understands(ledger):
    with pytest.raises(InvalidRequirement):
        book(small_fleet(), "gpu:many", ledger, STRANGER)


def test_what_has_to_be_cut_first_is_not_booked(ledger):
    node = {"name": "n", "pool": "p", "devices": [{"sku": "A100-SXM4-40GB", "count": 1}]}
    clusters = [{"name": "west", "pools": [{"name": "p", "repartition": True}], "nodes": [node]}]
    fleet = Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters})
    with pytest.raises(CutFirst, match="device 0 of n has to be cut into partitions first"):
        book(fleet, "A100/1g.5gb", ledger, STRANGER)
    assert ledger.live() == []
