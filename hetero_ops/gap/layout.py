"""How to cut devices into partitions for an expected workload: legal layouts, chosen device by device.

Every layout that a device can hold is compared; the one is taken after which the class that is worst served for its
weight is served best, then the next worst, and so on. Of equals the one that leaves least memory over.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.meaning import profiles_meant
from hetero_ops.gap.partition import Partition
from hetero_ops.gap.partition_fit import fits_together
from hetero_ops.gap.profile import Profile

_WHOLE_MILLI = 1000

Layout = tuple[str, ...]
"""Names of partitions on one device, largest first; empty is the undivided device."""


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the expected workload: what one step asks, and its weight."""

    request: str
    choice: Choice
    weight: Fraction

    @property
    def is_cut(self) -> bool:
        """Whether a step takes a partition."""
        return (
            any(name.partition for name in self.choice.names)
            or self.choice.share_mode == "mig"
            or (self.choice.is_share and self.choice.isolation == "hard")
        )

    @property
    def is_judged(self) -> bool:
        """Whether one partition or one whole device serves a step; shares of whole devices and gangs are left out."""
        return self.choice.count == 1 and (self.is_cut or not self.choice.is_share)


def layouts(profile: Profile) -> list[Layout]:
    """All layouts that a device can hold, the undivided one first."""
    return list(_layouts(profile))


@functools.cache
def _layouts(profile: Profile) -> tuple[Layout, ...]:
    cut = [part for part in profile.partitions if part.starts]
    found: list[Layout] = [()]
    names = [part.name for part in sorted(cut, key=_largest_first)]
    found += _more(profile, names, ())
    found += [(part.name,) * part.count for part in profile.partitions if not part.starts and (part.count or 0) > 1]  # type: ignore[operator]
    return tuple(found)


def _more(profile: Profile, names: Sequence[str], layout: Layout) -> Iterator[Layout]:
    """Layouts that begin with `layout` and go on with these names, each as often as it fits."""
    for index, name in enumerate(names):
        longer = (*layout, name)
        if fits_together(profile, longer):
            yield longer
            yield from _more(profile, names[index:], longer)


def suggest(
    profiles: Sequence[Profile], classes: Sequence[Class], catalog: Catalog
) -> list[tuple[Layout, tuple[int, ...]]]:
    """A layout for each device, in their order, and how many steps of each class it then serves.

    Args:
        profiles: what each device is.
        classes: the expected workload; those that are not judged are served by nothing.
        catalog: where names are looked up.
    """
    served = [0] * len(classes)
    chosen = []
    for profile in profiles:
        serves = _served_by(profile, tuple(classes), catalog)
        best = max(serves, key=lambda one: _worth(one, served, classes))
        counts = _assigned(best, served, classes)
        served = [before + more for before, more in zip(served, counts, strict=True)]
        chosen.append((best.layout, counts))
    return chosen


@dataclass(frozen=True, slots=True)
class _Option:
    """A layout; for each of its parts the classes that it can serve, smallest parts first; and their sizes."""

    layout: Layout
    parts: tuple[tuple[int, tuple[int, ...]], ...]


@functools.lru_cache(maxsize=64)
def _served_by(profile: Profile, classes: tuple[Class, ...], catalog: Catalog) -> tuple[_Option, ...]:
    by_name = {part.name: part for part in profile.partitions}
    options = []
    for layout in _layouts(profile):
        held: list[Partition | None] = [by_name[name] for name in layout] or [None]
        parts = []
        for part in held:
            able = tuple(
                i for i, one in enumerate(classes) if one.is_judged and _can_serve(profile, part, one, catalog)
            )
            parts.append((profile.memory_mib or 0 if part is None else part.memory_mib or 0, able))
        options.append(_Option(layout, tuple(sorted(parts))))
    return tuple(options)


def _can_serve(profile: Profile, part: Partition | None, one: Class, catalog: Catalog) -> bool:
    choice = one.choice
    if one.is_cut != (part is not None):
        return False
    if choice.names and not any(
        profile in profiles_meant(name, catalog) and (part is None or name.partition in (None, part.name))
        for name in choice.names
    ):
        return False
    if choice.vendor not in (None, profile.vendor) or choice.accelerator_class not in (
        None,
        "accel",
        profile.accelerator_class,
    ):
        return False
    memory = profile.memory_mib if part is None else part.memory_mib
    floors = [floor for floor in (choice.memory_floor_mib, choice.share_memory_mib) if floor is not None]
    if choice.is_share and choice.share_memory_mib is None and profile.memory_mib is not None:
        floors.append(-(-profile.memory_mib * choice.share_milli // _WHOLE_MILLI))
    return not floors or (memory is not None and memory >= max(floors))


def _assigned(option: _Option, served: Sequence[int], classes: Sequence[Class]) -> tuple[int, ...]:
    """Steps that the parts serve: always one of the class that is worst served, with the smallest part that will do."""
    counts, left = [0] * len(classes), list(option.parts)
    while left:
        able = {index for _, serves in left for index in serves}
        if not able:
            break
        worst = min(able, key=lambda index: ((served[index] + counts[index]) / classes[index].weight, index))
        left.remove(next(part for part in left if worst in part[1]))
        counts[worst] += 1
    return tuple(counts)


def _worth(option: _Option, served: Sequence[int], classes: Sequence[Class]) -> tuple[object, ...]:
    counts = _assigned(option, served, classes)
    judged = [index for index, one in enumerate(classes) if one.is_judged]
    ratios = sorted((served[index] + counts[index]) / classes[index].weight for index in judged)
    unused = len(option.parts) - sum(counts)
    return ratios, -unused, -len(option.layout)


def _largest_first(part: Partition) -> tuple[int, int, str]:
    return -(part.memory_slices or 0), -(part.compute_slices or 0), part.name
