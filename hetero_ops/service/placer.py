"""`Placer`: what a host asks, whether the fleet is in its own process or behind a service."""

from collections.abc import Mapping
from typing import Protocol

from hetero_ops.gap.requirement import AnyRequirement
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import LEASE_S, Reservation
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.report import Explanation, OverviewRow


class Placer(Protocol):
    """Places and books on one fleet, beside everything that its ledger has. Errors are the same on both sides."""

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
    ) -> Reservation | NoFit:
        """As `booking.book`: places and books."""

    def heartbeat(
        self,
        reservation_id: str,
        *,
        checkpoint_ms: int | None = None,
        peak_memory_mib: int | None = None,
        mean_power_mw: int | None = None,
    ) -> None:
        """As `Ledger.heartbeat`."""

    def release(self, reservation_id: str) -> Reservation:
        """As `Ledger.release`."""

    def overview(self) -> list[OverviewRow]:
        """As `Fleet.overview`, beside what is booked."""

    def close(self) -> None:
        """Closes its connections."""
