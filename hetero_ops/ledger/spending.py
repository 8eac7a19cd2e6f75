"""What teams spent of their budgets in the present windows, by what they had and have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hetero_ops.gap.catalog import Catalog
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.usage import Used, used
from hetero_ops.placement.limit import Budget, window_start

_MS_PER_HOUR = 3_600_000
_MILLI = 1000


@dataclass(frozen=True, slots=True)
class Spent:
    """How much of a budget is spent.

    Attributes:
        budget: which one.
        since_ms: when its present window began.
        spent_milli: thousandths of a device-hour, or of a unit-hour where the budget counts units; rounded down.
    """

    budget: Budget
    since_ms: int
    spent_milli: int


def spent(ledger: Ledger, budgets: Sequence[Budget], catalog: Catalog) -> list[Spent]:
    """What was spent of each budget in its present window, in their order. Devices that run count until now.

    Devices outside the catalog spend nothing of a budget in compute units: their rate is not known.
    """
    now_ms = ledger.now_ms()
    starts = [window_start(budget.window, now_ms / _MILLI) * _MILLI for budget in budgets]
    parts = list(used(ledger, min(starts), now_ms)) if budgets else []
    return [
        Spent(budget, start, _sum(budget, start, now_ms, parts, catalog))
        for budget, start in zip(budgets, starts, strict=True)
    ]


def _sum(budget: Budget, start_ms: int, now_ms: int, parts: Iterable[Used], catalog: Catalog) -> int:
    skus = _skus(budget, catalog)
    total = Fraction(0)
    for part in parts:
        if part.reservation.team != budget.team or not _counts(budget, part, skus):
            continue
        end_ms = part.reservation.ended_ms or now_ms
        held_ms = end_ms - max(part.reservation.since_ms, start_ms)
        total += Fraction(max(0, held_ms) * part.device_milli, _MS_PER_HOUR) * _weight(budget, part, catalog)
    return int(total)


def _counts(budget: Budget, part: Used, skus: frozenset[str]) -> bool:
    if budget.per == "unit" or part.sku in skus:
        return True
    own = {"class": part.accelerator_class, "vendor": part.vendor, "model": part.model}.get(budget.per)
    return part.sku is None and own is not None and budget.name is not None and own.casefold() == budget.name.casefold()


def _skus(budget: Budget, catalog: Catalog) -> frozenset[str]:
    """Catalog keys that a budget counts."""
    if budget.name is None:
        return frozenset()
    if budget.per == "sku":
        return frozenset({budget.name})
    if budget.per == "model":
        return frozenset(profile.sku for profile in catalog.resolve(budget.name))
    field = {"class": "accelerator_class"}.get(budget.per, budget.per)
    wanted = budget.name.casefold()
    return frozenset(profile.sku for profile in catalog if (getattr(profile, field) or "").casefold() == wanted)


def _weight(budget: Budget, part: Used, catalog: Catalog) -> Fraction:
    if budget.per != "unit":
        return Fraction(1)
    unit_milli = catalog[part.sku].unit_milli if part.sku in catalog and part.sku else None
    return Fraction(unit_milli or 0, _MILLI)
