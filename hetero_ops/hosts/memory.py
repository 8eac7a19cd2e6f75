"""Whether the kernel ended processes of this machine for their memory."""

from collections import deque
from collections.abc import Callable
from pathlib import Path

WITHIN_S = 30.0
"""A step that is killed so soon after such an end may have been the one: to end takes a large process seconds."""

_COUNTERS = Path("/proc/vmstat")


def memory_kills() -> int | None:
    """How many it ended since it was started; `None` where that is not counted."""
    try:
        lines = _COUNTERS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)


class MemoryKills:
    """Looks again and again, as the count is of the whole machine: what it ended hours ago was another."""

    def __init__(self, count: Callable[[], int | None] = memory_kills) -> None:
        """Has not looked yet.

        Args:
            count: how many there were so far.
        """
        self._count = count
        self._seen: deque[tuple[float, int | None]] = deque()

    def look(self, at_s: float) -> bool | None:
        """Whether there was any lately; `None` where that is not counted.

        Args:
            at_s: seconds by a clock that is not set; from now back at least `WITHIN_S`, if it has looked for so long.
        """
        count = self._count()
        self._seen.append((at_s, count))
        # The first that stays is the last one from before that time.
        while len(self._seen) > 1 and self._seen[1][0] <= at_s - WITHIN_S:
            self._seen.popleft()
        before = self._seen[0][1]
        return None if count is None or before is None else count > before
