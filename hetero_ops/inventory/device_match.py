"""Which device of one view of a node is which of another."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_list import Device

Key = Callable[[Device], Hashable | None]


def match(first: Sequence[Device], second: Sequence[Device], catalog: Catalog) -> dict[int, int]:
    """Match devices of two lists: by UUID, else by PCI address, else by place among those of a vendor, else by id.

    Partitions are matched by place among those of one profile: no tool gives them ids. A number that several devices
    of a list have tells none of them apart. Where both lists say a UUID or an address, no id joins devices that differ
    in it; nor does one join devices of different vendors: each tool counts its own from 0.

    Args:
        first: devices one by one, as `expand` gives them.
        second: the same.
        catalog: the known accelerators.

    Returns:
        The id in the first list by the id in the second, for those that were found.
    """
    found: dict[int, int] = {}
    for key in (_uuid, _address):
        ours, theirs = _by(key, first, found.values()), _by(key, second, found.keys())
        found |= {theirs[value]["id"]: ours[value]["id"] for value in theirs if value in ours}
    for one, other in _pairs(_rest(first, found.values()), _rest(second, found.keys()), catalog):
        if _can_be_same(one, other, catalog):
            found[other["id"]] = one["id"]
    return found


def _rest(devices: Sequence[Device], taken: Collection[int]) -> list[Device]:
    return sorted((device for device in devices if device["id"] not in taken), key=lambda device: int(device["id"]))


def _pairs(first: Sequence[Device], second: Sequence[Device], catalog: Catalog) -> Iterator[tuple[Device, Device]]:
    """Pair what neither UUID nor address tells apart."""
    ours, theirs = (_by_kind(devices, catalog) for devices in (first, second))
    has_partitions = any("partition" in device for device in second)
    is_mixed = len(ours) > 1 or len(theirs) > 1 or has_partitions
    if is_mixed and all(len(theirs[kind]) == len(ours.get(kind, [])) for kind in theirs):
        for kind, devices in theirs.items():
            yield from zip(ours[kind], devices, strict=True)
        return
    by_id = {device["id"]: device for device in first}
    yield from ((by_id[device["id"]], device) for device in second if device["id"] in by_id)


def _by_kind(devices: Sequence[Device], catalog: Catalog) -> dict[Hashable, list[Device]]:
    kinds: dict[Hashable, list[Device]] = {}
    for device in devices:
        kinds.setdefault((*kind_of(device, catalog), device.get("partition")), []).append(device)
    return kinds


def kind_of(device: Device, catalog: Catalog) -> tuple[str | None, str | None]:
    """Give vendor and class of a device; `None` where unknown."""
    if device["sku"] in catalog:
        profile = catalog[device["sku"]]
        return profile.vendor, profile.accelerator_class
    return device.get("vendor"), device.get("class")


def is_kind_alike(one: Device, other: Device, catalog: Catalog) -> bool:
    """Tell whether vendor and class of two devices do not contradict each other."""
    pairs = zip(kind_of(one, catalog), kind_of(other, catalog), strict=True)
    return all(ours is None or theirs is None or ours == theirs for ours, theirs in pairs)


def _can_be_same(one: Device, other: Device, catalog: Catalog) -> bool:
    are_told_apart = any(
        key(one) is not None and key(other) is not None and key(one) != key(other) for key in (_uuid, _address)
    )
    are_card_and_part = _is_instance(one) != _is_instance(other) and ("partition" in one) != ("partition" in other)
    return not are_told_apart and not are_card_and_part and is_kind_alike(one, other, catalog)


def _is_instance(device: Device) -> bool:
    """Tell whether a device names the card that it is a part of, which has another id."""
    return "partition" in device and "slot" in device


def _uuid(device: Device) -> Hashable | None:
    uuid = device.get("uuid")
    return uuid.lower() if isinstance(uuid, str) else None


def _address(device: Device) -> Hashable | None:
    # Partitions of a card share its address.
    return None if "partition" in device else device.get("pci")


def _by(key: Key, devices: Sequence[Device], taken: Collection[int]) -> dict[Hashable, Device]:
    values = Counter(key(device) for device in devices)
    rest = ((key(device), device) for device in devices if device["id"] not in taken)
    return {value: device for value, device in rest if value is not None and values[value] == 1}
