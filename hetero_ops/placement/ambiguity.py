"""Requirements that can be understood, but perhaps not as meant."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.shorthand import WHOLE_DEVICE_MILLI
from hetero_ops.placement.report import OverviewRow
from hetero_ops.units import format_memory


@dataclass(frozen=True, slots=True)
class RequirementWarning:
    """One warning: its code in the registry, and what was seen."""

    code: str
    message: str


def warnings_on(
    requirement: Requirement, overview: Iterable[OverviewRow], catalog: Catalog
) -> list[RequirementWarning]:
    """What may not be as meant on a fleet with these devices."""
    skus = {row["kind"] for row in overview}
    return ambiguous_sizes(requirement, [profile for profile in catalog if profile.sku in skus], catalog)


def ambiguous_sizes(
    requirement: Requirement, present: Collection[Profile], catalog: Catalog
) -> list[RequirementWarning]:
    """A warning for each name that stands for several memory sizes of those present, after the memory clause."""
    found = []
    for choice in requirement.choices:
        for name in choice.names:
            if name.partition is not None:
                continue  # it has a size of its own
            meant = set(catalog.resolve(name.name)) & set(present)
            sizes = sorted({p.memory_mib for p in meant if p.memory_mib is not None and _allows(choice, p.memory_mib)})
            if len(sizes) > 1:
                words = " and ".join(format_memory(size) for size in sizes)
                found.append(RequirementWarning("W104", f"{name.name!r} matches {words}"))
    return found


def _allows(choice: Choice, memory_mib: int) -> bool:
    floor, ceiling = choice.memory_floor_mib or 0, choice.memory_ceiling_mib
    return floor * WHOLE_DEVICE_MILLI <= memory_mib * choice.share_milli and (ceiling is None or memory_mib <= ceiling)
