"""Who may use how much: the part of `Fleet` that tells of budgets and pools."""

import json
from collections.abc import Sequence

from hetero_ops._core import Fleet as CoreFleet
from hetero_ops._core import Placement
from hetero_ops.placement.limit import Budget, budgets_of
from hetero_ops.placement.report import PoolRow


class Allotments:
    """What teams and pools are allotted, and what of it is gone."""

    __slots__ = ()

    _core: CoreFleet

    def budgets(self) -> tuple[Budget, ...]:
        """The budgets that the document states, in their order."""
        return budgets_of(json.loads(self._core.stated_limits()))

    def set_spent(self, spent_milli: Sequence[int | None]) -> None:
        """Takes what was spent of each budget in its present window from now on.

        A team of which a budget has nothing left gets no more of the devices that it counts (`BUDGET`), until less is
        told. Who keeps books tells it; nothing is spent where nobody does.

        Args:
            spent_milli: one number for each of `budgets`: thousandths of a device-hour, or of a unit-hour; `None` is
                unknown and counts as nothing.

        Raises:
            InvalidDocument: there are more or fewer numbers than budgets, or one is negative.
        """
        self._core.set_spent(json.dumps(list(spent_milli)).encode())

    def spending(self, placement: Placement) -> list[int | None]:
        """What an hour of a placement spends of each of `budgets`, thousandths: a quarter of a device spends 250.

        `None` where a budget does not count it: it is of another team or of other devices, or, of a budget in compute
        units, the rate of a device is unknown.

        Raises:
            StalePlacement: a device that it names is not there.
        """
        rates: list[int | None] = json.loads(self._core.spending(placement))
        return rates

    def pools(self) -> list[PoolRow]:
        """What each pool of the clusters that pools share is guaranteed, uses and lends; docs/sharing.md says how."""
        rows: list[PoolRow] = json.loads(self._core.pools())
        return rows
