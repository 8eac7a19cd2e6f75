"""The local host from Python: what it starts, what it tells, and what follows an end."""

import json
import logging
import os
import signal
import sqlite3
import sys
import threading

import pytest

from hetero_ops import Fleet, Ledger, Requirement
from hetero_ops.errors import CheckpointUnusable, InvalidRequirement
from hetero_ops.hosts.attempt import is_this_machine
from hetero_ops.hosts.climb import Settings
from hetero_ops.hosts.local import run
from hetero_ops.hosts.memory import MemoryKills, memory_kills
from hetero_ops.hosts.step import LocalStep
from hetero_ops.ledger.records import withdraw
from tests.hosts.processes import python
from tests.hosts.runner import fleet_of


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(str(tmp_path / "ledger.db")) as ledger:
        yield ledger
        assert ledger.live() == []


@pytest.fixture
def host(tmp_path, ledger, caplog):
    caplog.set_level(logging.INFO, "hetero_ops.hosts")

    def host(command, request="gpu:1", devices=None, names=None, retries=0, **contract):
        fleet = Fleet.load(fleet_of(tmp_path, **(devices or {"H100_SXM5_80GB": 2})))
        written = {"accelerators": request} if isinstance(request, str) else request
        if contract:
            contract = {"dir": str(tmp_path / "saves"), "every": "10m", **contract}
            written = {**written, "checkpoint": contract}
        step = LocalStep(Requirement.parse(written), tuple(command), retries, names or {})
        return run(step, fleet, ledger, Settings(lease_s=30))

    return host


# Ends each time as the next of its arguments says, and notes the devices that it saw.
NEXT = """
import os, signal, sys
from pathlib import Path
file = Path(sys.argv[1])
before = file.read_text().splitlines() if file.exists() else []
file.write_text("".join(f"{line}\\n" for line in [*before, os.environ["HETERO_OPS_DEVICES"]]))
how = sys.argv[2:][len(before)]
if how == "save":
    from hetero_ops import checkpoint
    checkpoint.save(lambda folder: (folder / "state").write_text("1"))
if how in ("save", "kill"):
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(int(how))
"""


@pytest.mark.parametrize(
    ("ends", "retries", "contract", "code", "causes"),
    [
        (["0"], 0, {}, 0, ["done"]),
        (["3", "0"], 0, {}, 3, ["user-error"]),
        (["3", "0"], 1, {}, 0, ["user-error", "done"]),
        (["3", "4", "0"], 1, {}, 4, ["user-error", "user-error"]),
        (["kill", "0"], 0, {}, 137, ["vanished"]),  # it did not say that it may be started twice
        (["kill", "3", "0"], 1, {}, 0, ["vanished", "user-error", "done"]),  # what was done to it costs no retry
        (["kill", "0"], 0, {"resume": "latest"}, 0, ["vanished", "done"]),
        (["85", "85", "0"], 0, {"resume": "latest"}, 0, ["saved", "saved", "done"]),
        (["save", "save", "0"], 0, {"resume": "latest"}, 0, ["vanished", "vanished", "done"]),
        (["3", "0"], 0, {"resume": "latest"}, 3, ["user-error"]),
        (["85"], 0, {}, 85, ["saved"]),
        (["75"], 0, {}, 75, ["busy"]),
    ],
)
def test_what_follows_an_end(  # noqa: PLR0913, PLR0917 - a row of the table
    host, tmp_path, ends, retries, contract, code, causes
):
    report = host(python(NEXT, str(tmp_path / "devices"), *ends), retries=retries, **contract)
    assert report.exit_code == code
    assert [tried.cause for tried in report.tries] == causes


def test_a_later_try_starts_from_what_was_saved(host, tmp_path):
    command = python(NEXT, str(tmp_path / "devices"), "save", "0")
    began, then = host(command, resume="latest").tries
    assert began.resumed_from is None
    assert then.resumed_from == str(tmp_path / "saves" / "save-00000001")


