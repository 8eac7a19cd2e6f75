"""Cards that one view of a node shows whole, but without saying what they are, and another view in partitions.

`nvidia-smi topo -m` tells where a card with MIG sits, and `nvidia-smi -q -x` its instances, under ids of their own.
"""

from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_list import Device, expand, islands_of, set_islands
from hetero_ops.inventory.device_match import is_kind_alike
from hetero_ops.inventory.nameless import is_nameless

Node = dict[str, Any]


def hand_down(node: Node, other: Node, catalog: Catalog) -> tuple[Node, Node]:
    """Take from a node the nameless cards whose partitions another view of it has, and give those its place.

    A partition names the id of its card as `slot`; it has no island, whatever that of its card is. A card that is said
    to be in use stays.
    """
    parts = expand(other.get("devices", []))
    busy = {device_id for use in node.get("used", []) for device_id in use.get("devices", [])}
    cards: dict[int, Device] = {}
    for device in expand(node.get("devices", [])):
        if is_nameless(device) and "partition" not in device and device["id"] not in busy:
            cards[device["id"]] = device
    found = {at for at, card in cards.items() if any(_is_of(part, card, catalog) for part in parts)}
    found -= {part["id"] for part in parts if "partition" not in part}
    if not found:
        return node, other
    for part in parts:
        card = next((cards[at] for at in sorted(found) if _is_of(part, cards[at], catalog)), {})
        for key in ("numa", "switch", "nic"):
            if key in card:
                part.setdefault(key, card[key])
    return {**node, "devices": _without(expand(node["devices"]), found)}, {**other, "devices": parts}


def _is_of(part: Device, card: Device, catalog: Catalog) -> bool:
    return "partition" in part and part.get("slot") == str(card["id"]) and is_kind_alike(part, card, catalog)


def _without(devices: list[Device], gone: set[int]) -> list[Device]:
    islands = [island for device in devices for island in device.get("islands") or []]
    rest = [device for device in devices if device["id"] not in gone]
    known = {*islands_of(devices)}
    for device in rest:
        if device["id"] in known:
            device["islands"] = []  # of an island of which one device is left
    left = [[at for at in island if at not in gone] for island in islands]
    set_islands(rest, [island for island in left if len(island) > 1])
    return rest
