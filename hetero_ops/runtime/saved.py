"""Checkpoints in a local directory, whoever wrote them: found by what their folders look like, newest first.

| written by | a folder is one when | unfinished while |
| --- | --- | --- |
| `hetero_ops.checkpoint` | `checkpoint.json` names its files, with sizes and digests | it is named `.saving-*` |
| PyTorch DCP | `.metadata` and `__0_0.distcp` are there | `.metadata` is missing, or `.metadata.tmp` is there |
| Orbax | `_CHECKPOINT_METADATA` or `orbax.checkpoint` is there | it is named `*.orbax-checkpoint-tmp*` |

Nothing of them is imported, and nothing is unpickled.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from hetero_ops import checkpoint

Layout = Literal["hetero-ops", "dcp", "orbax"]

_DCP_METADATA = ".metadata"
_ORBAX_METADATA = "_CHECKPOINT_METADATA"
_ORBAX_COMMITTED = "commit_success.txt"
_ORBAX_MARKS = (_ORBAX_METADATA, "orbax.checkpoint", _ORBAX_COMMITTED)
_ORBAX_UNFINISHED = ".orbax-checkpoint-tmp"
_LAST_NUMBER = re.compile(r"([0-9]+)(?!.*[0-9])")
_BEST = "best"


@dataclass(frozen=True, slots=True)
class Saved:
    """A whole checkpoint.

    Attributes:
        path: where it is.
        layout: who wrote it.
        saved_ms: when it was finished, milliseconds since 1970 by the clock of whoever wrote it.
        step: how far it is; `None` where its name and manifest do not say.
        metric: how good it is, lower is better; `None` where nothing says so.
        cluster: where it was saved; `None` where that is not known, as for all but our own.
        vendor: of the devices on which it was saved; `None` where that is not known.
    """

    path: Path
    layout: Layout
    saved_ms: int
    step: int | None = None
    metric: float | None = None
    cluster: str | None = None
    vendor: str | None = None

    @property
    def key(self) -> str:
        """Tells it from others in its directory, and from one that is written in its place."""
        return f"{self.path.name}@{self.saved_ms}"


@dataclass(frozen=True, slots=True)
class Torn:
    """A folder that looks like a checkpoint and is not whole."""

    path: Path
    why: str


def newest(directory: str | Path, *, is_thorough: bool = False) -> Saved | None:
    """The newest whole checkpoint of a directory; `None` where there is none.

    Args:
        directory: a local one; it need not exist.
        is_thorough: compares digests, where there are some; otherwise sizes.
    """
    return next((found for found in look(directory, is_thorough=is_thorough) if isinstance(found, Saved)), None)


def known(directory: str | Path) -> frozenset[str]:
    """The keys of all whole checkpoints of a directory, so that later ones can be told from them."""
    return frozenset(found.key for found in look(directory) if isinstance(found, Saved))


def best(directory: str | Path) -> Saved | None:
    """The best whole checkpoint: the one named `best`, else the lowest metric, else the newest; `None` without any.

    `best` is a folder of the directory, or a link to one. Equal metrics: the newest.
    """
    named = _look_at(Path(directory) / _BEST, is_thorough=True)
    if isinstance(named, Saved):
        return named
    whole = [found for found in look(directory, is_thorough=True) if isinstance(found, Saved)]
    rated = [found for found in whole if found.metric is not None]
    # `min` takes the first of equal ones, and they come newest first.
    return min(rated, key=lambda found: found.metric or 0.0) if rated else next(iter(whole), None)


def look(directory: str | Path, *, is_thorough: bool = False) -> Iterator[Saved | Torn]:
    """Everything in a directory that is a checkpoint, or looks like one; the newest first, looked at one by one.

    Within a layout the newest is the one with the highest number in its name, whatever clocks say; several layouts in
    one directory are told apart by when their newest was finished.
    """
    root = Path(directory)
    by_layout: dict[Layout, list[Path]] = {}
    for path in (root, *_folders(root)):
        layout = None
        with suppress(OSError):  # it may not be looked into, or is gone
            layout = _layout(path)
        if layout is not None:
            by_layout.setdefault(layout, []).append(path)
    by_newness = [sorted(map(_newness, paths), reverse=True) for paths in by_layout.values()]
    for paths in sorted(by_newness, key=lambda paths: paths[0].finished_ms, reverse=True):
        for path in (each.path for each in paths):
            found = _look_at(path, is_thorough=is_thorough)
            if found is not None:
                yield found


def look_at(path: str | Path) -> Saved | Torn:
    """What one folder is, digests compared."""
    found = _look_at(Path(path), is_thorough=True)
    return found or Torn(Path(path), "no checkpoint of a known layout is there")


def _folders(root: Path) -> list[Path]:
    try:
        return [path for path in root.iterdir() if path.is_dir() and path.name != _BEST]
    except OSError:
        return []


def _layout(path: Path) -> Layout | None:
    if path.name.startswith(".saving-"):
        return None
    if checkpoint.serial(path) is not None or (path / checkpoint.MANIFEST).is_file():
        return "hetero-ops"
    if _ORBAX_UNFINISHED in path.name or any((path / mark).is_file() for mark in _ORBAX_MARKS):
        return "orbax"
    if (path / _DCP_METADATA).is_file() or any(path.glob("*.distcp")):
        return "dcp"
    return None


def _look_at(path: Path, *, is_thorough: bool) -> Saved | Torn | None:
    try:
        match _layout(path):
            case "hetero-ops":
                return _ours(path, is_thorough=is_thorough)
            case "dcp":
                return _dcp(path)
            case "orbax":
                return _orbax(path)
    except OSError as error:
        return Torn(path, f"it cannot be read: {error.strerror}")
    return None


def _ours(path: Path, *, is_thorough: bool) -> Saved | Torn:
    why = checkpoint.torn(path, is_thorough=is_thorough)
    if why is not None:
        return Torn(path, why)
    noted = checkpoint.manifest(path)
    origin = noted["saved_on"]
    return Saved(
        path, "hetero-ops", noted["saved_ms"], noted["step"], noted["metric"], origin["cluster"], origin["vendor"]
    )


def _dcp(path: Path) -> Saved | Torn:
    """Rank 0 writes `.metadata` when all ranks have written: under another name first, then renamed."""
    metadata = path / _DCP_METADATA
    if not metadata.is_file():
        return Torn(path, f"{_DCP_METADATA} is missing: not all ranks had written")
    if metadata.stat().st_size == 0 or (path / f"{_DCP_METADATA}.tmp").exists():
        return Torn(path, f"{_DCP_METADATA} was being written")
    if not any(file.stat().st_size for file in path.glob("*.distcp")):
        return Torn(path, "no *.distcp file with a content is there")
    return Saved(path, "dcp", _finished_ms(path), _number(path))


def _orbax(path: Path) -> Saved | Torn:
    """Renamed when it is whole; where names cannot change at once, marked as committed."""
    if _ORBAX_UNFINISHED in path.name:
        return Torn(path, "it was being written")
    if not (path / _ORBAX_COMMITTED).is_file() and not _is_committed(path / _ORBAX_METADATA):
        return Torn(path, f"{_ORBAX_METADATA} names no time of commit")
    return Saved(path, "orbax", _finished_ms(path), _number(path))


def _is_committed(metadata: Path) -> bool:
    """Whether the metadata says so; what does not speak of it was renamed when whole."""
    if not metadata.is_file():
        return True
    try:
        noted = json.loads(metadata.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return not isinstance(noted, dict) or noted.get("commit_timestamp_nsecs", 0) is not None


def _finished_ms(path: Path) -> int:
    """When it was finished, by the file that is written last."""
    for mark in (checkpoint.MANIFEST, _DCP_METADATA, _ORBAX_COMMITTED, _ORBAX_METADATA):
        if (path / mark).is_file():
            return (path / mark).stat().st_mtime_ns // 1_000_000
    return path.stat().st_mtime_ns // 1_000_000


def _number(path: Path) -> int | None:
    found = _LAST_NUMBER.search(path.name)
    return int(found[1]) if found else None


class _Newness(NamedTuple):
    number: int
    finished_ms: int
    path: Path


def _newness(path: Path) -> _Newness:
    number = checkpoint.serial(path)
    number = _number(path) if number is None else number
    finished_ms = 0
    with suppress(OSError):  # a step removes its older ones while others look
        finished_ms = _finished_ms(path)
    return _Newness(-1 if number is None else number, finished_ms, path)
