"""Watches over a reservation while its step runs: keeps it alive, and sees what becomes of it and of its devices."""

import logging
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sqlalchemy.exc import SQLAlchemyError

from hetero_ops.booking.claim import claims_on
from hetero_ops.errors import LedgerUnusable, UnknownReservation
from hetero_ops.hosts.memory import MemoryKills
from hetero_ops.hosts.notice import Claimed, Inbox, Unbooked, Withdrawn
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.records import quarantines
from hetero_ops.ledger.reservation import Reservation

LOOK_EVERY_S = 0.5
"""How often the ledger is read for claims and quarantines; two small queries."""
AWAY = (LedgerUnusable, SQLAlchemyError)
"""What a ledger raises that cannot be reached, for the time being or for good."""
# A lease survives two heartbeats that fail.
_HEARTBEATS_A_LEASE = 3

_log = logging.getLogger(__name__)


class Watch:
    """A thread for as long as the `with` lasts. Each thing that happens is told once.

    Attributes:
        memory_kills: what the kernel ended meanwhile for its memory; for whoever comes after the `with`.
    """

    def __init__(
        self, ledger: Ledger, reservation: Reservation, inbox: Inbox, saved_ms: Callable[[], int | None]
    ) -> None:
        """Prepares it.

        Args:
            ledger: where the reservation is.
            reservation: of the step.
            inbox: where it tells.
            saved_ms: when the step last saved, as far as is known.
        """
        self._ledger = ledger
        self._reservation = reservation
        self._inbox = inbox
        self._saved_ms = saved_ms
        self._every_s = reservation.lease_ms / 1000 / _HEARTBEATS_A_LEASE
        self._claims: set[str] = set()
        self.memory_kills = MemoryKills()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> Self:
        self.memory_kills.look(time.monotonic())
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        heartbeat_at_s = time.monotonic() + self._every_s
        is_reached = True
        while not self._is_over.wait(min(LOOK_EVERY_S, self._every_s)):
            self.memory_kills.look(time.monotonic())
            try:
                if time.monotonic() >= heartbeat_at_s:
                    heartbeat_at_s = time.monotonic() + self._every_s
                    self._ledger.heartbeat(self._reservation.id, checkpoint_ms=self._saved_ms())
                if self._is_withdrawn():
                    return
                self._look_for_claims()
                is_reached = True
            except UnknownReservation:
                self._inbox.put(Unbooked())
                return
            except AWAY as error:
                # The step goes on: its owner lives, so nobody is given its devices.
                if is_reached:
                    _log.warning("the ledger cannot be reached, the step goes on: %s", error, extra=self._ids)
                is_reached = False

    def _is_withdrawn(self) -> bool:
        ours = {
            (hold["cluster"], hold["node"], str(device))
            for hold in self._reservation.holds
            for device in hold["devices"]
        }
        found = [each for each in quarantines(self._ledger) if (each.cluster, each.node, each.device) in ours]
        if found:
            self._inbox.put(Withdrawn(tuple((each.node, int(each.device)) for each in found), found[0].reason))
        return bool(found)

    def _look_for_claims(self) -> None:
        for claim in claims_on(self._ledger, self._reservation.id):
            if claim.plan not in self._claims:
                self._claims.add(claim.plan)
                self._inbox.put(Claimed(claim))

    @property
    def _ids(self) -> dict[str, str]:
        return {"trace_id": self._reservation.trace_id, "reservation_id": self._reservation.id}
