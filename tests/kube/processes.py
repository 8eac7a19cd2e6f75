"""Child processes that never outlive the tests: each in a process group of its own, stopped newest first.

Where the tests themselves are killed nobody stops the children; so each ends when its stdin, a pipe, does.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

PATIENCE_S = 10.0


class Processes:
    """The children of one cluster, by name. What they print goes to `NAME.log` in the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._order: list[str] = []
        atexit.register(self.stop_all)

    def start(self, name: str, command: list[str], environment: Mapping[str, str] | None = None) -> None:
        assert name not in self._running, f"{name} runs already"
        if name not in self._order:  # one that is started again keeps its place: others still need it when they stop
            self._order.append(name)
        with self.log(name).open("ab") as log:
            self._running[name] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, process_group=0
            )

    def log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def pids(self) -> dict[str, int]:
        return {name: child.pid for name, child in self._running.items()}

    def check(self, name: str) -> None:
        """Raise, with the end of its log, where a child has ended by itself."""
        code = self._running[name].poll()
        if code is not None:
            end = self.log(name).read_text(errors="replace")[-2000:]
            raise RuntimeError(f"{name} ended with {code}:\n{end}")

    def stop(self, name: str, *, gently: bool = True) -> None:
        child = self._running.pop(name)
        assert child.stdin
        for sent in [signal.SIGTERM, signal.SIGKILL] if gently else [signal.SIGKILL]:
            if not _ended(child):
                os.killpg(child.pid, sent)
                with contextlib.suppress(TimeoutError):
                    wait_for(f"the end of {name}", lambda: _ended(child), PATIENCE_S)
        if child.returncode is None:  # while it is not reaped its number is nobody else's
            os.killpg(child.pid, signal.SIGKILL)  # what the child itself had started and left
        child.wait()
        child.stdin.close()

    def stop_all(self) -> None:
        for name in sorted(self._running, key=self._order.index, reverse=True):
            self.stop(name)
        atexit.unregister(self.stop_all)


def _ended(child: subprocess.Popen[bytes]) -> bool:
    """Look without reaping."""
    look = os.WEXITED | os.WNOWAIT | os.WNOHANG
    return child.returncode is not None or os.waitid(os.P_PID, child.pid, look) is not None


def wait_for(what: str, true: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait until something is true; say what never came."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.02)
