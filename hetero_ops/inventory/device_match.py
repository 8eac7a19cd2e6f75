"""Which device of one view of a node is which of another."""

from collections.abc import Callable, Hashable, Sequence

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_list import Device

Key = Callable[[Device], Hashable | None]


def match(first: Sequence[Device], second: Sequence[Device], catalog: Catalog) -> dict[int, int]:
    """Match devices of two lists: by UUID, else by PCI address, else by id, else by place among those of a vendor.

    A number that several devices of a list have tells none of them apart. Where both lists say a UUID or an address, no
    id joins devices that differ in it; nor does one join devices of different vendors: each tool counts its own from 0.

    Args:
        first: devices one by one, as `expand` gives them.
        second: the same.
        catalog: the known accelerators.

    Returns:
        The id in the first list by the id in the second, for those that were found.
    """
    found: dict[int, int] = {}

    def rest() -> tuple[list[Device], list[Device]]:
        taken = set(found.values())
        return [one for one in first if one["id"] not in taken], [one for one in second if one["id"] not in found]

    for key in (_uuid, _address):
        ours, theirs = (_by(key, devices) for devices in rest())
        found |= {theirs[value]["id"]: ours[value]["id"] for value in theirs if value in ours}
    ours_by_id = {device["id"]: device for device in rest()[0]}
    for device in rest()[1]:
        same = ours_by_id.get(device["id"])
        if same is not None and _can_be_same(same, device, catalog):
            found[device["id"]] = device["id"]
    for device in rest()[1]:
        ours_left, theirs_left = (
            [other for other in devices if kind_of(other, catalog) == kind_of(device, catalog)] for devices in rest()
        )
        if len(ours_left) == len(theirs_left) and _can_be_same(ours_left[0], device, catalog):
            found[device["id"]] = ours_left[0]["id"]
    return found


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
    return not are_told_apart and is_kind_alike(one, other, catalog)


def _uuid(device: Device) -> Hashable | None:
    uuid = device.get("uuid")
    return uuid.lower() if isinstance(uuid, str) else None


def _address(device: Device) -> Hashable | None:
    # Partitions of a card share its address.
    return None if "partition" in device else device.get("pci")


def _by(key: Key, devices: Sequence[Device]) -> dict[Hashable, Device]:
    values = [key(device) for device in devices]
    return {
        value: device
        for value, device in zip(values, devices, strict=True)
        if value is not None and values.count(value) == 1
    }
