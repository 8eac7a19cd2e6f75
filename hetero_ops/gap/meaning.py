"""What a name in a requirement means: which catalog keys, which models that only the fleet has, which partition."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import ModelName
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.tier import FLOORS, is_tier, profiles_in

_SHOWN_PARTITIONS = 12


def profiles_meant(name: ModelName, catalog: Catalog) -> tuple[Profile, ...]:
    """The profiles that a name stands for, in catalog order; none where the catalog does not have it.

    Raises:
        InvalidRequirement: a class of speed that there is not, or a partition that none of them can be cut into.
    """
    if name.name == "*":
        found = tuple(profile for profile in catalog if profile.vendor == name.vendor)
    elif is_tier(name.name):
        if name.name.lower() not in FLOORS:
            raise InvalidRequirement(f"{name.name!r} is no class of speed; write one of {', '.join(FLOORS)}")
        if name.match == "newer":
            raise InvalidRequirement(
                f"{name.name}+: a class of speed is of any year; list classes, as in tier-a,tier-b"
            )
        found = profiles_in(name.name, catalog)
    else:
        found = catalog.resolve(name.name)
    found = tuple(profile for profile in found if name.vendor in (None, profile.vendor))
    if name.match == "newer":
        found = _or_newer(found, catalog)
    return _cut_into(name.partition, found, name) if name.partition else found


def partition_meant(name: ModelName, profiles: tuple[Profile, ...]) -> str | None:
    """The partition that a name stands for; a mode that leaves the device whole, as `spx_nps1`, is none."""
    parts = [part for profile in profiles for part in profile.partitions if part.name == name.partition]
    return None if parts and all(part.is_whole for part in parts) else name.partition


def models_meant(name: ModelName, catalog: Catalog, foreign_models: Sequence[str]) -> list[str]:
    """The models of the fleet outside the catalog that a name stands for.

    An exact name of the catalog stands for none: what calls itself the same without being it is a variant.
    """
    if name.match == "exact" and catalog.resolve(name.name):
        return []
    return [model for model in foreign_models if model.casefold() == name.name.casefold()]


def unknown_name(name: ModelName, catalog: Catalog, foreign_models: Sequence[str]) -> str:
    """What to say of a name that neither the catalog nor the fleet has, or not of this vendor."""
    others = sorted({profile.vendor for profile in catalog.resolve(name.name)})
    if name.vendor and others:
        return f"{name.name!r} is of {' and '.join(others)}, not of {name.vendor}; drop the vendor before it"
    near = catalog.suggest(name.name) or next(iter(get_close_matches(name.name, foreign_models, 1)), None)
    hint = f"did you mean {near!r}?" if near else "`hetero-ops catalog list` shows what is known"
    vendor = f" of {name.vendor}" if name.vendor else ""
    return f"{name.name!r} is a model{vendor} that neither the catalog nor the fleet has; {hint}"


def _or_newer(named: tuple[Profile, ...], catalog: Catalog) -> tuple[Profile, ...]:
    """Them, and what the same vendor launched later in the same class."""
    latest: dict[tuple[str, str], int] = {}
    for profile in named:
        key, year = (profile.vendor, profile.accelerator_class), profile.launch_year or 0
        latest[key] = max(latest.get(key, 0), year)

    def is_newer(profile: Profile) -> bool:
        after = latest.get((profile.vendor, profile.accelerator_class))
        return after is not None and (profile.launch_year or 0) > after and not profile.is_inventory_only

    return tuple(profile for profile in catalog if profile in named or is_newer(profile))


def _cut_into(partition: str, found: tuple[Profile, ...], name: ModelName) -> tuple[Profile, ...]:
    """Those that have the partition, or of whose partitions nothing is known."""
    # Among all models of a vendor there are some of whose partitions nothing is known; they cannot vouch for a name.
    doubt = (True,) if name.name == "*" else (True, None)
    fitting = tuple(profile for profile in found if _has(profile, partition) in doubt)
    if found and not fitting:
        valid = list(dict.fromkeys(part.name for profile in found for part in profile.partitions))
        what = f"{name.name!r} has no partition {partition!r}"
        if not valid:
            raise InvalidRequirement(f"{what}: it cannot be partitioned; ask for a share, as in gpu:0.25 share=mps")
        close = get_close_matches(partition, valid, 1)
        hint = f"did you mean {close[0]!r}? It" if close else "it"
        raise InvalidRequirement(f"{what}; {hint} has {_listed(valid)}")
    return fitting


def _has(profile: Profile, partition: str) -> bool | None:
    if profile.partitions:
        return partition in {part.name for part in profile.partitions}
    return False if profile.partitioning == "none" else None


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _SHOWN_PARTITIONS} more" if len(names) > _SHOWN_PARTITIONS else ""
    return ", ".join(names[:_SHOWN_PARTITIONS]) + more
