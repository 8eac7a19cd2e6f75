"""Checkpoints inside a step: three functions that need this file and Python 3.9, and nothing else.

    found = checkpoint.resume_from()
    state = load(found) if found else fresh()
    while state.step < 200:
        train(state)
        due = checkpoint.due()
        if due:
            checkpoint.save(state.write, step=state.step)
        if due == checkpoint.ASKED:
            sys.exit(checkpoint.SAVED)

A training image that does not have this package may have a copy of this file beside its script. Without a host that
names a directory nothing is ever due, so the same loop runs by hand.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import math
import os
import re
import secrets
import shutil
import signal
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

SAVED = 85
"""The exit code of a step that saved because it was asked: start it again."""
BUSY = 75
"""The exit code of a step that cannot run now: try it later."""

ASKED = "asked"
"""What `due` says when the host asked: save, and end with `SAVED`."""
EVERY = "every"
"""What `due` says when the interval is over: save, and go on."""

MANIFEST = "checkpoint.json"
"""The file that makes a folder a checkpoint: what else is in it, with sizes and digests. It is written last."""

_FORMAT = 1
_NOTED = {"files", "step", "metric", "saved_ms", "saved_on"}
_UNFINISHED = ".saving-"
_NAME = re.compile(r"save-([0-9]{8,})(?:-step-[0-9]+)?")
_BLOCK_BYTES = 1 << 20
# What a directory may refuse; anything else that fails while saving is the step's own affair.
_IS_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = _IS_FULL | {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST}


def resume_from() -> str | None:
    """Says what to start from: the path of a whole checkpoint, or `None` to begin anew. Call it once, at the start.

    With `resume: latest` it is the newest whole one that `save` wrote, also where a launcher started the step again
    by itself; torn ones are skipped. Otherwise it is what the host chose: of a directory that is not local that is
    the directory, in which the step's own framework finds its newest checkpoint.

    From now on the signal by which the host asks is listened for.
    """
    _listening.begin()
    directory, told = _directory(), os.environ.get("HETERO_OPS_RESUME_FROM")
    mode = os.environ.get("HETERO_OPS_CHECKPOINT_RESUME", "latest" if told is None else "")
    is_ours = not told or serial(Path(told)) is not None
    if mode == "latest" and is_ours and directory and not is_remote(directory):
        newest = next(whole(directory, checked=told), None)
        if newest is not None:
            return str(newest)
    return told or None


def due() -> str:
    """Says whether to save now: `ASKED`, `EVERY`, or the empty string. Call it where the state can be saved.

    A loop that comes here rarely may miss its grace. What then is left is the last save of the interval: a short
    interval protects more than any signal.

    Of several ranks each may hear the signal at another time: broadcast what rank 0 was told.
    """
    if not _directory():
        return ""
    _listening.begin()
    if _listening.is_asked:
        return ASKED
    every = os.environ.get("HETERO_OPS_CHECKPOINT_EVERY_SECONDS")
    if every and time.monotonic() - _listening.since_s >= float(every):
        _listening.restart()
        return EVERY
    return ""


def save(
    write: Callable[[Path], object], *, step: int | None = None, metric: float | None = None, keep: int | None = 3
) -> str:
    """Saves whole or not at all, and returns the path of the new checkpoint.

    The files are written to a folder of another name, brought to the disk, listed with size and digest, and then
    renamed. Whatever ends the process meanwhile, the checkpoints before stay as they are. Only one rank should save;
    when several do, each gets a checkpoint of its own, and each is whole.

    Args:
        write: is given an empty folder and writes the state into it.
        step: how far the state is; part of the name.
        metric: how good the state is, lower is better (a loss); one that is not finite is none.
        keep: how many of the newest checkpoints stay, and the best one beside them; `None` keeps all.

    Raises:
        OSError: the directory is full, or nothing may be written to it; the message says which. Older ones stay.
        RuntimeError: no directory is set, or it is not local.
        ValueError: nothing was written.
    """
    directory = Path(_local_directory())
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _remove_unfinished(directory)
        with _unfinished_folder(directory) as folder:
            write(folder)
            _complete(folder, step, metric)
            path = _publish(folder, directory, step)
    except OSError as error:
        if error.errno not in _REFUSED:
            raise
        advice = "free some space, or keep fewer" if error.errno in _IS_FULL else "name a directory that can be written"
        what = f"no checkpoint was saved in {directory}: {error.strerror}; those before it are untouched; {advice}"
        raise OSError(error.errno, what) from error
    _listening.restart()
    if keep is not None:
        _prune(directory, max(1, keep))
    return str(path)


def whole(directory: str | os.PathLike[str], *, checked: str | None = None) -> Iterator[Path]:
    """Gives the whole checkpoints that `save` wrote to a directory, the newest first, each checked when its turn comes.

    Newest is by the number in the name, which no clock can turn back.

    Args:
        directory: where they are; it need not exist.
        checked: the path of one whose digests somebody compared just now.
    """
    for path in sorted(_numbered(directory), key=_newness, reverse=True):
        if torn(path, is_thorough=str(path) != checked) is None:
            yield path


def torn(path: str | os.PathLike[str], *, is_thorough: bool = True) -> str | None:
    """Says why a folder is no whole checkpoint of `save`; `None` when it is one.

    Args:
        path: the folder.
        is_thorough: compares digests too, which reads every file; otherwise sizes only.
    """
    folder = Path(path)
    try:
        files = manifest(folder)["files"]
        if not files:
            return f"{MANIFEST} names no file"
        for name, stated in files.items():
            file = folder / name
            if file.stat().st_size != stated["bytes"]:
                return f"{name} has {file.stat().st_size} bytes, not {stated['bytes']}"
            if is_thorough and _digest(file) != stated["sha256"]:
                return f"{name} has another content than was saved"
    except OSError as error:
        return f"{Path(error.filename or folder).name} cannot be read: {error.strerror}"
    except (KeyError, TypeError, ValueError, AttributeError):
        return f"{MANIFEST} is not as it was written"
    return None


def manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads what `save` noted of a checkpoint: `files`, `step`, `metric`, `saved_ms`, and `saved_on`.

    Raises:
        OSError: there is no manifest.
        ValueError: it cannot be understood.
    """
    noted = json.loads((Path(path) / MANIFEST).read_text(encoding="utf-8"))
    if not isinstance(noted, dict) or noted.get("format") != _FORMAT or not noted.keys() >= _NOTED:
        raise ValueError(f"{path}: no manifest of format {_FORMAT}")
    return noted


