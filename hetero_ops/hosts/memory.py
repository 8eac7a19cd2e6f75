"""Whether the kernel ended processes of this machine for their memory."""

from pathlib import Path

_COUNTERS = Path("/proc/vmstat")


def memory_kills() -> int | None:
    """How many it ended since it was started; `None` where that is not counted."""
    try:
        lines = _COUNTERS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)
