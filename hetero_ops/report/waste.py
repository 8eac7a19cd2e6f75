"""Waste: steps that had much more memory than they ever used."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from hetero_ops.ledger.usage import Used

_US_PER_HOUR = 1000 * 3_600_000


@dataclass(frozen=True, slots=True)
class Waste:
    """A reservation whose devices never had more than part of their memory in use.

    Attributes:
        reservation_id: which one.
        team: whose; `None` where it has none.
        requirement: what it asked for.
        sku: what it had.
        granted_mib: memory of each device, as granted.
        peak_mib: most memory that it used of any.
        device_hours: for how long, in the window.
    """

    reservation_id: str
    team: str | None
    requirement: str
    sku: str | None
    granted_mib: int
    peak_mib: int
    device_hours: Fraction


def waste(used: Iterable[Used], mark: Fraction) -> tuple[list[Waste], int]:
    """Those whose peak stayed under `mark` of the memory granted, the most device-hours first.

    Returns:
        Them, and how many parts of reservations told no peak, of which nothing is known.
    """
    found: list[Waste] = []
    untold = 0
    for part in used:
        peak, granted = part.reservation.peak_memory_mib, part.memory_mib
        if peak is None or granted is None:
            untold += 1
        elif peak < granted * mark:
            of = part.reservation
            hours = Fraction(part.device_us, _US_PER_HOUR)
            found.append(Waste(of.id, of.team, of.requirement, part.sku, granted, peak, hours))
    return sorted(found, key=lambda line: (-line.device_hours, line.reservation_id)), untold