def serial(path: Path) -> int | None:
    """The number in the name of a checkpoint of `save`; `None` where it is not named as one."""
    found = _NAME.fullmatch(path.name)
    return int(found[1]) if found else None


def is_remote(directory: str) -> bool:
    """Whether a directory is a URL, as `s3://bucket/run`, and not a local path."""
    return "://" in directory


class _Listening:
    """Whether the host asked, and since when the interval runs."""

    def __init__(self) -> None:
        self.is_asked = False
        self.since_s = time.monotonic()
        self.before: Any = None
        self.process: int | None = None

    def begin(self) -> None:
        """Listens for the host's signal from now on, where there is a host; once a process."""
        if not _directory() or self.process == os.getpid():
            return
        self.restart()
        number = getattr(signal, os.environ.get("HETERO_OPS_CHECKPOINT_SIGNAL") or "SIGTERM")
        self.process, self.is_asked = os.getpid(), False
        try:
            self.before = signal.signal(number, self._hear)
        except ValueError:  # Python installs handlers in its main thread only
            message = "call resume_from() in the main thread: elsewhere the host's signal cannot be listened for"
            warnings.warn(message, RuntimeWarning, stacklevel=3)

    def restart(self) -> None:
        """The interval begins anew. Monotonic: a clock that is set must neither bring a save nor keep one away."""
        self.since_s = time.monotonic()

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self.process:  # a forked worker of the step: it has nothing to save, and must end
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.is_asked = True
        if callable(self.before) and self.before is not signal.default_int_handler:
            self.before(number, frame)


_listening = _Listening()


