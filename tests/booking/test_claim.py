"""Claims: open until they are settled, given up, or nobody is there who waits."""

import pytest

from hetero_ops.booking.claim import claim, claims_on, is_settled, settle
from hetero_ops.booking.quarantined import quarantined
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.records import lift, moves_of, plan_moves, withdraw
from hetero_ops.placement.excluded import DevicePlace, Excluded

HIGH = Owner("task", "high")


class Check:
    """Knows of tasks what a test says."""

    def __init__(self, *, is_gone: bool | None) -> None:
        self.answer = is_gone

    def is_gone(self, key: str) -> bool | None:
        assert key == HIGH.key
        return self.answer


@pytest.fixture
def clock():
    return [1000]


@pytest.fixture
def ledger(tmp_path, clock):
    with Ledger.open(str(tmp_path / "ledger.db"), clock=lambda: clock[0]) as ledger:
        yield ledger


def test_each_reservation_has_its_claim_until_it_is_settled(ledger):
    plan = claim(ledger, ["one", "two"], HIGH, priority=9, until_ms=5000)
    (first,) = claims_on(ledger, "one")
    assert (first.plan, first.reservation_id, first.owner, first.priority) == (plan, "one", HIGH, 9)
    assert [each.plan for each in claims_on(ledger, "two")] == [plan]
    assert claims_on(ledger, "three") == []
    assert not is_settled(ledger, first)
    settle(ledger, plan, by=HIGH)
    assert is_settled(ledger, first)
    assert claims_on(ledger, "one") == claims_on(ledger, "two") == []
    assert {each.state for each in moves_of(ledger, plan)} == {"settled"}


def test_the_oldest_claim_comes_first(ledger):
    plans = [claim(ledger, ["one"], HIGH, priority=priority, until_ms=5000) for priority in (3, 2, 4)]
    assert [each.plan for each in claims_on(ledger, "one")] == plans


@pytest.mark.parametrize(
    ("is_gone", "now_ms", "is_over"),
    [(None, 1000, False), (False, 4999, False), (True, 1000, True), (None, 5000, True), (False, 5000, True)],
)
def test_nobody_waits_for_ever(ledger, clock, is_gone, now_ms, is_over):
    claim(ledger, ["one"], HIGH, priority=9, until_ms=5000)
    (claimed,) = claims_on(ledger, "one")
    clock[0] = now_ms
    assert is_settled(ledger, claimed, {"task": Check(is_gone=is_gone)}) is is_over


def test_other_moves_are_no_claims(ledger):
    plan_moves(ledger, "tidy up", [("one", {"to": "n01"})], by="test")
    assert claims_on(ledger, "one") == []


def test_devices_in_quarantine_are_excluded_until_it_is_lifted(ledger, clock):
    withdraw(ledger, "west", "n00", "3", reason="xid-79", by="test")
    withdraw(ledger, "west", "n01", "0", reason="hot", by="test", until_ms=2000)
    withdraw(ledger, "west", "n01", "GPU-6f1c", reason="named otherwise", by="test")
    places = (DevicePlace("west", "n00", 3), DevicePlace("west", "n01", 0))
    assert quarantined(ledger) == Excluded(devices=places)
    clock[0] = 2000
    assert quarantined(ledger) == Excluded(devices=places[:1])
    lift(ledger, "west", "n00", "3", by="test")
    assert quarantined(ledger) == Excluded()
