"""Runs a function in a forked child, and says how that ended: for what a process may not survive, or not undo."""

import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Ended:
    """How a child ended.

    Attributes:
        returncode: as `subprocess` has it: below 0 for a signal.
        said: what it said on its way.
    """

    returncode: int
    said: list[Any] = field(default_factory=list)


def forked(function: Callable[[Callable[[Any], None]], object]) -> Ended:
    """Calls a function in a child; it is given a function by which it says things, one after the other."""
    ear, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ear)
        code = 70
        try:
            function(lambda what: _say(mouth, what))
            code = 0
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
        finally:
            os._exit(code)
    os.close(mouth)
    said = []
    with os.fdopen(ear, "rb") as heard:
        while True:
            try:
                said.append(pickle.load(heard))  # noqa: S301 - our own child's
            except EOFError:
                break
    _, status = os.waitpid(child, 0)
    return Ended(os.waitstatus_to_exitcode(status), said)


def _say(mouth: int, what: Any) -> None:
    os.write(mouth, pickle.dumps(what))  # in one piece: below the size of a pipe's atomic write
