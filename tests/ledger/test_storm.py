"""Many processes at once: nothing is given twice, nothing is left behind, every event adds up."""

import multiprocessing

import pytest
from sqlalchemy import create_engine, inspect, text

from hetero_ops.ledger import schema
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.migrations import HEAD
from tests.ledger import fleets
from tests.ledger.checker import check
from tests.ledger.storm import Weather, calm, storm


def first(url, pipe):
    with Ledger.open(url) as ledger:
        pipe.send(ledger.live())


def test_eight_open_a_ledger_that_is_not_there_yet(url):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.ledger.worker"])
    pipes = [context.Pipe() for _ in range(8)]
    users = [context.Process(target=first, args=(url, theirs)) for _, theirs in pipes]
    for user in users:
        user.start()
    for _, theirs in pipes:
        theirs.close()
    assert [ours.recv() for ours, _ in pipes] == [[]] * 8
    for user in users:
        user.join()
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        assert connection.scalars(text("SELECT version_num FROM alembic_version")).all() == [HEAD]
        assert set(inspect(connection).get_table_names()) == {*schema.METADATA.tables, "alembic_version"}
        if engine.dialect.name == "sqlite":
            assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
    engine.dispose()


def test_a_storm_leaves_nothing(url, tmp_path):
    aftermath = storm(url, fleets.write(tmp_path), Weather(processes=8, rounds=10))
    assert not aftermath.failures
    account = check(url, fleets.document())  # no waiting, no reaping: whoever ends well leaves nothing
    assert not account.faults
    assert not account.live
    assert account.counts == {"reserved": 80, "released": 80}


def test_a_storm_over_three_hosts_leaves_nothing(server, tmp_path):
    url = server.empty("ledger")
    aftermath = storm(url, fleets.write(tmp_path), Weather(processes=9, rounds=10, hosts=3))
    assert not aftermath.failures
    account = check(url, fleets.document())
    assert not account.faults
    assert account.counts == {"reserved": 90, "released": 90}


def test_a_storm_with_killings_and_a_restart(url, tmp_path, request):
    restart = request.getfixturevalue("server").restart if url.startswith("postgresql") else None
    weather = Weather(processes=8, rounds=25, killed=3, kill_within_s=2.0, restarts_s=(1.0,))
    _held_its_word(url, tmp_path, weather, restart)


@pytest.mark.thorough
@pytest.mark.timeout(3600)
def test_a_full_storm(url, tmp_path):
    aftermath = storm(url, fleets.write(tmp_path), Weather(processes=64, rounds=200))
    assert not aftermath.failures
    account = check(url, fleets.document())
    assert not account.faults
    assert account.counts == {"reserved": 64 * 200, "released": 64 * 200}


@pytest.mark.thorough
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_full_storm_with_killings_and_restarts(url, tmp_path, request, seed):
    restart = request.getfixturevalue("server").restart if url.startswith("postgresql") else None
    weather = Weather(64, 200, killed=21, kill_within_s=20.0, restarts_s=(4.0, 12.0), seed=seed)
    _held_its_word(url, tmp_path, weather, restart)


def _held_its_word(url, folder, weather, restart):
    aftermath = storm(url, fleets.write(folder), weather, restart)
    assert not aftermath.failures
    assert aftermath.killed > 0
    reaped, account = calm(url, fleets.document())
    assert not account.faults
    assert not account.live
    assert not reaped.kept
    assert not reaped.orphaned
    assert account.counts["reserved"] == account.counts["released"] + account.counts["expired"]
    assert account.counts["released"] >= aftermath.pairs