def test_a_lost_device_is_not_given_again(host, tmp_path):
    code = """
import os, sys, time
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.records import withdraw
device = os.environ["HETERO_OPS_DEVICES"]
if device == "1": sys.exit(0)
with Ledger.open(sys.argv[1]) as ledger: withdraw(ledger, "desk", "n00", device, reason="xid-79", by="test")
time.sleep(600)
"""
    report = host(python(code, str(tmp_path / "ledger.db")), resume="latest")
    assert [(tried.cause, tried.devices) for tried in report.tries] == [("device-fault", (0,)), ("done", (1,))]
    assert report.tries[0].why == "a device of it failed (lost, xid-79)"


def test_a_device_in_quarantine_is_not_given(host, ledger):
    withdraw(ledger, "desk", "n00", "0", reason="hot", by="test")
    report = host(["true"])
    assert [tried.devices for tried in report.tries] == [(1,)]


def test_a_step_sees_its_choice(host, tmp_path):
    code = "import json, os, sys; json.dump([dict(os.environ), sys.argv[2:]], open(sys.argv[1], 'w'))"
    with_ = {"env": {"NOTE": "mine", "HETERO_OPS_MODEL": "not mine"}, "args": ["--dtype", "int8"]}
    host(python(code, str(tmp_path / "seen")), {"choices": [{"models": ["H100"], "with": with_}]}, grace="40s")
    seen, arguments = json.loads((tmp_path / "seen").read_text())
    assert arguments == ["--dtype", "int8"]
    assert seen["NOTE"] == "mine"
    assert seen["HETERO_OPS_MODEL"] == "H100 SXM"  # what was granted is not a choice's to say
    assert seen["CUDA_VISIBLE_DEVICES"] == "0"
    assert seen["HETERO_OPS_CHECKPOINT_DIR"] == str(tmp_path / "saves")
    assert (seen["HETERO_OPS_GRACE_SECONDS"], seen["HETERO_OPS_RESUME_FROM"]) == ("40", "")
    assert seen["PATH"] == os.environ["PATH"]


