"""How old a fleet file is: the only use of a clock in reading one."""

import datetime as dt
from typing import Any

STALE_AFTER = dt.timedelta(hours=1)
"""Pods come and go: what was in use an hour ago says little of what is free now."""

_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60))


def now() -> dt.datetime:
    """The time, in UTC."""
    return dt.datetime.now(dt.UTC)


def stamp() -> str:
    """The time as a fleet document says it, RFC 3339 to the second."""
    return now().isoformat(timespec="seconds").replace("+00:00", "Z")


def stale_line(document: dict[str, Any]) -> str | None:
    """`as of 3 days ago` for a document that was made over an hour ago; `None` for a fresh one, or without a time.

    A time without a zone is taken as UTC; one that cannot be read says so.
    """
    at = (document.get("generated") or {}).get("at")
    if at is None:
        return None
    try:
        made = dt.datetime.fromisoformat(at)
    except ValueError:
        return f"of unknown age: generated.at is {at!r}, not a time as 2026-11-29T10:00:00Z"
    age = now() - (made if made.tzinfo else made.replace(tzinfo=dt.UTC))
    return f"as of {words(age)} ago" if age > STALE_AFTER else None


def words(age: dt.timedelta) -> str:
    """A span in its largest unit, rounded down: `3 days`."""
    seconds = int(age.total_seconds())
    unit, length = next(((unit, length) for unit, length in _UNITS if seconds >= length), ("second", 1))
    count = seconds // length
    return f"{count} {unit}{'' if count == 1 else 's'}"


def of_ms(at_ms: int) -> str:
    """A time of the ledger, milliseconds since 1970, as RFC 3339 to the second."""
    return dt.datetime.fromtimestamp(at_ms // 1000, dt.UTC).isoformat().replace("+00:00", "Z")
