"""The devices of two views of a node as one list: what one does not know, the other may."""

from collections.abc import Sequence

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_list import Device, islands_of, set_islands
from hetero_ops.inventory.device_match import is_kind_alike, match
from hetero_ops.inventory.printed.product import meanings
from hetero_ops.inventory.sight import Differences
from hetero_ops.inventory.span import which

_UNKNOWN = "unknown"
# Only of use where the catalog does not have the device.
_OF_UNKNOWN = ("vendor", "class", "model")
_COMPARED = ("partition", "uuid", "pci", "serial", "slot", "firmware", "numa", "switch", "nic", *_OF_UNKNOWN)
# Tools round: 192G beside 196592 MiB is no contradiction.
_MEMORY_PERCENT = 2


def unite_devices(
    first: Sequence[Device], second: Sequence[Device], catalog: Catalog, differences: Differences
) -> tuple[list[Device], dict[int, int]]:
    """Unite two lists of devices of one node; where they differ the first counts, but unhealthy always does.

    Args:
        first: devices one by one, as `expand` gives them.
        second: the same.
        catalog: the known accelerators.
        differences: where contradictions go.

    Returns:
        The devices, and their ids by the ids in the second list. Ids of the first list stay.
    """
    ids = match(first, second, catalog)
    theirs = {ids[device["id"]]: device for device in second if device["id"] in ids}
    united = [_unite(device, theirs.get(device["id"]), catalog, differences) for device in first]
    added = [device for device in second if device["id"] not in ids]
    unseen = [device["id"] for device in added if any(is_kind_alike(device, other, catalog) for other in first)]
    if unseen:
        differences.say(f"{which('device', unseen)}: only in {differences.second}, not in {differences.first}; kept")
    for device in added:
        taken = {other["id"] for other in united}
        ids[device["id"]] = device["id"] if device["id"] not in taken else max(taken) + 1
        united.append({**device, "id": ids[device["id"]]})
    united.sort(key=lambda device: int(device["id"]))
    _join_islands(united, first, second, ids, differences)
    return united, ids


def _unite(ours: Device, theirs: Device | None, catalog: Catalog, differences: Differences) -> Device:
    if theirs is None:
        return dict(ours)
    device_id = ours["id"]
    if ours["sku"] == _UNKNOWN != theirs["sku"]:
        _compare_model(theirs, ours, catalog, differences, device_id)
        ours = {**{key: value for key, value in ours.items() if key not in _OF_UNKNOWN}, "sku": theirs["sku"]}
    elif theirs["sku"] == _UNKNOWN != ours["sku"]:
        _compare_model(ours, theirs, catalog, differences, device_id)
        theirs = {key: value for key, value in theirs.items() if key not in _OF_UNKNOWN}
    elif ours["sku"] != theirs["sku"]:
        differences.note("sku", ours["sku"], theirs["sku"], device_id)
    for key in _COMPARED:
        if key in ours and key in theirs and ours[key] != theirs[key]:
            differences.note(key, ours[key], theirs[key], device_id)
    memories = [device["memory_mib"] for device in (ours, theirs) if device.get("memory_mib")]
    if memories and (max(memories) - min(memories)) * 100 > max(memories) * _MEMORY_PERCENT:
        differences.note("memory_mib", memories[0], memories[1], device_id)
    healths = (ours.get("health"), theirs.get("health"))
    united = {**theirs, **ours}
    if "unhealthy" in healths:
        united["health"] = "unhealthy"
        if "healthy" in healths:
            differences.note("health", healths[0], healths[1], device_id, kept="unhealthy")
    return united


def _compare_model(settled: Device, open_: Device, catalog: Catalog, differences: Differences, device_id: int) -> None:
    """Note where the name that one source could not settle means other devices than the other one found."""
    name = open_.get("product") or open_.get("model")
    meant = [profile.sku for profile in meanings(catalog, name)] if name else []
    if meant and settled["sku"] not in meant:
        differences.say(f"device {device_id}: {settled['sku']} in one source, {name!r} in another; the first is kept")


def _join_islands(
    united: Sequence[Device],
    first: Sequence[Device],
    second: Sequence[Device],
    ids: dict[int, int],
    differences: Differences,
) -> None:
    ours = {tuple(sorted(island)) for island in islands_of(first).values()}
    theirs = {tuple(sorted(ids[at] for at in island)) for island in islands_of(second).values()}
    stated = {device["id"] for device in first if "islands" in device} | {at for island in ours for at in island}
    if ours and theirs and ours != theirs:
        differences.note("islands", sorted(ours), sorted(theirs))
    kept = ours | {island for island in theirs if not stated & {*island}}
    set_islands(united, sorted(kept))
