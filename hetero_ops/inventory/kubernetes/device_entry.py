"""Groups of devices as the entries of a fleet document, with what is known of each device."""

from collections.abc import Sequence
from typing import Any

from hetero_ops.inventory.kubernetes.layout import Layout
from hetero_ops.inventory.kubernetes.node_view import Device, Group


def document_devices(groups: Sequence[Group], layout: Layout | None = None) -> list[Device]:
    """Give the device groups of the fleet document, ids in order.

    Devices with a UUID or PCI address of their own are listed one by one; of the others, neighbours in the same state
    are one entry.
    """
    entries: list[Device] = []
    first = 0
    for group in groups:
        for start, end in _runs(group, is_single=bool(layout and (layout.uuids or layout.pci))):
            entry = {**group.device, "count": end - start}
            if start in group.unhealthy:
                entry["health"] = "unhealthy"
            entries.append(entry | _placed(layout, first + start, first + end))
        first += group.count
    if layout is not None and layout.islands is not None:
        # The first entry tells of all islands of the node: an entry without them would have them derived.
        for index, entry in enumerate(entries):
            entry["islands"] = [list(island) for island in layout.islands] if index == 0 else []
    return entries


def _runs(group: Group, *, is_single: bool) -> list[tuple[int, int]]:
    starts = [
        index
        for index in range(group.count)
        if index == 0 or is_single or (index in group.unhealthy) != (index - 1 in group.unhealthy)
    ]
    return list(zip(starts, [*starts[1:], group.count], strict=True))


def _placed(layout: Layout | None, start: int, end: int) -> dict[str, Any]:
    if layout is None:
        return {}
    placed: dict[str, Any] = {}
    for name, said in (("numa", layout.numa), ("nic", layout.nic)):
        if any(one is not None for one in said[start:end]):
            placed[name] = list(said[start:end])
    for name, each in (("uuid", layout.uuids), ("pci", layout.pci)):
        if each and each[start] is not None:
            placed[name] = each[start]
    return placed
