"""A step at a terminal: it may ask the person there, and Ctrl-C is for its runner alone."""

import subprocess
import sys

from tests.hosts.runner import fleet_of

# Plays the person: forks a runner that has a terminal of its own, answers its step, and presses Ctrl-C.
PERSON = """
import os, pty, sys
fleet, ledger, step = sys.argv[1:]
runner, terminal = pty.fork()
if runner == 0:
    line = [sys.executable, "-m", "hetero_ops.cli", "run", "gpu:1", "--fleet", fleet, "--ledger", ledger, "--"]
    os.execv(sys.executable, [*line, sys.executable, "-c", step])
seen = b""
def until(words):
    global seen
    while words not in seen:
        seen += os.read(terminal, 1000)
until(b"your name?")
os.write(terminal, b"ada\\n")
until(b"hello ada")
os.write(terminal, b"\\x03")
until(b"ended: ")
_, status = os.waitpid(runner, 0)
print(os.waitstatus_to_exitcode(status), seen.decode())
"""
STEP = """
import signal, sys, time
print("at a terminal", sys.stdin.isatty(), sys.stdout.isatty(), flush=True)
heard = []
signal.signal(signal.SIGINT, lambda *_: heard.append(1))
name = input("your name? ")
print("hello", name, flush=True)
while not heard: time.sleep(0.01)
time.sleep(0.2)
print("interrupts", len(heard), flush=True)
"""


def test_a_person_is_asked_and_interrupts_once(tmp_path):
    line = [sys.executable, "-c", PERSON, str(fleet_of(tmp_path, L4=1)), str(tmp_path / "ledger.db"), STEP]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    code, _, seen = done.stdout.partition(" ")
    assert code == "130"
    assert "at a terminal True True" in seen
    assert "this process was sent SIGINT: asked to end by SIGINT" in seen
    assert "interrupts 1" in seen