def _directory() -> str:
    return os.environ.get("HETERO_OPS_CHECKPOINT_DIR", "")


def _local_directory() -> str:
    directory = _directory()
    if not directory:
        raise RuntimeError("HETERO_OPS_CHECKPOINT_DIR is not set: run under a host, set it, or save when due() says so")
    if is_remote(directory):
        raise RuntimeError(f"{directory} is not local: save there with your framework, and ask only due()")
    return directory


def _numbered(directory: str | os.PathLike[str]) -> list[Path]:
    try:
        return [path for path in Path(directory).iterdir() if serial(path) is not None]
    except OSError:
        return []


def _newness(path: Path) -> tuple[int, str]:
    return serial(path) or 0, path.name


@contextlib.contextmanager
def _unfinished_folder(directory: Path) -> Iterator[Path]:
    """An empty folder that is locked for as long as its process lives, and gone afterwards unless it was renamed."""
    held = None
    while held is None:
        folder = directory / f"{_UNFINISHED}{secrets.token_hex(8)}"
        folder.mkdir()
        held = _held(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _held(folder: Path) -> int | None:
    """Locks a new folder; `None` where somebody who cleans up took it for a dead one's before."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return None
    _lock(descriptor, fcntl.LOCK_EX)
    if folder.exists():
        return descriptor
    os.close(descriptor)
    return None


def _remove_unfinished(directory: Path) -> None:
    """Removes what processes left that were killed while saving: the lock is gone with its process, on any node."""
    for folder in directory.glob(f"{_UNFINISHED}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_RDONLY)
            try:
                if _lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _lock(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how)
    except OSError:  # held by somebody, or a file system without locks: then nothing is cleaned up
        return False
    return True


def _complete(folder: Path, step: int | None, metric: float | None) -> None:
    """Brings all files to the disk, then notes what there is."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        raise ValueError("write() wrote nothing; it is given the folder to write to")
    stated: dict[str, Any] = {}
    for file in files:
        _sync(file)
        stated[str(file.relative_to(folder))] = {"bytes": file.stat().st_size, "sha256": _digest(file)}
    origin = {name: os.environ.get(f"HETERO_OPS_{name.upper()}") or None for name in ("cluster", "vendor", "model")}
    noted = {
        "format": _FORMAT,
        "step": step,
        "metric": float(metric) if metric is not None and math.isfinite(metric) else None,
        "saved_ms": time.time_ns() // 1_000_000,
        "saved_on": origin,
        "files": stated,
    }
    (folder / MANIFEST).write_text(json.dumps(noted, indent=1), encoding="utf-8")
    _sync(folder / MANIFEST)
    for inner in [path for path in folder.rglob("*") if path.is_dir()]:
        _sync(inner)
    _sync(folder)


def _publish(folder: Path, directory: Path, step: int | None) -> Path:
    """Gives the folder its name, with the next free number."""
    number = max((_newness(path)[0] for path in _numbered(directory)), default=0) + 1
    while True:
        target = directory / (f"save-{number:08d}" + ("" if step is None else f"-step-{step}"))
        try:
            folder.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            number += 1  # another process was faster
        else:
            _sync(directory)
            return target


def _prune(directory: Path, keep: int) -> None:
    """Removes older checkpoints but the best one. One that is removed by half is torn, and its number stays taken."""
    known = sorted(_numbered(directory), key=_newness, reverse=True)
    stays = {*known[:keep], best([path for path in known if torn(path, is_thorough=False) is None])}
    for path in known:
        if path not in stays:
            shutil.rmtree(path, ignore_errors=True)


def best(whole_ones: list[Path]) -> Path | None:
    """Gives the one with the lowest metric, of equal ones the newest; `None` where none has a metric."""
    known = []
    for path in whole_ones:
        with contextlib.suppress(OSError):  # another rank removes older ones too
            metric = manifest(path)["metric"]
            if metric is not None:
                known.append((metric, path))
    if not known:
        return None
    lowest = min(metric for metric, _ in known)
    return max((path for metric, path in known if metric == lowest), key=_newness)


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
