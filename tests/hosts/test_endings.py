"""However a step ends, its exit code tells the truth and nothing is left: no process, and nothing in the ledger."""

import signal
from pathlib import Path

import pytest

from hetero_ops.ledger.reaping import reap
from hetero_ops.ledger.records import withdraw
from hetero_ops.ledger.reservation import State
from tests.hosts.processes import FAMILY, family, is_there, python, until
from tests.hosts.runner import NODE, place_in

SLEEP = "import time\nwhile True: time.sleep(600)"
# A step that saves when it is asked, and one that saves and says that all is well.
SAVES = """
import sys, time
from pathlib import Path
from hetero_ops import checkpoint
checkpoint.resume_from()
Path(sys.argv[1]).touch()
while checkpoint.due() != checkpoint.ASKED: time.sleep(0.01)
checkpoint.save(lambda folder: (folder / "state").write_text("1"))
sys.exit({code})
"""
# Told by a signal, it does what is left to it; ready once its file is there.
TOLD = """
import signal, sys, time
from pathlib import Path
{handler}
Path(sys.argv[1]).touch()
while True: time.sleep(600)
"""
DEAF = "for each in (1, 2, 15): signal.signal(each, signal.SIG_IGN)"
CALM = "signal.signal(15, lambda *_: sys.exit(0))"


@pytest.fixture
def place(tmp_path):
    with place_in(tmp_path) as place:
        yield place
        assert place.live() == []


@pytest.mark.parametrize(
    ("code", "ended"),
    [("pass", 0), ("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", 137), ("os.abort()", 134), ("sys.exit(85)", 85)],
)
def test_an_end_of_its_own(place, tmp_path, code, ended):
    running = place.run("gpu:1", python(FAMILY, str(tmp_path / "pids"), code))
    assert running.wait() == ended
    assert running.report["exit_code"] == ended
    (reservation,) = place.ledger.find()
    assert (reservation.state, reservation.ended_by) == (State.RELEASED, "owner")
    assert not any(map(is_there, family(tmp_path / "pids")))


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 85), (signal.SIGINT, 85), (signal.SIGHUP, 85), (signal.SIGTERM, 0)]
)
def test_told_to_end_it_saves(place, tmp_path, number, code):
    command = python(SAVES.format(code=code), str(tmp_path / "ready"))
    running = place.run("gpu:1", command, "--checkpoint", str(tmp_path / "saves"), "--every", "10m")
    until((tmp_path / "ready").exists)
    running.signal(number)
    assert running.wait() == 85
    (tried,) = running.report["tries"]
    assert (tried["code"], tried["has_saved"], tried["lost_s"]) == (code, True, 0)
    assert tried["cause"] == ("saved" if code == 85 else "preempted")


@pytest.mark.parametrize(
    ("handler", "options", "number", "ended"),
    [
        ("", (), signal.SIGTERM, 143),
        ("", (), signal.SIGINT, 130),
        (CALM, (), signal.SIGTERM, 143),  # what ends with 0 because it was told to has not come to its end
        (CALM, ("--checkpoint", "saves", "--every", "1m"), signal.SIGTERM, 143),
        (DEAF, ("--checkpoint", "saves", "--every", "1m", "--grace", "1s"), signal.SIGTERM, 143),
    ],
)
def test_told_to_end_without_a_save(  # noqa: PLR0913, PLR0917 - a row of the table
    place, tmp_path, handler, options, number, ended
):
    command = python(TOLD.format(handler=handler), str(tmp_path / "ready"))
    running = place.run("gpu:1", command, *(str(tmp_path / each) if each == "saves" else each for each in options))
    until((tmp_path / "ready").exists)
    running.signal(number)
    assert running.wait() == ended
    assert not running.report["tries"][0]["has_saved"]


def test_ctrl_c_twice_does_not_wait_for_the_grace(place, tmp_path):
    running = place.run("gpu:1", python(TOLD.format(handler=DEAF), str(tmp_path / "ready")))
    until((tmp_path / "ready").exists)
    running.signal(signal.SIGINT)
    running.says("asked to end by SIGINT")
    running.signal(signal.SIGINT)
    assert running.wait() == 130


def test_deaf_ones_and_what_they_started_are_killed_after_the_grace(place, tmp_path):
    deaf = f"import signal\n{DEAF}\n{SLEEP}"
    command = python(FAMILY, str(tmp_path / "pids"), deaf)
    running = place.run("gpu:1", command, "--checkpoint", str(tmp_path), "--every", "1m", "--grace", "1s")
    pids = family(tmp_path / "pids")
    running.signal(signal.SIGTERM)
    assert running.wait() == 143
    assert "its grace is over: ended at once" in running.log
    assert not any(map(is_there, pids))


