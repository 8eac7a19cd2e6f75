"""Numbers of devices or lines as a person reads them."""

from collections.abc import Iterable

_MOST_RUNS = 16


def spans(numbers: Iterable[int]) -> str:
    """Write numbers as `0-3, 7`, those of a long list up to the first few."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    written = [str(first) if first == last else f"{first}-{last}" for first, last in runs[:_MOST_RUNS]]
    return ", ".join([*written, *(["..."] if len(runs) > _MOST_RUNS else [])])


def which(noun: str, numbers: Iterable[int]) -> str:
    """Name one or several by their numbers, as `device 4` and `devices 0-3`."""
    every = set(numbers)
    return f"{noun}{'s' if len(every) > 1 else ''} {spans(every)}"
