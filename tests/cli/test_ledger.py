"""`hetero-ops ledger` and `report`, as a person uses them."""

import csv
import io
import json
import logging
import os

import pytest

from hetero_ops import Fleet
from hetero_ops.booking.book import book
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from tests.cli.conftest import MIXED

TASK = Owner("task", "etl/2026-12-01/train/1")


@pytest.fixture
def url(tmp_path, monkeypatch):
    monkeypatch.setenv("HETERO_OPS_LEDGER", f"sqlite:///{tmp_path / 'ledger.db'}")
    return os.environ["HETERO_OPS_LEDGER"]


@pytest.fixture
def booked(url):
    with Ledger.open(url) as ledger:
        return book(Fleet.load(MIXED), {"accelerators": "H100:4", "team": "vision"}, ledger, TASK)


@pytest.mark.usefixtures("url")
def test_an_empty_ledger_says_so(command):
    assert command("ledger", "list").out == "nothing is reserved\n"


def test_list_and_show(command, booked):
    listed = command("ledger", "list")
    assert booked.id in listed.out
    assert "4 devices" in listed.out
    assert "vision" in listed.out
    shown = command("ledger", "show", booked.id)
    assert shown.code == 0
    assert f"owner       task {TASK.key}" in shown.out
    assert "reserved by task etl" in shown.out
    read = json.loads(command("ledger", "show", booked.id, "--json").out)
    assert [event["kind"] for event in read["events"]] == ["reserved"]


def test_release_asks_and_changes_nothing_unasked(command, booked):
    asked = command("ledger", "release", booked.id)
    assert asked.code == 1
    assert "holds 4 devices" in asked.err
    assert "--yes does it" in asked.err
    assert booked.id in command("ledger", "list").out
    assert command("ledger", "release", booked.id, "--yes").code == 0
    assert command("ledger", "list").out == "nothing is reserved\n"
    assert "released" in command("ledger", "list", "--all").out
    again = command("ledger", "release", booked.id, "--yes")
    assert again.code == 64
    assert "it ended or never was" in again.err


def test_reap_withholds_what_nobody_knows_of(command, url, caplog):
    clock = [0]
    with Ledger.open(url, clock=lambda: clock[0]) as ledger:
        silent = book(Fleet.load(MIXED), "L4:1", ledger, TASK, lease_s=1)
    with caplog.at_level(logging.WARNING, "hetero_ops"):
        reaped = command("ledger", "reap")
    assert "withheld" in reaped.out
    assert silent.id in reaped.out
    assert "is withheld; look whether it still runs" in caplog.text
    assert "orphaned" in command("ledger", "list").out
    assert "kept" in command("ledger", "reap").out


def test_export(command, booked):
    rows = list(csv.DictReader(io.StringIO(command("ledger", "export", "--format", "csv").out)))
    assert [(row["id"], row["state"], row["device_milli"]) for row in rows] == [(booked.id, "reserved", "4000")]
    everything = json.loads(command("ledger", "export").out)
    assert [event["kind"] for event in everything["events"]] == ["reserved"]


def test_a_decision_is_read_back_as_it_stood(command, booked):
    told = command("explain", "--trace", booked.trace_id)
    assert told.code == 0
    assert told.out.startswith("placed on H100: 4 x H100-SXM5-80GB")
    assert f"reservation {booked.id} of task {TASK.key}: reserved" in told.out
    read = json.loads(command("explain", "--trace", booked.trace_id, "--json").out)
    assert read["decision"]["trace_id"] == booked.trace_id
    assert command("explain", "--trace", "nothing").code == 64
    assert command("explain", "H100:1", "--trace", "x", "--fleet", MIXED).code == 2


@pytest.mark.usefixtures("url")
def test_place_keeps_a_decision_when_told(command):
    placed = json.loads(command("place", "H100:80", "--fleet", MIXED, "--record", "--json").out)
    told = command("explain", "--trace", placed["trace_id"])
    assert told.code == 69
    assert told.out.startswith("impossible")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("mysql://me:secret@host/name", "a ledger is SQLite or PostgreSQL"),
        ("sqlite://", "a ledger in memory forgets"),
        ("nonsense://x:secret@y", "a ledger is SQLite or PostgreSQL"),
        ("postgresql://me:secret@localhost:1/none", "the ledger cannot be opened"),
        ("/proc/none/ledger.db", "the ledger cannot be opened"),
    ],
)
def test_a_ledger_that_cannot_be_used_is_one_line(command, given, words):
    answer = command("ledger", "list", "--ledger", given)
    assert answer.code == 65
    assert words in answer.err
    assert answer.err.count("\n") == 1
    assert "secret" not in answer.err


def test_log_lines_are_json_and_carry_the_trace_id(command, url, monkeypatch):
    monkeypatch.setenv("HETERO_OPS_LOG", "json")
    clock = [0]
    with Ledger.open(url, clock=lambda: clock[0]) as ledger:
        silent = book(Fleet.load(MIXED), "L4:1", ledger, TASK, lease_s=1)
    logger = logging.getLogger("hetero_ops")
    before = (logger.handlers, logger.level, logger.propagate)
    try:
        (line,) = command("ledger", "reap").err.splitlines()
    finally:
        logger.handlers, level, logger.propagate = before
        logger.setLevel(level)
    read = json.loads(line)
    assert (read["level"], read["trace_id"], read["reservation_id"]) == ("warning", silent.trace_id, silent.id)


@pytest.mark.usefixtures("booked")
def test_charges_and_waste(command):
    bill = command("report", "charges", "--fleet", MIXED, "--since", "2026-01-01", "--format", "json")
    lines = {(line["team"], line["sku"]): line for line in json.loads(bill.out)}
    assert ("vision", "H100-SXM5-80GB") in lines
    assert ("(idle)", "H100-SXM5-80GB") in lines
    assert command("report", "waste").out == "nothing\n"
    assert command("report", "charges", "--fleet", MIXED, "--since", "yesterday").code == 2
    assert "no cluster of the fleet is shared out" in command("report", "lending", "--fleet", MIXED).err
