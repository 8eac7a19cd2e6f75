"""A connection that is lost before, in and after a commit: the change is made once, or it is not, and that is known."""

import pytest
from sqlalchemy import event, text

from hetero_ops.errors import LedgerUnusable
from hetero_ops.ledger import at_once, lasting
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.records import measured_runs, moves_of, quarantines
from hetero_ops.ledger.reservation import State
from tests.ledger.asking import asked, small_fleet
from tests.ledger.checker import check
from tests.ledger.fleets import document


@pytest.fixture
def ledger(server):
    with Ledger.open(server.empty("ledger")) as opened:
        yield opened


def lose(ledger, *, after_commit):
    """Ends the next connection that commits: the server's end, just before or just after the commit."""
    lost = []

    def committing(connection):
        if lost:
            return
        lost.append(True)
        driver = connection.connection.driver_connection
        if after_commit:
            driver.commit()
        end(ledger, driver)

    event.listen(ledger._engine, "commit", committing)
    return lost


def lose_one(ledger, monkeypatch, *, after_commit):
    """Ends the next connection with a statement that is a transaction by itself: just before it, or once it is done."""
    lost, run = [], at_once.run

    def losing(connection, statement, parameters):
        if not lost:
            lost.append(True)
            if after_commit:
                run(connection, statement, parameters)
            end(ledger, connection.connection.driver_connection)
        return run(connection, statement, parameters)

    monkeypatch.setattr(at_once, "run", losing)
    return lost


def end(ledger, driver):
    with ledger._engine.execution_options(isolation_level="AUTOCOMMIT").connect() as other:
        other.execute(text(f"SELECT pg_terminate_backend({driver.info.backend_pid}, 5000)"))


@pytest.mark.parametrize("after_commit", [False, True])
def test_reserving(ledger, monkeypatch, after_commit):
    fleet = small_fleet()
    lost = lose_one(ledger, monkeypatch, after_commit=after_commit)
    made = ledger.reserve(asked(fleet))
    assert lost
    assert ledger.live() == [made]
    account = check(ledger._engine.url.render_as_string(hide_password=False), document(2, 2))
    assert not account.faults
    assert account.counts == {"reserved": 1}


@pytest.mark.parametrize("after_commit", [False, True])
def test_reserving_alone(ledger, after_commit):
    fleet = small_fleet()
    lost = lose(ledger, after_commit=after_commit)
    made = ledger.reserve_alone(lambda _connection: asked(fleet), across_hosts=True)
    assert lost
    assert ledger.live() == [made]


@pytest.mark.parametrize("after_commit", [False, True])
def test_releasing(ledger, monkeypatch, after_commit):
    made = ledger.reserve(asked(small_fleet()))
    lost = lose_one(ledger, monkeypatch, after_commit=after_commit)
    assert ledger.release(made.id).state is State.RELEASED
    assert lost
    account = check(ledger._engine.url.render_as_string(hide_password=False), document(2, 2))
    assert not account.faults
    assert account.counts == {"reserved": 1, "released": 1}


@pytest.mark.parametrize("after_commit", [False, True])
def test_expiring(ledger, monkeypatch, after_commit):
    made = ledger.reserve(asked(small_fleet()))
    lost = lose_one(ledger, monkeypatch, after_commit=after_commit)
    assert ledger.expire(made.id, heartbeat_ms=made.heartbeat_ms, by="test").state is State.EXPIRED
    assert lost
    assert ledger.live() == []


def test_a_restart_between_two_changes_is_not_seen(ledger, server):
    made = ledger.reserve(asked(small_fleet()))
    server.restart()
    ledger.heartbeat(made.id)
    server.restart()
    assert list(ledger.live_holds(0)) == [made.id]
    assert ledger.release(made.id).id == made.id


@pytest.mark.parametrize("read", [quarantines, lambda ledger: moves_of(ledger, "plan"), measured_runs])
def test_a_restart_is_not_seen_by_who_looks(ledger, server, read):
    assert read(ledger) == []
    server.restart()
    assert read(ledger) == []


def test_a_server_that_does_not_come_back(ledger, server, monkeypatch):
    monkeypatch.setattr(lasting, "PATIENCE_S", 0.3)
    server.stop()
    try:
        with pytest.raises(LedgerUnusable, match=r"went away and did not come back: .*freed once its owner is gone"):
            ledger.reserve(asked(small_fleet()))
    finally:
        server.start()
    assert ledger.live() == []
