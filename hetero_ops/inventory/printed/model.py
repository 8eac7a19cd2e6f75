"""From the product strings that a tool prints, and the memory beside them, to one SKU or to what is known without."""

from collections.abc import Sequence
from itertools import chain

from hetero_ops.gap.profile import Profile
from hetero_ops.inventory.printed.reading import Device, Reading

# The memory that a tool reports lies a little below the nominal one (ECC, reserves), never far from it: a T4 of
# 16384 MiB reports 15109.
_LEAST_OF_NOMINAL, _MOST_OF_NOMINAL = 0.85, 1.05
_CUT = "..."


def describe(
    reading: Reading, gpu: int, product: str | None, memory_mib: int | None, keys: Sequence[str | None] = ()
) -> Device:
    """Say what a device is.

    Args:
        reading: where doubts are noted.
        gpu: its index, for the notes.
        product: its product string as printed; it ends with `...` where a table cut it.
        memory_mib: the memory it reports; tells candidates apart, and is kept as printed.
        keys: other names of the same device, such as its PCI id. What any of the names leaves open another may settle;
            where they contradict each other none is believed.

    Returns:
        The fields of the device that say what it is: `sku`, with `vendor`, `class` and `model` where it has none in
        the catalog, and `product` and `memory_mib` as printed.
    """
    names = [name for name in (product, *keys) if name]
    if not names:
        reading.note("PRODUCT_NOT_PRINTED", "the text does not name the product; taken as unknown", gpu)
        return reading.unknown(memory_mib=memory_mib)
    is_cut = product is not None and product.endswith(_CUT)
    sets = [profiles for name in names if (profiles := _candidates(reading, name))]
    common = [profile for profile in sets[0] if all(profile in other for other in sets)] if sets else []
    profile = _settle(common, memory_mib, is_cut=is_cut)
    known = {"product": product, "memory_mib": memory_mib}
    if profile is None:
        left = [profile for profile in common if is_fitting(profile, memory_mib)] or common or chain(*sets)
        _note_doubt(reading, gpu, names[0], list(dict.fromkeys(profile.sku for profile in left)), is_cut=is_cut)
        return reading.unknown(model=None if is_cut else product, **known)
    if is_cut:
        what = f"{product!r} is cut; by its beginning and {memory_mib} MiB it is taken as {profile.sku}"
        reading.note("NAME_CUT", what, gpu)
    if not is_fitting(profile, memory_mib):
        what = f"{memory_mib} MiB printed, but a {profile.sku} has {profile.memory_mib}; kept as printed"
        reading.note("MEMORY_CONTRADICTS", what, gpu)
    return {"sku": profile.sku} | {key: value for key, value in known.items() if value is not None}


def is_fitting(profile: Profile, memory_mib: int | None) -> bool:
    """Tell whether a device of this profile can report that much memory; unknown memory fits."""
    if memory_mib is None or profile.memory_mib is None:
        return True
    return _LEAST_OF_NOMINAL <= memory_mib / profile.memory_mib <= _MOST_OF_NOMINAL


def _settle(profiles: Sequence[Profile], memory_mib: int | None, *, is_cut: bool) -> Profile | None:
    """Choose the one profile that is left. The beginning of a name alone settles nothing: others may begin so too."""
    if len(profiles) == 1 and not is_cut:
        return profiles[0]
    fitting = [profile for profile in profiles if is_fitting(profile, memory_mib)]
    return fitting[0] if len(fitting) == 1 and memory_mib is not None else None


def _candidates(reading: Reading, name: str) -> list[Profile]:
    if not name.endswith(_CUT):
        return [profile for profile in reading.catalog.candidates(name) if profile.vendor == reading.vendor]
    beginning = _bare(name.removesuffix(_CUT))
    mine = [profile for profile in reading.catalog if beginning and profile.vendor == reading.vendor]
    return [profile for profile in mine if _bare(profile.product_name or "").startswith(beginning)]


def _bare(name: str) -> str:
    """Drop the vendor, which old drivers do not print."""
    return name.strip().lower().removeprefix("nvidia").strip()


def _note_doubt(reading: Reading, gpu: int, name: str, skus: Sequence[str], *, is_cut: bool) -> None:
    if skus:
        reading.note("MODEL_AMBIGUOUS", f"{name!r} may be any of {', '.join(skus)}; taken as unknown", gpu)
    elif is_cut:
        what = f"{name!r} is cut, and nothing in the catalog begins so; taken as unknown"
        reading.note("MODEL_AMBIGUOUS", what, gpu)
    else:
        what = f"the catalog has no {name!r}; add a profile, or it is used by name only"
        reading.note("UNKNOWN_DEVICE", what, gpu)
