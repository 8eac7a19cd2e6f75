"""A warm fleet beside its ledger, from several threads."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from hetero_ops.errors import LedgerUnusable
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import Reservation
from hetero_ops.service import warm as module
from hetero_ops.service.connect import connect
from hetero_ops.service.warm import WarmFleet
from tests.service.running import MIXED


@pytest.fixture
def warm(tmp_path):
    opened = WarmFleet.load(MIXED, Ledger.open(str(tmp_path / "ledger.db")))
    yield opened
    opened.close()


def free(fleet):
    return sum(row["free_devices"] for row in fleet.overview())


def test_what_it_booked_itself_is_seen_at_once(warm, monkeypatch):
    monkeypatch.setattr(module, "FOLLOW_S", 1e9)
    before = free(warm)
    booked = [warm.book("gpu:1", Owner("task", str(number))) for number in range(3)]
    assert free(warm) == before - 3
    for each in booked:
        warm.release(each.id)
    assert free(warm) == before


def test_what_others_booked_is_seen_in_time(warm, monkeypatch):
    other = WarmFleet.load(MIXED, warm.ledger)
    before = free(warm)
    other.book("gpu:1", Owner("task", "other"))
    monkeypatch.setattr(module, "FOLLOW_S", 0)
    assert free(warm) == before - 1


def test_a_ledger_that_fails_is_looked_at_again(warm, monkeypatch):
    before, follow = free(warm), warm._loaded.view.follow
    WarmFleet.load(MIXED, warm.ledger).book("gpu:1", Owner("task", "other"))
    warm._is_behind = True
    monkeypatch.setattr(warm._loaded.view, "follow", lambda: (_ for _ in ()).throw(LedgerUnusable("gone")))
    with pytest.raises(LedgerUnusable):
        warm.place("gpu:1")
    monkeypatch.setattr(warm._loaded.view, "follow", follow)
    assert free(warm) == before - 1


def test_many_threads_book_each_device_once(warm):
    def book(number):
        return warm.book("gpu:1", Owner("task", str(number)))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(book, range(60)))
    booked = [answer for answer in answers if isinstance(answer, Reservation)]
    taken = [(hold["node"], device) for each in booked for hold in each.holds for device in hold["devices"]]
    assert len(taken) == len(set(taken)) == len(booked) > 20


def test_another_document_keeps_what_is_booked(warm):
    booked = warm.book("gpu:1", Owner("task", "a"))
    before = free(warm)
    source = module.FleetSource(warm.document, "again")
    warm.replace(source)()
    assert free(warm) == before
    warm.release(booked.id)
    assert free(warm) == before + 1


def test_connect_takes_what_is_set(tmp_path, monkeypatch):
    monkeypatch.setenv("HETERO_OPS_FLEET", MIXED)
    monkeypatch.setenv("HETERO_OPS_LEDGER", str(tmp_path / "ledger.db"))
    near = connect()
    assert isinstance(near, WarmFleet)
    near.close()
    monkeypatch.setenv("HETERO_OPS_SERVICE_URL", "http://127.0.0.1:8470")
    there = connect()
    assert there.url == "http://127.0.0.1:8470"
    there.close()
    named = connect(MIXED)
    assert isinstance(named, WarmFleet)
    named.close()
