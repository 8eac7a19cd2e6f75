"""Which partitions fit on one device together. The search is the core's, which cuts devices by it."""

import json
from collections.abc import Sequence

from hetero_ops.errors import UnknownDevice
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
    from hetero_ops._core import fits_together as ask  # noqa: PLC0415 - the rest of this room works without the core

    known = [partition.name for partition in profile.partitions]
    for name in (*names, *(name for name, _ in placed)):
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise UnknownDevice(f"{profile.sku} has no partition {quoted(name)}; {has}")
    catalog = {"digest": "", "resource_keys": {}, "entries": [profile.for_core()]}
    return ask(json.dumps(catalog).encode(), list(names), list(placed))
