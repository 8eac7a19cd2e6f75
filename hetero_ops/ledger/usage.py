"""Who had which devices for how long: what budgets and charges count."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import select

from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.reservation import Reservation
from hetero_ops.ledger.schema import reservation


@dataclass(frozen=True, slots=True)
class Used:
    """Devices of one kind on one node that a reservation had within a window.

    Attributes:
        reservation: whose they were.
        node: where.
        sku: catalog key; `None` outside the catalog.
        model: model; `None` where unknown.
        vendor: vendor; `None` where unknown.
        accelerator_class: broad kind; `None` where unknown.
        partition: name of the hardware partition that each is; `None` for whole devices and shares.
        memory_mib: memory granted on each; `None` where unknown.
        device_milli: thousandths of devices.
        since_ms: from when, within the window.
        until_ms: until when.
    """

    reservation: Reservation
    node: str
    sku: str | None
    model: str | None
    vendor: str | None
    accelerator_class: str | None
    partition: str | None
    memory_mib: int | None
    device_milli: int
    since_ms: int
    until_ms: int

    @property
    def held_ms(self) -> int:
        """For how long."""
        return self.until_ms - self.since_ms

    @property
    def device_us(self) -> int:
        """Device-microseconds: thousandths of devices times milliseconds, so that shares add up exactly."""
        return self.device_milli * self.held_ms


def used(ledger: Ledger, start_ms: int, end_ms: int) -> Iterator[Used]:
    """What every reservation had between two times, the oldest first; those that still live have it until now."""
    end_ms = min(end_ms, ledger.now_ms())
    is_over = reservation.c.ended_ms.is_not(None) & (reservation.c.ended_ms <= start_ms)
    query = select(reservation).where(~is_over & (reservation.c.since_ms < end_ms))
    with ledger.reading() as connection:
        rows = connection.execute(query.order_by(reservation.c.since_ms, reservation.c.id)).all()
    for found in map(Reservation.of, rows):
        until = end_ms if found.ended_ms is None else min(found.ended_ms, end_ms)
        since = max(found.since_ms, start_ms)
        for part in found.terms.get("granted", []):
            if until > since:
                fields = {**part, "accelerator_class": part["class"]}
                del fields["class"]
                yield Used(found, since_ms=since, until_ms=until, **fields)
