"""What the service tells Prometheus of itself and of its ledger."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from sqlalchemy import func, select

from hetero_ops.errors import ReservationConflict
from hetero_ops.ledger.ledger import Ask, Ledger
from hetero_ops.ledger.reservation import LIVE, Asked, Reservation
from hetero_ops.ledger.schema import reservation

# From a decision on a small fleet to the longest that is waited for.
_BUCKETS_S = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10)


class CountingLedger(Ledger):
    """A ledger that counts how often somebody else was faster."""

    _conflicts = 0
    _counting = threading.Lock()

    @property
    def conflicts(self) -> int:
        """How often a reservation was refused because of another one."""
        return self._conflicts

    def reserve(self, asked: Asked) -> Reservation:
        """As `Ledger.reserve`."""
        with self._counted():
            return super().reserve(asked)

    def reserve_alone(self, ask: Ask, *, across_hosts: bool = False) -> Reservation:
        """As `Ledger.reserve_alone`."""
        with self._counted():
            return super().reserve_alone(ask, across_hosts=across_hosts)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        try:
            yield
        except ReservationConflict:
            with self._counting:
                self._conflicts += 1
            raise


class Metrics:
    """All metrics, in a registry of their own."""

    def __init__(self, ledger: CountingLedger) -> None:
        """Begins at zero; reservations are counted in the ledger when they are asked for."""
        self._registry = CollectorRegistry()
        self.placements = Counter(
            "hetero_ops_placements", "Decisions, by verdict.", ["verdict"], registry=self._registry
        )
        self.place_seconds = Histogram(
            "hetero_ops_place_seconds",
            "Time of one decision, waiting for a thread and following the ledger included.",
            buckets=_BUCKETS_S,
            registry=self._registry,
        )
        self.requests = Counter(
            "hetero_ops_requests",
            "Requests, by what was asked and how it ended.",
            ["path", "status"],
            registry=self._registry,
        )
        self._registry.register(_LedgerCollector(ledger))

    def text(self) -> bytes:
        """In the text format of Prometheus."""
        return generate_latest(self._registry)


class _LedgerCollector:
    def __init__(self, ledger: CountingLedger) -> None:
        self._ledger = ledger

    def collect(self) -> Iterator[Any]:
        states = GaugeMetricFamily(
            "hetero_ops_reservations", "Reservations that hold devices; orphaned ones need a look.", labels=["state"]
        )
        counting = select(reservation.c.state, func.count()).group_by(reservation.c.state)
        with self._ledger.reading() as connection:
            found: dict[str, int] = dict(
                connection.execute(counting.where(reservation.c.state.in_(LIVE))).tuples().all()
            )
        for state in LIVE:
            states.add_metric([state], found.get(state, 0))
        yield states
        conflicts = CounterMetricFamily("hetero_ops_conflicts", "Reservations refused since somebody else was faster.")
        conflicts.add_metric([], self._ledger.conflicts)
        yield conflicts
