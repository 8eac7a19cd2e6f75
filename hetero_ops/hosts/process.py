"""A step as a process: started, told signals, ended with all that it started."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, Signals
from typing import Self

_GUARD = Path(__file__).with_name("guard.py")


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended.

    Attributes:
        code: its exit code, negative for the signal that ended it; `None` where that is not known.
        errno: why it could not be started; `None` where it was.
    """

    code: int | None
    errno: int | None = None

    @property
    def shell_code(self) -> int:
        """What a shell would say: 128 and the signal, 127 for no such program, 126 for one that cannot be run."""
        if self.errno is not None:
            return 127 if self.errno == 2 else 126  # noqa: PLR2004 - ENOENT
        if self.code is None:
            return 128 + SIGKILL
        return self.code if self.code >= 0 else 128 - self.code


class StepProcess:
    """A running step. It has the standard input, output and error of this process, so nothing stands between.

    It leads a process group of its own, without a controlling terminal: Ctrl-C reaches this process alone. Nothing of
    it outlives this process (`guard.py`).
    """

    def __init__(self, guard: "subprocess.Popen[bytes]", channel: socket.socket, tell: Callable[[Exit], None]) -> None:
        """Wraps a guard that was told what to start; `start` is the way in."""
        self._guard = guard
        self._channel = channel
        self._tell = tell
        self._reader = threading.Thread(target=self._read, name="step", daemon=True)
        self._reader.start()

    @classmethod
    def start(cls, command: Sequence[str], environment: Mapping[str, str], tell: Callable[[Exit], None]) -> Self:
        """Starts a step.

        Args:
            command: a program, found by the `PATH` of its environment, and its arguments.
            environment: all of it.
            tell: is called once, in a thread of its own, when nothing of the step is left.
        """
        ours, theirs = socket.socketpair()
        line = [sys.executable, "-I", "-S", str(_GUARD), str(theirs.fileno())]
        with theirs:
            guard = subprocess.Popen(line, pass_fds=[theirs.fileno()], start_new_session=True)  # noqa: S603 - our own
        order = {"command": list(command), "environment": dict(environment)}
        ours.sendall(json.dumps(order).encode() + b"\n")
        return cls(guard, ours, tell)

    def signal(self, number: Signals) -> None:
        """Sends a signal to the step itself, not to what it started; to nobody where it has ended."""
        with suppress(OSError):
            self._channel.send(bytes([number]))

    def end(self) -> None:
        """Ends everything that the step started, at once."""
        self.signal(SIGKILL)

    def wait(self) -> None:
        """Waits until nothing of the step is left, and `tell` returned."""
        self._reader.join()

    def _read(self) -> None:
        ended, group = Exit(None), None
        with self._channel, self._channel.makefile("r", encoding="ascii") as lines:
            for word, number in map(str.split, lines):
                match word:
                    case "started":
                        group = int(number)
                    case "ended":
                        ended, group = Exit(int(number)), None
                    case "failed":
                        ended = Exit(None, errno=int(number))
        if group is not None:  # the guard was killed, and cannot say more
            with suppress(OSError):
                os.killpg(group, SIGKILL)
        self._guard.wait()
        self._tell(ended)
