"""Whose a reservation is, and whether that owner still is."""

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Field 22 of /proc/PID/stat, counted after the name, which may hold spaces and brackets (proc(5)).
_START_TIME_AFTER_NAME = 19
_PARTS_OF_PROCESS = 4


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a reservation is.

    Attributes:
        kind: what sort of thing owns it: `process`, `pod`, `task`, or a kind that somebody else checks.
        key: which one, in words that its check understands.
    """

    kind: str
    key: str

    @classmethod
    def this_process(cls) -> Self:
        """The calling process: its host, the boot of that host, its number and when it began."""
        pid = os.getpid()
        return cls("process", f"{socket.gethostname()} {_boot_id()} {pid} {_start_time(pid)}")

    def __str__(self) -> str:
        parts = self.key.split(" ")
        if self.kind == "process" and len(parts) == _PARTS_OF_PROCESS:
            return f"process {parts[2]} on {parts[0]}"
        return f"{self.kind} {self.key}"


class OwnerCheck(Protocol):
    """Tells whether an owner of one kind is gone."""

    def is_gone(self, key: str) -> bool | None:
        """Whether the owner is known to be gone; `None` where that cannot be told from here."""


class Processes:
    """Processes of this host. Of those of another host nothing can be told."""

    def is_gone(self, key: str) -> bool | None:
        """Whether that process ended. A number that another process got since is told by its start time."""
        try:
            host, boot, pid, began = key.split(" ")
            number = int(pid)
        except ValueError:
            return None
        if host != socket.gethostname() or not _boot_id():
            return None
        return boot != _boot_id() or _start_time(number) != began


class Pods:
    """Pods of a Kubernetes cluster, by `namespace/name uid`: a pod that was made anew under its name is another one."""

    _OVER = frozenset({"Succeeded", "Failed"})

    def __init__(self, read: Callable[[str, str], Mapping[str, Any] | None]) -> None:
        """Wraps a reader of pods.

        Args:
            read: gives the pod of a namespace and name as the API has it, `None` where there is none; whatever it
                raises means that nothing can be told.
        """
        self._read = read

    def is_gone(self, key: str) -> bool | None:
        """Whether that pod ended or is there no more."""
        place, _, uid = key.partition(" ")
        namespace, _, name = place.partition("/")
        try:
            pod = self._read(namespace, name)
        except Exception:  # noqa: BLE001 - an API that does not answer says nothing of the pod
            return None
        if pod is None:
            return True
        return pod["metadata"]["uid"] != uid or pod.get("status", {}).get("phase") in self._OVER


class Tasks:
    """Task instances of a workflow engine, by a key that its reader understands."""

    def __init__(self, is_over: Callable[[str], bool | None]) -> None:
        """Wraps a reader of states.

        Args:
            is_over: whether the try that a key names has ended; `None` where that is not known. Whatever it raises
                means that nothing can be told.
        """
        self._is_over = is_over

    def is_gone(self, key: str) -> bool | None:
        """Whether that try of the task has ended."""
        try:
            return self._is_over(key)
        except Exception:  # noqa: BLE001 - an engine that does not answer says nothing of the task
            return None


CHECKS: Mapping[str, OwnerCheck] = {"process": Processes()}
"""The checks that need nothing but this machine. Hosts pass those of their own."""


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _start_time(pid: int) -> str | None:
    """When a process began, in clock ticks since boot; `None` where there is no such process, or it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    is_ended = fields[0] in {"Z", "X"}  # a zombie runs nothing any more
    return None if is_ended else fields[_START_TIME_AFTER_NAME]
