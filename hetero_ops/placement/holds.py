"""The part of `Fleet` that takes capacity and gives it back."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hetero_ops._core import Fleet as CoreFleet
from hetero_ops._core import Placement
from hetero_ops.placement.holding import Holding


class Holds:
    """What is taken in memory, in this object alone."""

    __slots__ = ()
    _core: CoreFleet

    def commit(self, placement: Placement) -> int:
        """Takes the capacity of a placement in this object; returns the hold.

        A device that has to be cut for it (`placement.cut`) is gone then, and its partitions are there. They stay when
        the hold is released.

        Raises:
            StalePlacement: a device that it names changed since; place again.
        """
        return self._core.commit(placement)

    def holding(self, placement: Placement) -> Holding:
        """What a placement would hold, by names, and of what that takes how much: what a reservation keeps of it.

        Raises:
            StalePlacement: a device that it names changed since; place again.
        """
        return Holding.from_json(self._core.holding(placement))

    def occupy(self, holds: Iterable[Mapping[str, Any]] | str) -> int:
        """Takes what a reservation made elsewhere holds; returns the hold.

        What is not there is not taken: a device that this fleet does not know, or knows to be in use, is nobody's to
        give.

        Args:
            holds: as `Holding.holds`, or the same as JSON.

        Raises:
            InvalidDocument: these are no holds.
        """
        return self._core.occupy((holds if isinstance(holds, str) else json.dumps(list(holds))).encode())

    def release(self, hold: int) -> None:
        """Gives the capacity of a hold back.

        Raises:
            UnknownHold: there is no such hold.
        """
        self._core.release(hold)
