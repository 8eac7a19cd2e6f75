"""From the product that a tool prints to one SKU, or to what is known without one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.profile import Profile
from hetero_ops.inventory.finding import FindingCode

# What drivers keep back of the nameplate: a T4 of 16 GiB reports 15360 MiB, an Ascend 310P3 of 24 GiB reports 21527.
_LEAST_PERCENT = 85
_MOST_PERCENT = 103


@dataclass(frozen=True, slots=True)
class Product:
    """What a device is.

    Attributes:
        fields: of a device of the fleet document.
        doubt: why it has no SKU; `None` when it has one.
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

    Args:
        catalog: the known accelerators.
        names: product strings as printed, then PCI ids as `8086:e20b`; the first that the catalog knows counts.
        memory_mib: printed memory. It tells apart what a name leaves open, and a name that it contradicts is not
            believed: no SKU is better than a wrong one.
        vendor: whose tool printed it; other vendors' devices are not meant.
        accelerator_class: what such devices are when nothing else says so.
    """
    known = {"memory_mib": memory_mib} if memory_mib else {}
    product = {"product": names[0]} if names else {}
    meant = next((found for name in names if (found := meanings(catalog, name, vendor))), [])
    fitting = [profile for profile in meant if is_fitting(profile, memory_mib)]
    if len(fitting) == 1:
        return Product({"sku": fitting[0].sku, **known, **product})
    rest: dict[str, Any] = {"vendor": vendor, "class": accelerator_class}
    rest |= {"vendor": _common(meant, "vendor")} if meant else {}
    rest |= {"class": _common(meant, "accelerator_class")} if meant else {}
    model = (_common(fitting, "model") if fitting else None) or (names[0] if names else None)
    fields = {"sku": "unknown", **rest, "model": model, **known, **product}
    return Product({key: value for key, value in fields.items() if value}, _doubt(names, meant, fitting, memory_mib))


def is_fitting(profile: Profile, memory_mib: int | None) -> bool:
    """Tell whether a device of this profile can report that much memory."""
    if memory_mib is None or profile.memory_mib is None:
        return True
    return profile.memory_mib * _LEAST_PERCENT <= memory_mib * 100 <= profile.memory_mib * _MOST_PERCENT


def meanings(catalog: Catalog, name: str, vendor: str | None = None) -> list[Profile]:
    """Give what a printed name may mean: as a person reads it, narrowed to the devices that report it.

    `A100` is also a PCI id of another vendor, which is not meant. `None` as vendor means any.
    """
    written, reported = catalog.resolve(name), catalog.candidates(name)
    both = [profile for profile in reported if profile in written]
    return [profile for profile in both or written or reported if vendor in (None, profile.vendor)]


def _common(profiles: Sequence[Profile], field: str) -> Any:  # noqa: ANN401 - any field of a profile
    values = {getattr(profile, field) for profile in profiles}
    return values.pop() if len(values) == 1 else None


def _doubt(
    names: Sequence[str], meant: Sequence[Profile], fitting: Sequence[Profile], memory_mib: int | None
) -> tuple[FindingCode, str]:
    if not names:
        return "UNKNOWN_DEVICE", "the model is not printed; taken as unknown"
    if not meant:
        more = f" ({', '.join(names[1:])})" if names[1:] else ""
        return "UNKNOWN_DEVICE", f"the catalog has no {names[0]!r}{more}"
    skus = ", ".join(profile.sku for profile in fitting or meant)
    if fitting:
        return "MODEL_AMBIGUOUS", f"{names[0]!r} may be any of {skus}; taken as unknown"
    return (
        "MODEL_AMBIGUOUS",
        f"{names[0]!r} of {memory_mib} MiB fits no profile of that name ({skus}); taken as unknown",
    )
