"""Late reservations: freed where the owner is gone, withheld where nobody knows, kept otherwise."""

import logging

import pytest

from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reaping import reap
from hetero_ops.ledger.reservation import State
from tests.ledger.asking import asked, small_fleet
from tests.ledger.checker import check
from tests.ledger.fleets import document


class Told:
    """A check that says what it was told to say."""

    def __init__(self, is_gone):
        self.answer = is_gone

    def is_gone(self, key):
        return self.answer


@pytest.mark.parametrize(
    ("is_gone", "silent_s", "becomes"),
    [
        (True, 5, State.RESERVED),  # not late
        (True, 11, State.EXPIRED),
        (False, 11, State.RESERVED),
        (False, 101, State.RESERVED),  # however long: it lives
        (None, 11, State.RESERVED),
        (None, 101, State.ORPHANED),
    ],
)
def test_what_becomes_of_it(ledger, clock, caplog, is_gone, silent_s, becomes):
    made = ledger.reserve(asked(small_fleet(), owner=Owner("told", "x"), lease_s=10))
    clock.pass_s(silent_s)
    with caplog.at_level(logging.WARNING):
        reaped = reap(ledger, {"told": Told(is_gone)}, hard_limit_s=100)
    assert ledger.get(made.id).state is becomes
    assert [each.id for each in reaped.expired] == ([made.id] if becomes is State.EXPIRED else [])
    assert [each.id for each in reaped.orphaned] == ([made.id] if becomes is State.ORPHANED else [])
    assert bool(reaped.kept) == (becomes is State.RESERVED and silent_s > 10)
    assert (f"`hetero-ops ledger release {made.id}`" in caplog.text) == (becomes is State.ORPHANED)


def test_an_owner_of_a_kind_that_nobody_checks_is_one_of_whom_nothing_is_known(ledger, clock, caplog):
    ledger.reserve(asked(small_fleet(), lease_s=10))
    clock.pass_s(3601)
    assert len(reap(ledger).orphaned) == 1
    assert reap(ledger).kept[0].state is State.ORPHANED  # alerted once
    assert len(caplog.records) == 1


def test_an_orphan_is_freed_once_its_owner_is_known_to_be_gone(ledger, clock, url, caplog):
    made = ledger.reserve(asked(small_fleet(), owner=Owner("told", "x"), lease_s=10))
    clock.pass_s(101)
    assert reap(ledger, {"told": Told(None)}, hard_limit_s=100).orphaned
    assert caplog.records
    expired = reap(ledger, {"told": Told(True)}, hard_limit_s=100, by="the test").expired
    assert [(each.id, each.state, each.ended_by) for each in expired] == [(made.id, State.EXPIRED, "the test")]
    account = check(url, document(2, 2))
    assert not account.faults
    assert not account.live
