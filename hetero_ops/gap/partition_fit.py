"""Which partitions fit on one device together."""

from collections import Counter
from collections.abc import Sequence

from hetero_ops.errors import UnknownDevice
from hetero_ops.gap.partition import Partition
from hetero_ops.gap.profile import Profile
from hetero_ops.units import quoted


def fits_together(profile: Profile, names: Sequence[str], *, placed: Sequence[tuple[str, int]] = ()) -> bool:
    """Whether one device can hold all these partitions at once.

    Args:
        profile: what the device is.
        names: the partitions wanted, repeated for several of a kind.
        placed: partitions that are there already, each with the memory slice at which it begins.

    Returns:
        For MIG: whether legal places exist for all (NVIDIA MIG User Guide), within the budgets of compute and memory
        slices; the search is exact. For modes: whether all are of one mode, and not more than it has.

    Raises:
        UnknownDevice: the device has no partition of such a name; the message lists those it has.
        ValueError: a placed partition is where it cannot be, or overlaps another.
    """
    wanted = [_named(profile, name) for name in names]
    there = [(_named(profile, name), start) for name, start in placed]
    everything = [*wanted, *(partition for partition, _ in there)]
    if not all(partition.starts for partition in everything):
        return _is_one_mode(everything)
    taken = _taken(there)
    return _is_within_budget(everything) and _can_place(sorted(wanted, key=_largest_first), taken)


def _named(profile: Profile, name: str) -> Partition:
    for partition in profile.partitions:
        if partition.name == name:
            return partition
    known = ", ".join(partition.name for partition in profile.partitions)
    has = f"it has {known}" if known else "it has none"
    raise UnknownDevice(f"{profile.sku} has no partition {quoted(name)}; {has}")


def _is_one_mode(everything: Sequence[Partition]) -> bool:
    counts = [partition.count for partition in everything if partition.count is not None]
    return len({partition.name for partition in everything}) == 1 and len(everything) <= min(counts, default=1)


def _is_within_budget(everything: Sequence[Partition]) -> bool:
    """What placing does not count: compute slices, the cap of each name, and the one set of media engines."""
    compute = sum(partition.compute_slices or 0 for partition in everything)
    numbers = Counter(partition.name for partition in everything)
    return (
        all(compute <= (partition.device_compute_slices or 0) for partition in everything)
        and all(partition.count is None or numbers[partition.name] <= partition.count for partition in everything)
        and sum(partition.has_media_engines is True for partition in everything) <= 1
    )


def _taken(there: Sequence[tuple[Partition, int]]) -> int:
    """The memory slices in use, as bits."""
    taken = 0
    for partition, start in there:
        mask = _mask(partition, start)
        if start not in partition.starts or taken & mask:
            raise ValueError(f"{partition.name} cannot be at memory slice {start}: not a legal start, or not free")
        taken |= mask
    return taken


def _can_place(wanted: Sequence[Partition], taken: int) -> bool:
    if not wanted:
        return True
    first, rest = wanted[0], wanted[1:]
    masks = (_mask(first, start) for start in first.starts)
    return any(_can_place(rest, taken | mask) for mask in masks if not taken & mask)


def _mask(partition: Partition, start: int) -> int:
    return ((1 << (partition.memory_slices or 0)) - 1) << start


def _largest_first(partition: Partition) -> tuple[int, str]:
    return (-(partition.memory_slices or 0), partition.name)
