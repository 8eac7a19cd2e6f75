"""What pools borrowed from each other: a statement of account, which balances to zero at every moment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from hetero_ops.ledger.usage import Used
from hetero_ops.placement.report import PoolRow

_US_PER_HOUR = 1000 * 3_600_000  # thousandths of a device times milliseconds

Pool = tuple[str, str | None]
"""Cluster, and name of the pool; `None` for what no pool is guaranteed."""


@dataclass(slots=True)
class Account:
    """What a pool borrowed and lent in a window, device-hours.

    Attributes:
        cluster: where.
        pool: which; `None` for what no pool is guaranteed.
        used: what steps charged to it had.
        borrowed: what of that was beyond its guarantee.
        lent: what others had of its guarantee, each pool by what it left idle.
    """

    cluster: str
    pool: str | None
    used: Fraction = field(default_factory=Fraction)
    borrowed: Fraction = field(default_factory=Fraction)
    lent: Fraction = field(default_factory=Fraction)

    @property
    def balance(self) -> Fraction:
        """What it is owed, or, below zero, owes; all of a cluster together are zero."""
        return self.lent - self.borrowed


def lending(used: Iterable[Used], pools: Sequence[PoolRow]) -> list[Account]:
    """The accounts of all pools, in the order of `pools`.

    Args:
        used: what reservations had in the window.
        pools: the pools as they are now; their guarantees stand for the whole window.
    """
    accounts = {(row["cluster"], row["pool"]): Account(row["cluster"], row["pool"]) for row in pools}
    guaranteed = {(row["cluster"], row["pool"]): row["nominal_milli"] for row in pools}
    changes: dict[int, dict[Pool, int]] = {}
    for part in used:
        for pool, milli in _charged(part).items():
            if pool in accounts:
                for at, sign in ((part.since_ms, 1), (part.until_ms, -1)):
                    here = changes.setdefault(at, {})
                    here[pool] = here.get(pool, 0) + sign * milli
    now = dict.fromkeys(accounts, 0)
    before: int | None = None
    for at in sorted(changes):
        if before is not None:
            _pass(accounts, now, guaranteed, at - before)
        for pool, milli in changes[at].items():
            now[pool] += milli
        before = at
    return list(accounts.values())


def _charged(part: Used) -> Mapping[Pool, int]:
    """The pool that a part is charged to; all holds of a reservation are charged to the same."""
    hold = next((hold for hold in part.reservation.holds if hold["node"] == part.node), None)
    return {} if hold is None else {(part.reservation.cluster, hold.get("pool")): part.device_milli}


def _pass(accounts: Mapping[Pool, Account], now: Mapping[Pool, int], guaranteed: Mapping[Pool, int], ms: int) -> None:
    """Books a stretch of time in which nothing changed."""
    for cluster in {cluster for cluster, _ in accounts}:
        here = [pool for pool in accounts if pool[0] == cluster]
        beyond = {pool: max(0, now[pool] - guaranteed[pool]) for pool in here}
        idle = {pool: max(0, guaranteed[pool] - now[pool]) for pool in here}
        borrowed, idle_in_all = sum(beyond.values()), sum(idle.values())
        for pool in here:
            account = accounts[pool]
            account.used += Fraction(now[pool] * ms, _US_PER_HOUR)
            if idle_in_all:  # else nobody has anything to lend: the guarantees do not cover what is there
                account.borrowed += Fraction(beyond[pool] * ms, _US_PER_HOUR)
                account.lent += Fraction(borrowed * idle[pool] * ms, idle_in_all * _US_PER_HOUR)
