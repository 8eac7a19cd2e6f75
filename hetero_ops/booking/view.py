"""A fleet with what the ledger has booked on it."""

import threading

from hetero_ops.ledger.ledger import Ledger
from hetero_ops.placement.fleet import Fleet


class FleetView:
    """A fleet whose reserved devices are taken. It follows the ledger: `follow` takes in what changed since.

    Safe to share between threads.
    """

    def __init__(self, fleet: Fleet, ledger: Ledger) -> None:
        """Takes what lives in the ledger; `fleet` is changed, and is this view's own from now on."""
        self.fleet = fleet
        self.ledger = ledger
        self._holds: dict[str, int] = {}
        self._following = threading.Lock()
        self.follow()

    def follow(self) -> None:
        """Gives back what ended, and takes what is new."""
        with self._following:
            self._take_in()

    def _take_in(self) -> None:
        live = set(self.ledger.live_ids())
        for ended in self._holds.keys() - live:
            self.fleet.release(self._holds.pop(ended))
        fresh = self.ledger.holds_of(sorted(live - self._holds.keys()))
        for reservation_id, holds in sorted(fresh.items()):
            self._holds[reservation_id] = self.fleet.occupy(holds)
