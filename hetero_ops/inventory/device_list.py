"""Device groups of a fleet document as single devices, which can be compared, searched and written as rows."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

Device = dict[str, Any]

# One value for all devices of a group, or a list of one each.
_ONE_EACH = ("numa", "switch", "nic")


def expand(groups: Sequence[Device]) -> list[Device]:
    """Give the devices of a node one by one, each with its `id`.

    The document must be valid. Stated islands stand with the first device that states some; the others that state
    some have an empty list, so that none is derived for them.

    Args:
        groups: `devices` of a node.
    """
    devices: list[Device] = []
    islands: list[list[int]] = []
    for group in groups:
        count = 1 if "id" in group else group["count"]
        own = ("id", "count", "islands", *_ONE_EACH)
        common = {key: value for key, value in group.items() if key not in own}
        for index in range(count):
            device = {"id": group.get("id", len(devices)), **common}
            for key in _ONE_EACH:
                place = group.get(key)
                place = place[index] if isinstance(place, list) else place
                if place is not None:
                    device[key] = place
            if group.get("islands") is not None:
                device["islands"] = []
            devices.append(device)
        islands += group.get("islands") or []
    stating = next((device for device in devices if "islands" in device), None)
    if stating is not None:
        stating["islands"] = sorted(sorted(island) for island in islands)
    return devices


def islands_of(devices: Sequence[Device]) -> dict[int, list[int]]:
    """Give the stated island of each device; devices that state to be in none are not in it."""
    islands = [island for device in devices for island in device.get("islands") or []]
    return {device_id: island for island in islands for device_id in island}


def set_islands(devices: Sequence[Device], islands: Sequence[Sequence[int]]) -> None:
    """State islands of devices as `expand` does: those in none of them keep what they state."""
    named = {device_id for island in islands for device_id in island}
    stating = [device for device in devices if "islands" in device or device["id"] in named]
    for device in stating:
        device["islands"] = []
    if stating:
        stating[0]["islands"] = sorted(sorted(island) for island in islands)


def drop_repeated(devices: Sequence[Device]) -> list[tuple[int, str]]:
    """Take away UUIDs and PCI addresses that several devices have, since they tell none of them apart.

    Returns:
        By device id what was taken away. Partitions share the address of their card, which stays.
    """
    dropped: list[tuple[int, str]] = []
    for key in ("uuid", "pci"):
        whole = [device for device in devices if key in device and not (key == "pci" and "partition" in device)]
        counts = Counter(device[key] for device in whole)
        dropped += [
            (device["id"], f"{key} {device.pop(key)} is said of several; left out")
            for device in whole
            if counts[device[key]] > 1
        ]
    return dropped
