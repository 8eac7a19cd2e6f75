"""Opening a ledger: where it is, who may use it from where, and what is said to those who may not."""

import multiprocessing
import os
import socket
import sqlite3
import time
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from hetero_ops.errors import LedgerUnusable
from hetero_ops.ledger import database
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from tests.ledger.asking import asked, small_fleet


def test_a_path_is_a_file_and_its_folder_is_made(tmp_path):
    path = tmp_path / "state" / "ledger.db"
    with Ledger.open(str(path)) as ledger:
        assert ledger.url == f"sqlite:///{path}"
        assert ledger.live() == []
    assert path.exists()


def test_where_it_is_when_nobody_says(monkeypatch, tmp_path):
    monkeypatch.delenv("HETERO_OPS_LEDGER", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert database.default_url() == f"sqlite:///{tmp_path}/hetero-ops/ledger.db"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert database.default_url() == f"sqlite:///{tmp_path}/.local/state/hetero-ops/ledger.db"
    monkeypatch.setenv("HETERO_OPS_LEDGER", "postgresql://db/ledger")
    assert database.default_url() == "postgresql://db/ledger"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://ann:s3cret@db/ledger", "mysql://...: a ledger is SQLite or PostgreSQL; write sqlite:///FILE"),
        ("nonsense://ann:s3cret@db", "nonsense://...: a ledger is SQLite or PostgreSQL"),
        ("postgresql://ann:s3cret@db:port/ledger", "a ledger is SQLite or PostgreSQL"),
        ("sqlite://", "a ledger in memory forgets; write sqlite:///FILE"),
        ("sqlite:///:memory:", "a ledger in memory forgets"),
        ("postgresql://ann:s3cret@127.0.0.1:1/ledger", "the ledger cannot be opened: "),
        ("postgres://ann:s3cret@127.0.0.1:1/ledger", "the ledger cannot be opened: "),
    ],
)
def test_bad_urls(url, says):
    with pytest.raises(LedgerUnusable) as caught:
        Ledger.open(url)
    assert says in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_password_in_the_url_that_is_shown(server):
    url = server.empty("ledger").replace("tests@", "tests:s3cret@")
    with Ledger.open(url) as ledger:
        assert "s3cret" not in ledger.url
        assert "***" in ledger.url


@pytest.mark.parametrize("path", ["/proc/nowhere/ledger.db", "/dev/null/ledger.db"])
def test_a_folder_that_cannot_be_made(path):
    with pytest.raises(LedgerUnusable, match=f"{path}: the ledger cannot be opened: "):
        Ledger.open(path)


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "ledger.db"
    path.write_text("a letter " * 100)
    with pytest.raises(LedgerUnusable, match="ledger cannot be opened: file is not a database"):
        Ledger.open(str(path))


def test_a_file_of_another_host_is_refused(tmp_path):
    path = tmp_path / "ledger.db"
    Ledger.open(str(path)).close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT value FROM setting WHERE name = 'host'").fetchone() == (socket.gethostname(),)
        connection.execute("UPDATE setting SET value = 'elsewhere' WHERE name = 'host'")
    connection.close()
    with pytest.raises(LedgerUnusable, match=r"belongs to host 'elsewhere', and this is .*HETERO_OPS_LEDGER"):
        Ledger.open(str(path))


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "lustre"])
def test_a_network_file_system_is_refused(monkeypatch, tmp_path, kind):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\nserver:/home {tmp_path} {kind} rw 0 0\n")
    monkeypatch.setattr(database, "_MOUNTS", mounts)
    with pytest.raises(
        LedgerUnusable, match=f"this is a {kind} file system; set HETERO_OPS_LEDGER to a PostgreSQL URL"
    ):
        Ledger.open(str(tmp_path / "ledger.db"))


def test_the_nearest_mount_counts(monkeypatch, tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/ {tmp_path} nfs rw 0 0\n/dev/vdb {tmp_path}/disk ext4 rw 0 0\n")
    monkeypatch.setattr(database, "_MOUNTS", mounts)
    Ledger.open(str(tmp_path / "disk" / "ledger.db")).close()
    monkeypatch.setattr(database, "_MOUNTS", Path("/nowhere"))  # where nobody can say, nobody is refused
    Ledger.open(str(tmp_path / "ledger.db")).close()


def test_a_ledger_newer_than_the_program_is_refused(url):
    Ledger.open(url).close()
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(LedgerUnusable, match=r"the ledger has schema 9999, and .* upgrade hetero-ops here"):
        Ledger.open(url)


def test_a_child_of_a_fork_has_connections_of_its_own(url):
    fleet = small_fleet()
    with Ledger.open(url) as ledger:
        ours = ledger.reserve(asked(fleet))
        children = [os.fork() for _ in range(2)]
        if 0 in children:
            code = 1
            try:
                ledger.heartbeat(ours.id)
                code = 0 if [each.id for each in ledger.live()] == [ours.id] else 2
            finally:
                os._exit(code)  # not the tests' own end
        for child in children:
            for _ in range(20):
                ledger.heartbeat(ours.id)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert ledger.release(ours.id).ended_by == "owner"


def test_a_child_of_multiprocessing_books_too(url):
    with Ledger.open(url) as ledger:
        assert ledger.live() == []
        child = multiprocessing.get_context("fork").Process(target=_reserve_one, args=(ledger,))
        child.start()
        child.join()
        assert child.exitcode == 0
        assert len(ledger.live()) == 1


def test_a_child_does_not_keep_the_turn_of_its_parent(tmp_path):
    with Ledger.open(str(tmp_path / "ledger.db")) as ledger:
        with ledger.writing():
            child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
            child.start()
        try:
            begun = time.monotonic()
            ledger.reserve(asked(small_fleet()))
            assert time.monotonic() - begun < 30
        finally:
            child.kill()
            child.join()


def _reserve_one(ledger):
    ledger.reserve(asked(small_fleet(), owner=Owner.this_process()))
