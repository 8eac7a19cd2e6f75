"""Reserving, renewing and ending, on both databases."""

import pytest

from hetero_ops.errors import ReservationConflict, UnknownReservation
from hetero_ops.ledger.database import _turns_of
from hetero_ops.ledger.history import decision
from hetero_ops.ledger.reservation import State
from tests.ledger.asking import STRANGER, asked, small_fleet
from tests.ledger.checker import check
from tests.ledger.fleets import document


def test_a_reservation_from_its_beginning_to_its_end(ledger, clock, url):
    fleet = small_fleet()
    made = ledger.reserve(asked(fleet, "gpu:0.25 >=8GB", lease_s=60))
    assert made.state is State.RESERVED
    assert (made.since_ms, made.heartbeat_ms, made.lease_ms) == (clock.now_ms, clock.now_ms, 60_000)
    assert (made.device_milli, made.owner, made.ended_ms) == (250, STRANGER, None)
    assert ledger.get(made.id) == made
    assert ledger.live() == [made]
    clock.pass_s(10)
    ledger.heartbeat(made.id, checkpoint_ms=7, peak_memory_mib=8)
    ledger.heartbeat(made.id, mean_power_mw=9)
    seen = ledger.get(made.id)
    assert (seen.heartbeat_ms, seen.checkpoint_ms) == (clock.now_ms, 7)
    assert (seen.peak_memory_mib, seen.mean_power_mw) == (8, 9)
    clock.pass_s(10)
    ended = ledger.release(made.id, by="ann")
    assert ended == ledger.get(made.id)
    assert (ended.state, ended.ended_ms, ended.ended_by) == (State.RELEASED, clock.now_ms, "ann")
    assert ledger.live() == []
    assert check(url, document(2, 2)).counts == {"reserved": 1, "released": 1}
    kept, at_ms = decision(ledger, made.trace_id)
    assert (kept.trace_id, at_ms) == (made.trace_id, made.since_ms)


def test_two_fleets_that_want_the_same_device(ledger, url):
    first, second = asked(small_fleet()), asked(small_fleet())
    made = ledger.reserve(first)
    with pytest.raises(ReservationConflict, match="device 0 of n01 in west was reserved by somebody else since"):
        ledger.reserve(second)
    assert ledger.live() == [made]
    assert not check(url, document(2, 2)).faults
    ledger.release(made.id)
    ledger.reserve(second)


def test_of_several_devices_all_are_booked_or_none(ledger, url):
    fleet = small_fleet()
    one, both = asked(fleet, "gpu:1"), asked(fleet, "gpu:2")
    ledger.reserve(one)
    with pytest.raises(ReservationConflict):
        ledger.reserve(both)
    account = check(url, document(2, 2))
    assert not account.faults
    assert sum(account.in_use.values()) == 1000


def test_shares_until_the_device_is_full(ledger, url):
    fleet = small_fleet()
    third = asked(fleet, "gpu:0.3")
    for _ in range(3):
        ledger.reserve(third)
    with pytest.raises(ReservationConflict):
        ledger.reserve(third)
    account = check(url, document(2, 2))
    assert not account.faults
    assert account.in_use["device", "west", "n01", "0"] == 900


def test_a_holding_over_what_the_document_leaves_is_refused_at_once(ledger):
    fleet = small_fleet()
    one = asked(fleet)
    for take in one.holding.takes:
        object.__setattr__(take, "most", 999)
    with pytest.raises(ReservationConflict):
        ledger.reserve(one)
    assert ledger.live() == []


def test_what_does_not_live_cannot_be_renewed_or_ended(ledger):
    ended = ledger.release(ledger.reserve(asked(small_fleet())).id)
    for reservation_id in (ended.id, "never-was"):
        for change in (ledger.heartbeat, ledger.release):
            with pytest.raises(UnknownReservation, match=f"reservation {reservation_id} does not live"):
                change(reservation_id)
        assert ledger.expire(reservation_id, heartbeat_ms=ended.heartbeat_ms, by="test") is None
    with pytest.raises(UnknownReservation, match="no reservation never-was; `hetero-ops ledger list`"):
        ledger.get("never-was")
    assert ledger.get(ended.id) == ended


def test_expiring_spares_who_was_heard_of_meanwhile(ledger, clock):
    made = ledger.reserve(asked(small_fleet()))
    clock.pass_s(1)
    ledger.heartbeat(made.id)
    assert ledger.expire(made.id, heartbeat_ms=made.heartbeat_ms, by="test") is None
    assert not ledger.orphan(made.id, heartbeat_ms=made.heartbeat_ms, by="test")
    now = ledger.get(made.id)
    assert now.state is State.RESERVED
    assert ledger.expire(made.id, heartbeat_ms=now.heartbeat_ms, by="test").state is State.EXPIRED


def test_an_orphan_is_withheld_until_its_owner_is_heard_of(ledger, url):
    made = ledger.reserve(asked(small_fleet()))
    assert ledger.orphan(made.id, heartbeat_ms=made.heartbeat_ms, by="test")
    assert not ledger.orphan(made.id, heartbeat_ms=made.heartbeat_ms, by="test")
    assert ledger.get(made.id).state is State.ORPHANED
    with pytest.raises(ReservationConflict):
        ledger.reserve(asked(small_fleet()))
    ledger.heartbeat(made.id, checkpoint_ms=5)
    assert ledger.get(made.id).state is State.RESERVED
    assert ledger.get(made.id).checkpoint_ms == 5
    assert ledger.find([State.ORPHANED]) == []
    account = check(url, document(2, 2))
    assert not account.faults
    assert account.counts == {"reserved": 1, "orphaned": 1, "recovered": 1}


def test_two_ledgers_of_one_database_see_the_same(open_ledger):
    ours, theirs = open_ledger(), open_ledger()
    made = ours.reserve(asked(small_fleet()))
    assert list(theirs.live_holds(0)) == [made.id]
    assert theirs.live_holds(made.since_ms + 1) == {made.id: None}
    assert list(theirs.holds_of([made.id, "never-was"])) == [made.id]
    assert theirs.holds_of([]) == {}
    theirs.release(made.id)
    assert ours.live() == []
    assert ours.holds_of([made.id]) == {}


def test_where_no_turns_can_be_taken_it_is_reserved_without(ledger, url):
    if url.startswith("sqlite"):
        pytest.skip("its lock is what keeps writers apart, and is needed")
    turns = _turns_of(ledger._engine)
    turns.unlink(missing_ok=True)
    turns.mkdir()
    try:
        made = ledger.reserve_alone(lambda _connection: asked(small_fleet()))
        assert ledger.live() == [made]
    finally:
        turns.rmdir()
