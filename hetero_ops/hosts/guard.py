"""Holds a step: starts it, passes signals on, leaves nothing of it behind. A program of the standard library alone.

The step leads a process group of its own. What leaves the group and loses its parent becomes a child of this program,
which ends it with the rest: when the step is over, when it is told to, and when whoever started it is gone, even by
`kill -9`.

It is told what to start as a line of JSON on its channel; then each byte is the number of a signal for the step itself,
and SIGKILL ends everything. It answers in lines: `started PID`, or `failed ERRNO`; then `ended CODE`, negative for a
signal, once nothing is left.
"""

import ctypes
import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

# prctl(2), Linux alone: elsewhere what leaves the group of a step is not found.
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
# A manager that stops everything at once sends them to this program too, which has to outlive the grace of the step.
_HELD_OFF = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
# Python ignores these for itself.
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_SWEEP_EVERY_S = 0.005
_NEVER_STARTED = 127


def main() -> None:
    """Holds one step until nothing of it is left."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.set_inheritable(False)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    before = {each: signal.signal(each, signal.SIG_IGN) for each in _HELD_OFF}
    woken = _wake_on_children()
    order, signals = _order(channel)
    step, errno = _start(order, before)
    if errno is not None:
        _tell(channel, f"failed {errno}")
        return
    _tell(channel, f"started {step}")
    code = _hold(step, channel, woken, signals)
    if code is not None:
        _tell(channel, f"ended {code}")


def _order(channel: socket.socket) -> tuple[dict[str, Any], bytes]:
    """What to start, and signals that came with it."""
    got = b""
    while b"\n" not in got:
        more = channel.recv(65536)
        if not more:
            sys.exit(_NEVER_STARTED)
        got += more
    line, _, signals = got.partition(b"\n")
    return json.loads(line), signals


def _start(order: dict[str, Any], before: dict[signal.Signals, Any]) -> tuple[int, int | None]:
    """Starts the step: its process, and the error where there is no such program."""
    failed, failing = os.pipe()
    this = os.getpid()
    step = os.fork()
    if step == 0:
        try:
            os.setpgid(0, 0)
            _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
            if os.getppid() != this:
                os._exit(_NEVER_STARTED)
            for each, handler in before.items():
                signal.signal(each, handler)
            for each in _IGNORED_BY_PYTHON:
                signal.signal(each, signal.SIG_DFL)
            os.execvpe(order["command"][0], order["command"], order["environment"])  # noqa: S606 - what it is for
        except OSError as error:
            os.write(failing, str(error.errno).encode())
        finally:
            os._exit(_NEVER_STARTED)
    os.close(failing)
    errno = os.read(failed, 16)
    os.close(failed)
    if errno:
        os.waitpid(step, 0)
    return step, int(errno) if errno else None


def _hold(step: int, channel: socket.socket, woken: int, signals: bytes) -> int | None:
    """Waits until nothing of the step is left. Its code; `None` where nobody is there to be told."""
    while True:
        for number in signals:
            if number == signal.SIGKILL:
                return _sweep(step)
            os.kill(step, number)  # the step is not waited for yet, so the number is still its own
        signals = b""
        ready, _, _ = select.select([channel.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 1024)
            if _is_over(step):
                return _sweep(step)
        if channel.fileno() in ready:
            signals = _received(channel)
            if not signals:
                _sweep(step)
                return None


def _received(channel: socket.socket) -> bytes:
    try:
        return channel.recv(64)
    except ConnectionResetError:
        return b""


def _is_over(step: int) -> bool:
    """Whether the step itself ended; what it left behind and ended since is taken away."""
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return False
        if ended.si_pid == step:
            return True
        os.waitpid(ended.si_pid, 0)


def _sweep(step: int) -> int:
    """Ends the group and every child, until there is none; the code of the step.

    Children of those that end become children of this program, so nothing is missed, however it was started.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(step, signal.SIGKILL)  # the step is not waited for yet, so the number is still its own
    code = 0
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if ended == step:
            code = os.waitstatus_to_exitcode(status)
        elif ended == 0:
            for child in _children():
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            time.sleep(_SWEEP_EVERY_S)


def _children() -> list[int]:
    """Processes whose parent is this program."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # Counted after the name, which may hold spaces and brackets (proc(5)): state, parent.
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[1]) == os.getpid():
                found.append(int(folder.name))
    return found


def _wake_on_children() -> int:
    """A file that can be read once a child ended."""
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return woken


def _tell(channel: socket.socket, line: str) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):
        channel.sendall(f"{line}\n".encode())


def _prctl(option: int, value: int) -> None:
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main()
