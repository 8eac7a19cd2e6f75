"""A fleet with what the ledger has booked on it."""

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.spending import spent
from hetero_ops.placement.decision import Placement
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.holding import Holding, Take

if TYPE_CHECKING:
    from sqlalchemy import Connection

# A budget is of hours: who looks every few seconds misses nothing, and many reservations are a lot to add up.
_SUMMED_EVERY_MS = 5000

# Where two met, others come too. To take turns on a host costs next to nothing, and who does not disturbs who does.
_CROWDED_MS = 10_000

# What others reserved is seen so much later at most as a rule; what is older is asked for by itself.
_OVERLAP_MS = 5000


class FleetView:
    """A fleet whose reserved devices are taken. It follows the ledger: `follow` takes in what changed since.

    Safe to share between threads. Who places and then asks for the holding takes `alone` for both, so that in between
    nobody makes the view follow.
    """

    def __init__(self, fleet: Fleet, ledger: Ledger) -> None:
        """Takes what lives in the ledger; `fleet` is changed, and is this view's own from now on."""
        self.fleet = fleet
        self.ledger = ledger
        self._holds: dict[str, int] = {}
        self._crowd = 0
        self._crowded_until_ms = 0
        self._looked_ms = 0
        self._budgets = fleet.budgets()
        self._shared = sorted({row["cluster"] for row in fleet.pools()})
        self._turns: dict[str, int] = {}
        self._summed_ms: int | None = None
        self.alone = threading.RLock()
        self.follow()

    @property
    def crowd(self) -> int:
        """Who books at the same time, as far as this one met them: 0 nobody, 1 others on this host, 2 on other hosts.

        Who then places before it is its turn mostly does so in vain.
        """
        late_ms = self.ledger.now_ms() - self._crowded_until_ms
        forgotten = 0 if late_ms < 0 else 1 + late_ms // _CROWDED_MS
        return max(0, self._crowd - forgotten)

    def met(self) -> None:
        """Says that somebody else got what was to be booked."""
        self._crowd = min(self.crowd + 1, 2)
        self._crowded_until_ms = self.ledger.now_ms() + _CROWDED_MS

    def follow(self, connection: "Connection | None" = None) -> None:
        """Gives back what ended, takes what is new, and now and then sums up what was spent of budgets.

        Args:
            connection: where to look, instead of on one of the ledger's own.
        """
        with self.alone:
            self._take_in(connection)
            self._sum_up()

    def _take_in(self, connection: "Connection | None") -> None:
        if self._shared:
            self._turns = self.ledger.turns(connection)  # before anything else: what comes later is then noticed
        now_ms = self.ledger.now_ms()
        live = self.ledger.live_holds(self._looked_ms - _OVERLAP_MS, connection)
        self._looked_ms = now_ms
        for ended in self._holds.keys() - live.keys():
            self.fleet.release(self._holds.pop(ended))
        fresh = {each: holds for each, holds in live.items() if each not in self._holds}
        if older := [each for each, holds in fresh.items() if holds is None]:
            fresh |= self.ledger.holds_of(older, connection)
        for each, holds in fresh.items():
            if holds is not None:  # else it ended since
                self._holds[each] = self.fleet.occupy(holds)

    def holding(self, placement: Placement) -> Holding:
        """What a placement made on this view holds.

        Where pools share a cluster, it takes the next turn there: what a pool may have depends on what all others use,
        so nobody may have reserved there since this view looked.

        Raises:
            StalePlacement: a device that it names changed since.
        """
        holding = self.fleet.holding(placement)
        if placement.cluster not in self._shared:
            return holding
        turn = Take("turn", placement.cluster, "", "", 1, self._turns.get(placement.cluster, 0) + 1)
        return replace(holding, takes=(*holding.takes, turn))

    def _sum_up(self) -> None:
        now_ms = self.ledger.now_ms()
        is_recent = self._summed_ms is not None and 0 <= now_ms - self._summed_ms < _SUMMED_EVERY_MS
        if self._budgets and not is_recent:
            sums = spent(self.ledger, self._budgets, self.fleet.catalog)
            self.fleet.set_spent([each.spent_milli for each in sums])
            self._summed_ms = now_ms
