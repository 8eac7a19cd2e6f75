"""A step on its ladder, where the ledger or the fleet does not do what it is asked."""

import json
import sqlite3
import threading
from contextlib import closing

import pytest

from hetero_ops import Fleet, Ledger, Requirement
from hetero_ops.booking.book import book
from hetero_ops.hosts.climb import Booked, Climb, Settings
from hetero_ops.hosts.notice import Inbox
from hetero_ops.ledger.owner import Owner
from tests.hosts.processes import until
from tests.hosts.runner import fleet_of


@pytest.fixture
def file(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(file):
    with Ledger.open(str(file)) as ledger:
        yield ledger
        assert ledger.live() == []


def change(file, statement):
    with closing(sqlite3.connect(file)) as connection, connection:
        return connection.execute(statement).fetchone()


def test_a_place_is_kept_though_the_claim_for_it_cannot_be_settled(tmp_path, file, ledger, caplog):
    fleet = Fleet.load(fleet_of(tmp_path, H100_SXM5_80GB=1))
    less = {"accelerators": "gpu:1", "priority": 1, "preemptible": True}
    other = book(fleet, less, ledger, Owner("task", "less important"))

    def give_way():
        until(lambda: change(file, "select * from move"))
        change(file, "alter table move rename to move_away")
        ledger.release(other.id)

    giving = threading.Thread(target=give_way)
    giving.start()
    more = {"accelerators": "gpu:1", "priority": 9, "degrade": {"preempt": "lower", "max_wait": "1h"}}
    climb = Climb(Requirement.parse(more), fleet, ledger, Inbox(), Settings())
    found = climb.up()
    giving.join()
    assert isinstance(found, Booked)
    assert sum("what was claimed stays claimed" in line for line in caplog.messages) == 1
    climb.release(found.reservation)


def test_a_first_choice_that_would_have_to_be_cut_keeps_a_step_where_it_is(tmp_path, ledger, caplog):
    caplog.set_level("INFO", "hetero_ops.hosts")
    written = json.loads(fleet_of(tmp_path, A100_SXM4_80GB=1, L4=1).read_text())
    (cluster,) = written["clusters"]
    cluster["pools"] = [{"name": "cut", "repartition": True}]
    cluster["nodes"][0]["pool"] = "cut"
    fleet = Fleet.from_document(written)
    holder = book(fleet, "A100", ledger, Owner("task", "before"))
    asked = {
        "accelerators": "A100/3g.40gb | L4 impact=50%",
        "checkpoint": {"dir": str(tmp_path / "saves"), "grace": "1s"},
        "degrade": {"return": True},
    }
    climb = Climb(Requirement.parse(asked), fleet, ledger, Inbox(), Settings())
    booked = climb.up()
    assert booked.run.placement.choice == "L4"
    ledger.release(holder.id)
    until(lambda: climb.way_home() or "stays where it is" in caplog.text)
    assert climb.way_home() is None
    assert caplog.text.count("stays where it is") == 1
    climb.release(booked.reservation)