def test_variables_that_would_fight_are_removed(host, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    code = (
        "import os, sys; open(sys.argv[1], 'w').write(repr([v for v in os.environ if v.endswith('VISIBLE_DEVICES')]))"
    )
    host(python(code, str(tmp_path / "seen")), "MI300X", devices={"MI300X": 1})
    assert (tmp_path / "seen").read_text() == "['ROCR_VISIBLE_DEVICES']"


def test_placeholders_are_filled(host, tmp_path):
    code = "import os, sys; open(sys.argv[1], 'w').write(os.environ['HETERO_OPS_CHECKPOINT_DIR'])"
    host(python(code, str(tmp_path / "seen")), dir=str(tmp_path / "{run_id}"), names={"run_id": "7"})
    assert (tmp_path / "seen").read_text() == str(tmp_path / "7")
    with pytest.raises(InvalidRequirement, match="unknown placeholder"):
        host(["true"], dir="runs/{task_id}")


def test_a_checkpoint_that_cannot_be_used_gives_everything_back(host):
    with pytest.raises(CheckpointUnusable, match="cannot be resumed from"):
        host(["true"], resume="save-00000007")


def test_a_checkpoint_that_is_not_portable_keeps_its_step(host, tmp_path, ledger):
    there = {"request": "H100 | MI300X", "devices": {"H100_SXM5_80GB": 1, "MI300X": 1}, "portable": False}
    began = host(python(NEXT, str(tmp_path / "devices"), "save", "0"), **there)
    assert [tried.devices for tried in began.tries] == [(0,), (0,)]
    withdraw(ledger, "desk", "n00", "0", reason="xid-79", by="test")
    again = host(["true"], **there)
    assert (again.exit_code, again.tries) == (75, ())
    elsewhere = host(["true"], **{**there, "portable": True})
    assert [tried.choice for tried in elsewhere.tries] == ["MI300X"]


def test_a_directory_that_is_not_local_is_passed_on(host, tmp_path, caplog):
    code = "import os, sys; open(sys.argv[1], 'w').write(os.environ['HETERO_OPS_RESUME_FROM'])"
    report = host(python(code, str(tmp_path / "seen")), dir="s3://runs/7", aliases=["sagemaker"])
    assert (tmp_path / "seen").read_text() == "s3://runs/7"
    assert report.tries[0].resumed_from == "s3://runs/7"
    assert not any("link it" in line for line in caplog.messages)


def test_a_folder_that_is_expected_elsewhere_is_told(host, tmp_path, caplog):
    host(["true"], aliases=["sagemaker"])
    expected = f"the step expects its checkpoints in /opt/ml/checkpoints: link it to {tmp_path / 'saves'}"
    assert expected in caplog.messages


def test_several_nodes_are_refused_before_anything_is_booked(host, ledger):
    for words in ("nodes=2", "nodes=1..2"):
        with pytest.raises(InvalidRequirement, match=rf"{words}: this host starts one process"):
            host(["true"], f"gpu:2 {words}")
    assert ledger.find() == []


def test_warnings_are_told_once(host, caplog):
    host(["true", "torchrun"], grace="60s")
    assert sum("torchrun kills its workers" in line for line in caplog.messages) == 1


class Answers(logging.Handler):
    """Lets a step go on once a line with these words was logged."""

    def __init__(self, words, file):
        super().__init__()
        self.words, self.file = words, file

    def emit(self, record):
        if self.words in record.getMessage():
            self.file.touch()


def test_how_a_step_ended_is_told_though_the_ledger_is_away(host, tmp_path, ledger, caplog):
    code = """
import pathlib, sqlite3, sys, time
with sqlite3.connect(sys.argv[1]) as ledger:
    ledger.execute("alter table quarantine rename to quarantine_away")
    ledger.execute("alter table event rename to event_away")
while not pathlib.Path(sys.argv[2]).exists(): time.sleep(0.02)
sys.exit(4)
"""
    log, answers = logging.getLogger("hetero_ops.hosts"), Answers("the ledger cannot be reached", tmp_path / "go")
    log.addHandler(answers)
    try:
        report = host(python(code, str(tmp_path / "ledger.db"), str(tmp_path / "go")))
    finally:
        log.removeHandler(answers)
    assert report.exit_code == 4
    assert sum("the ledger cannot be reached, the step goes on" in line for line in caplog.messages) == 1
    assert sum("could not be given back" in line for line in caplog.messages) == 1
    with sqlite3.connect(tmp_path / "ledger.db") as away:
        away.execute("alter table event_away rename to event")
    ledger.release(report.tries[0].reservation_id)


def test_a_thread_may_run_a_step(host):
    reports = []
    thread = threading.Thread(target=lambda: reports.append(host(["true"])))
    thread.start()
    thread.join()
    assert reports[0].exit_code == 0


def test_handlers_of_the_process_are_as_before(host):
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)}
    host(["true"])
    assert {each: signal.getsignal(each) for each in before} == before


def test_a_report_is_json(host):
    report = host(["true"])
    read = json.loads(json.dumps(report.to_dict()))
    assert [each["record"] for each in read["records"]] == ["opened", "taken"]
    assert read["tries"][0]["lost_s"] is None


def test_names_of_this_machine(monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "nv-01.example.org")
    assert is_this_machine("nv-01")
    assert is_this_machine("nv-01.other.org")
    assert not is_this_machine("nv-02")


@pytest.mark.parametrize(
    ("looks", "is_any"),
    [
        ([(0, 3)], False),
        ([(0, 3), (1, 4)], True),
        ([(0, 3), (1, 4), (20, 4)], True),
        ([(0, 3), (1, 4), (20, 4), (40, 4), (60, 4)], False),  # it was another, long ago
        ([(0, 3), (40, 3), (60, 4)], True),
        ([(0, 3), (1000, 4)], True),  # nobody looked in between
        ([(0, None), (1, None)], None),
    ],
)
def test_only_late_memory_kills_may_have_been_of_the_step(looks, is_any):
    counts = iter([count for _, count in looks])
    kills = MemoryKills(lambda: next(counts))
    assert [kills.look(at_s) for at_s, _ in looks][-1] is is_any


def test_memory_kills_are_counted_where_the_kernel_does():
    counted = memory_kills()
    assert (counted is None) == (sys.platform != "linux")
