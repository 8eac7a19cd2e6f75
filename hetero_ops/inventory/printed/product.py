"""From the product that a tool prints, and the memory beside it, to one SKU, or to what is known without one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.profile import Profile
from hetero_ops.inventory.finding import FindingCode

# What drivers keep back of the nameplate: a T4 of 16384 MiB reports 15109, an Ascend 310P3 of 24576 reports 21527.
_LEAST_PERCENT = 85
_MOST_PERCENT = 105
_CUT = "..."
_PCI_ID = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}")


@dataclass(frozen=True, slots=True)
class Product:
    """What a device is.

    Attributes:
        fields: of a device of the fleet document.
        doubt: what a person should look at, such as why it has no SKU.
    """

    fields: dict[str, Any]
    doubt: tuple[FindingCode, str] | None = None


def identify(
    catalog: Catalog,
    names: Sequence[str],
    memory_mib: int | None = None,
    *,
    vendor: str | None = None,
    accelerator_class: str | None = None,
) -> Product:
    """Name a device by what was printed of it.

    What any of the names leaves open another may settle; names that contradict each other are not believed. A name of
    one SKU counts even where the memory is another: both are kept, with a doubt.

    Args:
        catalog: the known accelerators.
        names: product strings as printed, the main one first, which ends with `...` where a table cut it; then PCI
            ids, as `8086:e20b`.
        memory_mib: memory as printed, which is kept; it tells apart what the names leave open.
        vendor: whose tool printed it; other vendors' devices are not meant.
        accelerator_class: what such devices are when nothing else says so.
    """
    product = next((name for name in names if not _PCI_ID.fullmatch(name)), None)
    is_cut = product is not None and product.endswith(_CUT)
    meant = [profiles for name in names if (profiles := meanings(catalog, name, vendor))]
    common = [profile for profile in meant[0] if all(profile in other for other in meant)] if meant else []
    fitting = [profile for profile in common if is_fitting(profile, memory_mib)]
    known = {"product": product, "memory_mib": memory_mib or None}
    profile = _settle(common, fitting, is_by_memory=is_cut or len(common) > 1, memory_mib=memory_mib)
    if profile is not None:
        fields = {"sku": profile.sku, **known}
        return Product(_stated(fields), _doubt_of_one(profile, product, memory_mib, is_cut=is_cut))
    possible = fitting or common or list(dict.fromkeys(profile for profiles in meant for profile in profiles))
    model = _common(possible, "model") or (None if is_cut else product)
    of_unknown = {
        "vendor": _common(possible, "vendor") if possible else vendor,
        "class": _common(possible, "accelerator_class") if possible else accelerator_class,
        "model": model,
    }
    doubt = _doubt_of_none(names, possible, memory_mib if common and not fitting else None, is_cut=is_cut)
    return Product(_stated({"sku": "unknown", **of_unknown, **known}), doubt)


def is_fitting(profile: Profile, memory_mib: int | None) -> bool:
    """Tell whether a device of this profile can report that much memory; unknown memory fits."""
    if memory_mib is None or profile.memory_mib is None:
        return True
    return profile.memory_mib * _LEAST_PERCENT <= memory_mib * 100 <= profile.memory_mib * _MOST_PERCENT


def meanings(catalog: Catalog, name: str, vendor: str | None = None) -> list[Profile]:
    """Give the profiles that a printed name may mean; of a name that was cut, those that begin so.

    Args:
        catalog: the known accelerators.
        name: the name as printed, or a PCI id.
        vendor: whose devices are meant; `None` means any.
    """
    if not name.endswith(_CUT):
        return [profile for profile in catalog.candidates(name) if vendor in (None, profile.vendor)]
    beginning = _bare(name.removesuffix(_CUT))
    mine = [profile for profile in catalog if beginning and vendor in (None, profile.vendor)]
    return [profile for profile in mine if _bare(profile.product_name or "").startswith(beginning)]


def _bare(name: str) -> str:
    """Drop the vendor, which old drivers do not print."""
    return name.strip().lower().removeprefix("nvidia").strip()


def _settle(
    common: Sequence[Profile], fitting: Sequence[Profile], *, is_by_memory: bool, memory_mib: int | None
) -> Profile | None:
    """Choose the one profile that is left. The beginning of a name alone settles nothing: others may begin so too."""
    if not is_by_memory:
        return common[0] if common else None
    return fitting[0] if len(fitting) == 1 and memory_mib is not None else None


def _stated(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _common(profiles: Sequence[Profile], field: str) -> Any:  # noqa: ANN401 - any field of a profile
    values = {getattr(profile, field) for profile in profiles}
    return values.pop() if len(values) == 1 else None


def _doubt_of_one(
    profile: Profile, product: str | None, memory_mib: int | None, *, is_cut: bool
) -> tuple[FindingCode, str] | None:
    if is_cut:
        what = f"{product!r} is cut; by its beginning and {memory_mib} MiB it is taken as {profile.sku}"
        return "NAME_CUT", what
    if not is_fitting(profile, memory_mib):
        what = f"{memory_mib} MiB printed, but a {profile.sku} has {profile.memory_mib}; kept as printed"
        return "MEMORY_CONTRADICTS", what
    return None


def _doubt_of_none(
    names: Sequence[str], possible: Sequence[Profile], excluding_mib: int | None, *, is_cut: bool
) -> tuple[FindingCode, str]:
    if not names:
        return "PRODUCT_NOT_PRINTED", "the product is not printed; taken as unknown"
    skus = ", ".join(profile.sku for profile in possible)
    if excluding_mib is not None:
        what = f"{names[0]!r} of {excluding_mib} MiB fits no profile of that name ({skus}); taken as unknown"
        return "MODEL_AMBIGUOUS", what
    if skus:
        return "MODEL_AMBIGUOUS", f"{names[0]!r} may be any of {skus}; taken as unknown"
    if is_cut:
        return "MODEL_AMBIGUOUS", f"{names[0]!r} is cut, and nothing in the catalog begins so; taken as unknown"
    more = f" ({', '.join(names[1:])})" if names[1:] else ""
    return "UNKNOWN_DEVICE", f"the catalog has no {names[0]!r}{more}"
