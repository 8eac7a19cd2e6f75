"""Several views of one node as one node."""

from collections.abc import Sequence
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.bare_card import hand_down
from hetero_ops.inventory.device_list import Device, expand
from hetero_ops.inventory.device_union import unite_devices
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.sight import Differences, Sight
from hetero_ops.inventory.use_union import is_seen, renumber, unite_uses

_ORDER = (
    *("name", "pool", "project", "labels", "taints", "state", "cpu_milli", "memory_mib", "power_budget_mw"),
    *("driver", "runtime", "rdma", "devices", "used"),
)
_ACTIVE = "active"
# What a person decides about a node: an update does not change it.
_BY_HAND = ("pool", "project", "power_budget_mw")
# Hosts say what they have less what they keep for themselves, each in its own way.
_HOST_PERCENT = 10


def join(sights: Sequence[Sight], catalog: Catalog) -> tuple[dict[str, Any], list[Finding]]:
    """Unite all views of a node; the source that knows most of the devices counts where they contradict each other.

    Args:
        sights: at least one; of equally rich ones the earlier counts.
        catalog: the known accelerators.
    """
    first, *others = sorted(sights, key=_poverty) if len(sights) > 1 else sights
    findings: list[Finding] = []
    for other in others:
        node, found = unite(first, other, catalog)
        findings += found
        first = Sight(first.source, node)
    return first.node, findings


def unite(
    first: Sight, second: Sight, catalog: Catalog, *, is_update: bool = False
) -> tuple[dict[str, Any], list[Finding]]:
    """Unite two views of a node; where they differ the first counts.

    Args:
        first: the richer view, or the newer one.
        second: the other.
        catalog: the known accelerators.
        is_update: whether the second is what was known before: what a person decided stays, and what is in use is
            replaced, not united.
    """
    ours, theirs = hand_down(first.node, second.node, catalog)
    theirs, ours = hand_down(theirs, ours, catalog)
    differences = Differences(ours["name"], first.source, second.source)
    united: dict[str, Any] = {**theirs, **ours}
    for key in (*_BY_HAND, "taints", "rdma"):
        if key in ours and key in theirs and ours[key] != theirs[key]:
            is_kept = is_update and key in _BY_HAND
            united[key] = (theirs if is_kept else ours)[key]
            differences.note(key, ours[key], theirs[key], kept=second.source if is_kept else first.source)
    for key in ("cpu_milli", "memory_mib"):
        amounts = [node[key] for node in (ours, theirs) if node.get(key)]
        if amounts and (max(amounts) - min(amounts)) * 100 > max(amounts) * _HOST_PERCENT:
            differences.note(key, amounts[0], amounts[1])
    for key in ("labels", "driver"):
        both = (ours.get(key, {}), theirs.get(key, {}))
        for name in sorted(both[0].keys() & both[1].keys()):
            if both[0][name] != both[1][name]:
                differences.note(f"{key} {name}", both[0][name], both[1][name])
        united[key] = {**both[1], **both[0]}
    united["runtime"] = list(dict.fromkeys([*ours.get("runtime", []), *theirs.get("runtime", [])]))
    united["state"] = _state(ours.get("state"), theirs.get("state"), differences, is_update=is_update)
    our_devices, their_devices = expand(ours.get("devices", [])), expand(theirs.get("devices", []))
    united["devices"], ids = unite_devices(our_devices, their_devices, catalog, differences)
    united["used"] = _uses(ours, theirs, ids, united["devices"], is_update=is_update)
    node = {key: united[key] for key in _ORDER if united.get(key) not in (None, {}, [])}
    if "used" in ours or "used" in theirs:
        node["used"] = united["used"]
    return node, differences.findings()


def _poverty(sight: Sight) -> int:
    return -sum(len(device) for device in expand(sight.node.get("devices", [])))


def _state(ours: str | None, theirs: str | None, differences: Differences, *, is_update: bool) -> str | None:
    """A node that one source closes is closed; only what a cluster closed does it open again."""
    if ours is None or theirs is None or ours == theirs:
        return ours or theirs
    is_opened = is_update and ours == _ACTIVE and theirs in ("cordoned", "draining")
    state = theirs if ours == _ACTIVE and not is_opened else ours
    differences.note("state", ours, theirs, kept=differences.first if state == ours else differences.second)
    return state


def _uses(
    ours: dict[str, Any], theirs: dict[str, Any], ids: dict[int, int], devices: list[Device], *, is_update: bool
) -> list[dict[str, Any]]:
    second = renumber(theirs.get("used", []), ids)
    if "used" not in ours:
        return second
    kinds = {device["id"]: f"{device['sku']} {device.get('model')} {device.get('partition')}" for device in devices}
    if not is_update:
        return unite_uses(ours["used"], second, kinds)
    # Only a scheduler knows what is held, and it tells the state of its nodes too. A tool sees processes alone.
    is_scheduler = "state" in ours or not all(map(is_seen, ours["used"]))
    held = [] if is_scheduler else [use for use in second if not is_seen(use)]
    # What a person wrote of a job, such as how it can be moved, stays while the job runs.
    owners = [use["owner"] for use in second]
    known = {use["owner"]: use for use in second if owners.count(use["owner"]) == 1}
    return unite_uses([{**known.get(use["owner"], {}), **use} for use in ours["used"]], held, kinds)
