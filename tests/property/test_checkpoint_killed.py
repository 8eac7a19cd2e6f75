"""Whatever moment a step is killed at, what it resumes from is whole, and never older than what it said it saved.

The moments are not drawn from a clock: the child kills itself at a given one of its own operations on files, as the
interpreter reports them.
"""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hetero_ops import checkpoint
from hetero_ops.runtime.saved import Saved, newest
from tests.forked import Ended, forked

FILES = ("open", "os.", "shutil.")


@contextmanager
def fresh_directory() -> Iterator[str]:
    directory = tempfile.mkdtemp()
    os.environ["HETERO_OPS_CHECKPOINT_DIR"] = directory
    try:
        yield directory
    finally:
        del os.environ["HETERO_OPS_CHECKPOINT_DIR"]
        shutil.rmtree(directory)


def content(step: int, file: int, size: int) -> bytes:
    return bytes((step, file)) * size


def save(step: int, sizes: list[int], keep: int) -> None:
    def write(folder: Path) -> None:
        (folder / "more").mkdir()
        for file, size in enumerate(sizes):
            (folder / ("more" if file % 2 else ".") / str(file)).write_bytes(content(step, file, size))

    checkpoint.save(write, step=step, metric=-step % 3, keep=keep)


def steps_killed_at(moment: int | None, sizes: list[int], keep: int, first: int, steps: int) -> Ended:
    """Saves so many steps in a child that kills itself at an operation; says each saved step, and how many."""

    def child(say: Callable[[Any], None]) -> None:
        count = 0

        def hook(event: str, _: tuple[Any, ...]) -> None:
            nonlocal count
            if event.startswith(FILES) and event != "os.kill":
                count += 1
                if count == moment:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        for step in range(first, first + steps):
            save(step, sizes, keep)
            say(step)
        say(("moments", count))

    return forked(child)


def resumed_step(directory: str, sizes: list[int]) -> int:
    """The step that is resumed from, every byte compared; 0 where there is none."""
    found = checkpoint.resume_from()
    at_host = newest(directory, is_thorough=True)
    assert (at_host.path if at_host else None) == (Path(found) if found else None)
    if found is None:
        return 0
    step = checkpoint.manifest(found)["step"]
    for file, size in enumerate(sizes):
        stored = Path(found) / ("more" if file % 2 else ".") / str(file)
        assert stored.read_bytes() == content(step, file, size)
    return int(step)


def test_at_every_single_moment() -> None:
    sizes = [3, 0, 2000]
    with fresh_directory():
        (*_, (_, moments)) = steps_killed_at(None, sizes, 1, 1, 2).said
    assert moments > 50  # among them making, writing, syncing, renaming and removing
    killed = 0
    for moment in range(1, moments + 1):
        with fresh_directory() as directory:
            ended = steps_killed_at(moment, sizes, 1, 1, 2)
            assert ended.returncode == -signal.SIGKILL
            killed += 1
            said = max(ended.said, default=0)
            step = resumed_step(directory, sizes)
            assert said <= step <= said + 1, moment
    assert killed == moments


@settings(max_examples=40)  # each is up to five processes
@given(
    sizes=st.lists(st.integers(0, 5000), min_size=1, max_size=4),
    keep=st.integers(1, 3),
    moments=st.lists(st.integers(1, 120), min_size=1, max_size=5),
)
def test_killed_again_and_again_it_never_goes_back(sizes: list[int], keep: int, moments: list[int]) -> None:
    with fresh_directory() as directory:
        step = 0
        for moment in moments:
            ended = steps_killed_at(moment, sizes, keep, step + 1, 3)
            said = max((each for each in ended.said if isinstance(each, int)), default=step)
            now = resumed_step(directory, sizes)
            assert max(step, said) <= now <= said + 1
            step = now
        save(step + 1, sizes, keep)
        left = [path for path in Path(directory).iterdir() if path.name.startswith(".")]
        assert left == []
        assert isinstance(newest(directory), Saved)
