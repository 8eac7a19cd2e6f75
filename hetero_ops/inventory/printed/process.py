"""Who uses a device, as a fleet document says it, from the processes that tools list."""

from collections.abc import Iterable

from hetero_ops.inventory.printed.printed_value import name

UNATTRIBUTED = "unattributed"
"""Owner of devices that are in use by nobody knows whom."""

_MOST_NAMES = 3


def program_of(command: str | None) -> str | None:
    """Give the program of a command without folder and arguments, which may hold secrets; `None` when hidden."""
    line = name(command)
    if line is None:
        return None
    return line.rpartition("\\")[2] if "\\" in line else line.split()[0].rpartition("/")[2] or None


def owner_of(programs: Iterable[str]) -> str:
    """Name all programs on a device as one owner."""
    names = sorted(programs)
    if names == [UNATTRIBUTED]:
        return UNATTRIBUTED
    more = len(names) - _MOST_NAMES
    return f"process:{', '.join(names[:_MOST_NAMES])}{f' and {more} more' if more > 0 else ''}"
