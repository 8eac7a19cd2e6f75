"""Classes of speed: which devices `tier-a` to `tier-d` stand for.

A device's class follows from its dense BF16 rate (FP16 where it has no BF16) times its achieved efficiency, relative to
that of the reference device. Devices of unknown speed, and opaque ones, are in no class.
"""

import re

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.unit import REFERENCE_SKU

FLOORS: dict[str, float] = {"tier-a": 0.75, "tier-b": 0.25, "tier-c": 0.08, "tier-d": 0.0}
"""Least speed relative to the reference device, fastest class first."""

_TIER = re.compile(r"tier-[a-z0-9]+", re.IGNORECASE)


def is_tier(name: str) -> bool:
    """Whether a name is that of a class of speed, known or not."""
    return _TIER.fullmatch(name) is not None


def tier_of(profile: Profile, catalog: Catalog) -> str | None:
    """The class of a device; `None` when its speed is unknown."""
    speed, reference = _speed(profile), _speed(catalog[REFERENCE_SKU])
    if speed is None or reference is None:
        return None
    return next(tier for tier, floor in FLOORS.items() if speed >= floor * reference)


def profiles_in(tier: str, catalog: Catalog) -> tuple[Profile, ...]:
    """The devices of a class, in catalog order; those that are listed only are left out."""
    return tuple(
        profile for profile in catalog if not profile.is_inventory_only and tier_of(profile, catalog) == tier.lower()
    )


def _speed(profile: Profile) -> float | None:
    return profile.achieved_tflops("bf16") or profile.achieved_tflops("fp16")
