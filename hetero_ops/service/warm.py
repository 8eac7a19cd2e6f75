"""`WarmFleet`: a fleet that is loaded once and asked many times, beside what its ledger has booked."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from hetero_ops.booking.book import book
from hetero_ops.booking.view import FleetView
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.requirement import AnyRequirement
from hetero_ops.gap.throughput import read_throughput
from hetero_ops.inventory.source import FleetSource, read_fleet
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import LEASE_S, Reservation
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.report import Explanation, OverviewRow

FOLLOW_S = 0.05
"""What another process books is seen after so long at most; what is booked through this object, at once."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a fleet is loaded with beside its document; a new document is loaded with the same."""

    catalog: Catalog
    mix: Path | None = None
    measured: Path | None = None

    def load(self, source: FleetSource) -> Fleet:
        """The fleet of a document, with these settings.

        Raises:
            InvalidDocument: what is wrong and where.
        """
        fleet = Fleet.from_source(source, mix=self.mix, catalog=self.catalog)
        if self.measured is not None:
            fleet.use_measured(read_throughput(self.measured, self.catalog))
        return fleet


@dataclass(frozen=True, slots=True)
class _Loaded:
    document: dict[str, Any]
    view: FleetView


class WarmFleet:
    """Places and books in this process. Safe to share between threads.

    Placing looks into the ledger at most every `FOLLOW_S` seconds; booking always does.
    """

    def __init__(self, source: FleetSource, ledger: Ledger, settings: Settings) -> None:
        """Loads a fleet; `load` is the usual way in."""
        self.ledger = ledger
        self._settings = settings
        self._loaded = self._load(source)
        self._looking = threading.Lock()
        self._followed_at = time.monotonic()
        self._is_behind = False

    @classmethod
    def load(cls, source: str, ledger: Ledger, *, mix: Path | None = None, measured: Path | None = None) -> Self:
        """Loads what `--fleet` names.

        Raises:
            InvalidDocument: there is no such fleet, or it is wrong.
        """
        settings = Settings(Catalog.default(), mix, measured)
        return cls(read_fleet(source, settings.catalog), ledger, settings)

    def place(
        self,
        requirement: AnyRequirement,
        *,
        policy: str = "aware",
        seed: int = 0,
        key: str = "",
        weights: Mapping[str, int] | None = None,
    ) -> Placement | NoFit:
        """As `Fleet.place`, beside what is booked. Books nothing."""
        return self._followed().place(requirement, policy=policy, seed=seed, key=key, weights=weights)

    def explain(
        self,
        requirement: AnyRequirement,
        *,
        policy: str = "aware",
        seed: int = 0,
        key: str = "",
        weights: Mapping[str, int] | None = None,
    ) -> Explanation:
        """As `Fleet.explain`, beside what is booked."""
        return self._followed().explain(requirement, policy=policy, seed=seed, key=key, weights=weights)

    def book(  # noqa: PLR0913 - as `booking.book`
        self,
        requirement: AnyRequirement,
        owner: Owner,
        *,
        policy: str = "aware",
        seed: int = 0,
        key: str = "",
        weights: Mapping[str, int] | None = None,
        lease_s: float = LEASE_S,
        terms: Mapping[str, Any] | None = None,
    ) -> Reservation | NoFit:
        """As `booking.book`: places and books."""
        try:
            return book(
                self._loaded.view,
                requirement,
                self.ledger,
                owner,
                policy=policy,
                seed=seed,
                key=key,
                weights=weights,
                lease_s=lease_s,
                terms=terms,
            )
        finally:
            self._is_behind = True

    def heartbeat(
        self,
        reservation_id: str,
        *,
        checkpoint_ms: int | None = None,
        peak_memory_mib: int | None = None,
        mean_power_mw: int | None = None,
    ) -> None:
        """As `Ledger.heartbeat`."""
        self.ledger.heartbeat(
            reservation_id,
            checkpoint_ms=checkpoint_ms,
            peak_memory_mib=peak_memory_mib,
            mean_power_mw=mean_power_mw,
        )

    def release(self, reservation_id: str, *, by: str = "owner") -> Reservation:
        """As `Ledger.release`."""
        try:
            return self.ledger.release(reservation_id, by=by)
        finally:
            self._is_behind = True

    def overview(self) -> list[OverviewRow]:
        """As `Fleet.overview`, beside what is booked."""
        return self._followed().overview()

    @property
    def document(self) -> dict[str, Any]:
        """The fleet document that it was loaded from."""
        return self._loaded.document

    def replace(self, source: FleetSource) -> Callable[[], None]:
        """Loads another document; what is returned puts it in the place of the present one.

        Raises:
            InvalidDocument: what is wrong and where; the present one stays.
        """
        loaded = self._load(source)

        def swap() -> None:
            self._loaded = loaded
            self._is_behind = True

        return swap

    def close(self) -> None:
        """Closes the ledger's connections."""
        self.ledger.close()

    def _load(self, source: FleetSource) -> _Loaded:
        return _Loaded(source.document, FleetView(self._settings.load(source), self.ledger))

    def _followed(self) -> Fleet:
        view = self._loaded.view
        with self._looking:  # whoever comes meanwhile waits for what is found
            now = time.monotonic()
            if self._is_behind or now - self._followed_at >= FOLLOW_S:
                # Before looking, so that what changes meanwhile is looked at again.
                self._is_behind, self._followed_at = False, now
                try:
                    view.follow()
                except BaseException:
                    self._is_behind = True
                    raise
        return view.fleet