def test_signals_of_its_own_are_passed_on(place, tmp_path):
    handler = "signal.signal(10, lambda *_: sys.exit(10)); signal.signal(12, lambda *_: sys.exit(12))"
    running = place.run("gpu:1", python(TOLD.format(handler=handler), str(tmp_path / "ready")))
    until((tmp_path / "ready").exists)
    running.signal(signal.SIGUSR2)
    assert running.wait() == 12


def test_under_nohup_a_hangup_is_nothing(place, tmp_path):
    command = ["/bin/sh", "-c", 'touch "$0"; while [ ! -e "$0.go" ]; do sleep 0.05; done', str(tmp_path / "ready")]
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        running = place.run("gpu:1", command)
    finally:
        signal.signal(signal.SIGHUP, before)
    until((tmp_path / "ready").exists)
    running.signal(signal.SIGHUP)
    (tmp_path / "ready.go").touch()
    assert running.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_while_it_waits(place, number):
    holder = place.run("gpu:8", python(SLEEP))
    holder.says("starts: gpu")
    running = place.run("gpu:1", ["true"], "--max-wait", "1h")
    running.says("waits up to")
    running.signal(number)
    assert running.wait() == 75
    assert running.report["tries"] == []
    holder.signal(signal.SIGTERM)
    assert holder.wait() == 143


def test_told_to_end_between_two_tries(place):
    running = place.run("gpu:1", ["sh", "-c", "exit 75"], "--retries", "1")
    running.says("starts again in 30 s")
    running.signal(signal.SIGTERM)
    assert running.wait() == 75
    assert "SIGTERM: ends without a place" in running.log


def test_a_step_without_a_contract_may_say_that_it_saved(place, tmp_path):
    handler = "signal.signal(15, lambda *_: sys.exit(85))"
    running = place.run("gpu:1", python(TOLD.format(handler=handler), str(tmp_path / "ready")))
    until((tmp_path / "ready").exists)
    running.signal(signal.SIGTERM)
    assert running.wait() == 85


def test_told_to_end_at_any_moment(place):
    # A moment later each time, from the start of Python to the middle of the step: once it has begun there is a report.
    seen = set()
    for moment in range(9):
        running = place.run("gpu:1", python(SLEEP))
        if moment < 6:
            until(lambda running=running, moment=moment: _voluntary(running.process.pid) >= moment * 40 or running.log)
        else:
            words = ("asks for", "takes", "starts: gpu")[moment % 3]
            running.says(words)
        running.signal(signal.SIGINT if moment % 2 else signal.SIGTERM)
        seen.add(running.wait())
        assert place.live() == [], (moment, running.log)
    assert seen <= {-15, -2, 75, 130, 143}
    assert seen & {130, 143}


def _voluntary(pid: int) -> int:
    """Page faults so far: something that grows as a process goes on."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return int(fields[7]) // 100


def test_a_runner_that_is_killed_leaves_a_reservation_to_reap(place, tmp_path):
    command = python(FAMILY, str(tmp_path / "pids"), SLEEP)
    running = place.run("gpu:1", command, "--lease", "1")
    pids = family(tmp_path / "pids")
    running.process.kill()
    running.wait()
    until(lambda: not any(map(is_there, pids)))
    (left,) = place.live()
    until(lambda: left.is_late(place.ledger.now_ms()))
    assert [each.id for each in reap(place.ledger).expired] == [left.id]


def test_a_reservation_that_somebody_released_ends_the_step(place, tmp_path):
    running = place.run("gpu:1", python(FAMILY, str(tmp_path / "pids"), SLEEP), "--lease", "1")
    pids = family(tmp_path / "pids")
    (reservation,) = place.live()
    place.ledger.release(reservation.id, by="person")
    assert running.wait() == 137
    assert not any(map(is_there, pids))
    assert place.ledger.get(reservation.id).ended_by == "person"


def test_a_device_that_is_lost_ends_a_step_without_a_checkpoint(place):
    running = place.run("gpu:1", python(SLEEP))
    running.says("starts: gpu")
    withdraw(place.ledger, "desk", NODE, "0", reason="xid-79", by="test")
    assert running.wait() == 137
    assert running.report["tries"][0]["cause"] == "device-fault"


def test_a_ledger_that_is_gone_does_not_end_the_step(place, tmp_path):
    ready = tmp_path / "ready"
    command = ["/bin/sh", "-c", 'touch "$0"; while [ ! -e "$0.go" ]; do sleep 0.05; done; exit 4', str(ready)]
    running = place.run("gpu:1", command)
    until(ready.exists)
    with place.ledger.writing():  # whoever else wants to write waits, and gives up
        (tmp_path / "ready.go").touch()
        assert running.process.poll() is None
    assert running.wait() == 4


def test_the_output_is_the_command_s(place):
    running = place.run("gpu:1", ["/bin/sh", "-c", "printf 'a\\377\\n'; echo to-log >&2"])
    assert running.wait() == 0
    assert running.output.read_bytes() == b"a\xff\n"
    assert "to-log" in running.log
