"""A step as a process, and that nothing is left of it."""

import os
import pty
import queue
import signal
import subprocess
from pathlib import Path

import pytest

from hetero_ops.hosts.process import Exit, StepProcess
from tests.hosts.processes import FAMILY, environment, family, is_there, python, told, until


@pytest.fixture
def start():
    running = []

    def start(command, **values):
        ended = queue.SimpleQueue()
        step = StepProcess.start(command, environment(**values), ended.put)
        running.append(step)
        return step, ended

    yield start
    for step in running:
        step.end()
        step.wait()


@pytest.mark.parametrize(
    ("command", "ended", "shell_code"),
    [
        (python("pass"), Exit(0), 0),
        (python("raise SystemExit(7)"), Exit(7), 7),
        (python("import os; os.kill(os.getpid(), 9)"), Exit(-9), 137),
        (python("import os; os.abort()"), Exit(-6), 134),
        (["no-such-program"], Exit(None, errno=2), 127),
        (["/"], Exit(None, errno=13), 126),
    ],
)
def test_how_it_ended_is_told_once(start, command, ended, shell_code):
    step, told_ends = start(command)
    step.wait()
    assert told_ends.get_nowait() == ended
    assert told_ends.empty()
    assert ended.shell_code == shell_code


def test_output_is_the_step_s_own_to_the_byte(tmp_path):
    # Of two streams into one file the order stays, whatever is buffered where; bytes that are no text stay as they are.
    code = "import os\nfor n in range(300): os.write(1 + n % 2, bytes([n % 256]) * 3 + b'\\n')"
    runner = """
import os, sys
from hetero_ops.hosts.process import StepProcess
step = StepProcess.start([sys.executable, "-c", sys.argv[1]], os.environ, lambda ended: None)
step.wait()
"""
    file = tmp_path / "out"
    with file.open("wb") as out:
        subprocess.run(python(runner, code), stdout=out, stderr=out, check=True)
    assert file.read_bytes() == b"".join(bytes([n % 256]) * 3 + b"\n" for n in range(300))


def test_a_terminal_stays_one():
    runner = """
import os, sys
from hetero_ops.hosts.process import StepProcess
asks = "import sys; print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty())"
StepProcess.start([sys.executable, "-c", asks], os.environ, lambda ended: None).wait()
"""
    ours, theirs = pty.openpty()
    subprocess.run(python(runner), stdin=theirs, stdout=theirs, stderr=theirs, check=True)
    assert os.read(ours, 100).split() == [b"True"] * 3
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2])
def test_signals_arrive(start, tmp_path, number):
    code = """
import signal, sys
for each in (1, 2, 10, 12, 15):
    signal.signal(each, lambda got, _: sys.exit(100 + got))
print("ready", file=open(sys.argv[1], "w", buffering=1))
while True: signal.pause()
"""
    step, ended = start(python(code, str(tmp_path / "ready")))
    told(tmp_path / "ready")
    step.signal(number)
    assert ended.get(timeout=60) == Exit(100 + number)


def test_signals_are_in_the_step_as_they_are_here(start, tmp_path):
    code = """
import signal, sys
handled = [each for each in (1, 2, 10, 12, 15, 17) if callable(signal.getsignal(each))]
status = next(line for line in open("/proc/self/status") if line.startswith("SigIgn"))
print(handled, status.split()[1], file=open(sys.argv[1], "w"))
"""
    step, _ = start(python(code, str(tmp_path / "out")))
    step.wait()
    # Whoever started the tests may have them ignore some.
    ignored = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("SigIgn"))
    handled = [2] if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN else []
    assert told(tmp_path / "out") == [f"{handled} {ignored.split()[1]}"]


@pytest.mark.parametrize(
    ("then", "ended"),
    [
        ("pass", Exit(0)),
        ("sys.exit(3)", Exit(3)),
        ("os.kill(os.getpid(), 11)", Exit(-11)),
        ("os.killpg(0, 9)", Exit(-9)),
    ],
)
def test_nothing_is_left_when_a_step_ends(start, tmp_path, then, ended):
    step, told_ends = start(python(FAMILY, str(tmp_path / "pids"), then))
    pids = family(tmp_path / "pids")
    step.wait()
    assert told_ends.get_nowait() == ended
    assert [pid for pid in pids if is_there(pid)] == []


def test_nothing_is_left_when_it_is_ended(start, tmp_path):
    stubborn = "import signal, time\nfor each in (1, 2, 15): signal.signal(each, signal.SIG_IGN)\ntime.sleep(600)"
    step, ended = start(python(FAMILY, str(tmp_path / "pids"), stubborn))
    pids = family(tmp_path / "pids")
    assert all(map(is_there, pids))
    step.end()
    step.wait()
    assert ended.get_nowait() == Exit(-9)
    assert [pid for pid in pids if is_there(pid)] == []


def test_nothing_is_left_when_the_runner_is_killed(tmp_path):
    runner = """
import os, sys
from hetero_ops.hosts.process import StepProcess
StepProcess.start(sys.argv[1:], os.environ, lambda ended: None).wait()
"""
    line = python(runner, *python(FAMILY, str(tmp_path / "pids"), "import time; time.sleep(600)"))
    with subprocess.Popen(line) as running:
        pids = family(tmp_path / "pids")
        running.kill()
    until(lambda: not any(map(is_there, pids)))


def test_a_guard_that_is_killed_takes_the_step_with_it(start, tmp_path):
    code = """
import os, sys, time
print(os.getpid(), os.getppid(), file=open(sys.argv[1], "w", buffering=1))
time.sleep(600)
"""
    step, ended = start(python(code, str(tmp_path / "pids")))
    pid, guard = (int(word) for word in told(tmp_path / "pids")[0].split())
    os.kill(guard, signal.SIGKILL)
    step.wait()
    assert ended.get_nowait() == Exit(None)
    until(lambda: not is_there(pid))


def test_telling_an_ended_step_changes_nothing(start):
    step, _ = start(python("pass"))
    step.wait()
    step.signal(signal.SIGTERM)
    step.end()


def test_the_environment_is_what_was_given(tmp_path):
    file = tmp_path / "out"
    ended = queue.SimpleQueue()
    given = {"PATH": os.environ["PATH"], "LC_ALL": "C", "GIVEN": os.fsdecode(b"\xff\n")}
    command = ["/bin/sh", "-c", 'printf %s "$GIVEN ${LC_CTYPE-unset}" >"$0"', str(file)]
    StepProcess.start(command, given, ended.put).wait()
    assert ended.get_nowait() == Exit(0)
    assert file.read_bytes() == b"\xff\n unset"
