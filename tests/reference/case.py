"""One question about one fleet, with everything that an answer may hang on."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.throughput import ThroughputTable
from hetero_ops.inventory.reading import Reading
from hetero_ops.placement.fleet import Fleet
from tests.reference.model import JSON
from tests.reference.open_fleets import BudgetKey, Dice, budget_key, open_fleet, open_readings, spending, throughputs
from tests.reference.open_steps import open_step, open_weights
from tests.reference.pointed import pointed
from tests.reference.reader import read_fleet

_CATALOG = Catalog.builtin()
# One case in so many.
_POINTED = 20


@dataclass(frozen=True)
class Case:
    """A question, after others that were answered and taken; `weights` of `None` are those of the policy."""

    document: JSON
    requirement: Requirement
    before: tuple[Requirement, ...] = ()
    policy: str = "aware"
    weights: dict[str, int] | None = None
    readings: list[Reading] = field(default_factory=list)
    measured: ThroughputTable | None = None
    spent: dict[BudgetKey, int] = field(default_factory=dict)

    def spent_milli(self, fleet: Fleet) -> list[int | None]:
        """What was spent of each budget of a fleet, in its order."""
        return [self.spent.get((budget.team, budget.per, budget.name)) for budget in fleet.budgets()]

    def spent_of_limits(self) -> dict[int, int]:
        """The same by the place of each limit in the document."""
        keys = [budget_key(limit) for limit in self.document.get("limits", [])]
        return {place: self.spent[key] for place, key in enumerate(keys) if key in self.spent}

    def having(self, **changes: Any) -> Self:
        """The same with other values of some fields."""
        return replace(self, **changes)


def drawn(seed: int) -> Case:
    """The case of a seed: up to two steps before, on a fleet of two to five nodes."""
    dice = Dice(seed)
    document = open_fleet(dice)
    places = [(n.cluster, n.name, device.id) for n in read_fleet(document, _CATALOG).nodes for device in n.devices]
    readings, policy = open_readings(dice, places), dice.of("aware", "aware", "classic")
    before = tuple(open_step(dice, document) for _ in range(dice.of(0, 0, 1, 2)))
    asked, weights = open_step(dice, document), open_weights(dice)
    is_measured = any(requirement.workload for requirement in (*before, asked))
    table = throughputs(dice) if is_measured else None
    case = Case(document, asked, before, policy, weights, readings, table, spending(dice, document))
    return pointed(dice, case) if dice.one_in(_POINTED) else case
