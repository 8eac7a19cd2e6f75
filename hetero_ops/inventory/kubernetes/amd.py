"""AMD: labels in single and counted form, the device id as the key to the model, partition modes.

Source of labels and resource names: ROCm k8s-device-plugin, its node labeller and its configuration guide.
"""

import re

from hetero_ops.inventory.kubernetes.model import identify, skus, unknown
from hetero_ops.inventory.kubernetes.node_view import Device, Group, NodeView

_VENDOR = "amd"
_KEY = "amd.com/gpu"
_PREFIXES = ("amd.com/gpu.", "beta.amd.com/gpu.")
_MODE_KEY = re.compile(r"amd\.com/((spx|dpx|tpx|qpx|cpx)_nps\d)")
_MODE = re.compile(r"(spx|dpx|tpx|qpx|cpx)([_/-]?nps\d)?", re.IGNORECASE)
_PARTS = {"spx": 1, "dpx": 2, "tpx": 3, "qpx": 4}
_VRAM = re.compile(r"(\d{1,6})G")
_MIB_PER_GIB = 1024


def read(node: NodeView) -> list[Group]:
    """Read the AMD devices of a node."""
    groups = [_plain(node)] if node.offered(_KEY) and not _is_stale_plain(node) else []
    groups += [_partitioned(node, key) for key in _modes_offered(node)]
    if not groups and _values(node, "device-id"):
        node.find("NOT_OFFERED", "labels name AMD cards, but the node offers none: is the device plugin running?")
    return groups


def owns(key: str) -> bool:
    """Tell whether a resource key is read here."""
    return key == _KEY or _MODE_KEY.fullmatch(key) is not None


def driver(labels: dict[str, str]) -> dict[str, str]:
    """Read the version of the kernel module; it is no version of ROCm."""
    version = next(
        (labels[f"{prefix}driver-version"] for prefix in _PREFIXES if f"{prefix}driver-version" in labels), ""
    )
    return {_VENDOR: version} if version else {}


def label_offers(node: NodeView) -> dict[str, int]:
    """Give the units that labels alone tell of: cards that are counted by device id."""
    counted = sum(count or 0 for count in _values(node, "device-id").values())
    return {_KEY: counted} if counted else {}


def _modes_offered(node: NodeView) -> list[str]:
    return sorted(key for key in node.offers if _MODE_KEY.fullmatch(key) and node.offered(key))


def _is_stale_plain(node: NodeView) -> bool:
    """Tell whether the plain key gives out the cards of the keys of modes: names stay old after a change of mode."""
    ids = _values(node, "device-id")
    is_stale = bool(_modes_offered(node) and ids) and all(_has_modes(node, value) for value in ids)
    if is_stale:
        what = f"{_KEY}: {node.offered(_KEY)} offered beside partitions of the same cards; not counted again"
        node.find("PARTITION_STALE", what)
    return is_stale


def _values(node: NodeView, kind: str) -> dict[str, int | None]:
    """Give the values of a label and how many cards have each: `<kind>=<value>` or `<kind>.<value>=<count>`."""
    values: dict[str, int | None] = {}
    for prefix in _PREFIXES:
        plain = node.labels.get(f"{prefix}{kind}", "").strip()
        if plain:
            values.setdefault(plain, None)
        counted = f"{prefix}{kind}."
        for label in sorted(node.labels):
            if label.startswith(counted) and node.number(label):
                values[label.removeprefix(counted)] = node.number(label)
    return values


def _ids(node: NodeView, key: str) -> dict[str, int | None]:
    """Give the device ids that may be behind a key: beside keys of modes, the plain one has what has no modes."""
    ids = _values(node, "device-id")
    if not _modes_offered(node) or not node.offered(_KEY):
        return ids
    return {value: count for value, count in ids.items() if _has_modes(node, value) in (None, key != _KEY)}


def _has_modes(node: NodeView, device_id: str) -> bool | None:
    kinds = {node.catalog[sku].partitioning == "amd-partition" for sku in skus(node, _VENDOR, device_id)}
    return kinds.pop() if len(kinds) == 1 else None


def _model(node: NodeView, key: str) -> Device:
    """Name the model, by device id first: product names are missing at times."""
    ids, names = _ids(node, key), _values(node, "product-name")
    # Product names are not counted by key: where the keys tell models apart, only the ids do so too.
    names = names if len(ids) == len(_values(node, "device-id")) else {}
    values = list(ids) or list(names)
    meant = {sku for value in values for sku in skus(node, _VENDOR, value) or [value]}
    if len(values) > 1 and len(meant) > 1:
        node.find("MODEL_AMBIGUOUS", f"{key}: cards of several models ({', '.join(values)}); taken as unknown")
        return unknown(_VENDOR, "gpu")
    discovered = [*((f"{_KEY}.device-id", value) for value in ids), *((f"{_KEY}.product-name", name) for name in names)]
    device = identify(node, _VENDOR, "gpu", key, discovered)
    if device["sku"] == "unknown":
        vram = [_VRAM.fullmatch(value) for value in _values(node, "vram")]
        if len(vram) == 1 and vram[0]:
            device["memory_mib"] = int(vram[0][1]) * _MIB_PER_GIB
    return device


def _plain(node: NodeView) -> Group:
    device = _model(node, _KEY)
    modes = set() if _modes_offered(node) else _modes(node)
    if device["sku"] == "unknown":
        return node.group(_KEY, device if modes <= {"spx"} or not modes else unknown(_VENDOR, "gpu"))
    doubt = _mode_doubt(node, device, modes)
    if doubt:
        node.find("PARTITION_STALE", f"{_KEY}: {doubt}; its devices are taken as unknown")
        return node.group(_KEY, unknown(_VENDOR, "gpu"))
    return node.group(_KEY, _as_partition(node, device, modes.pop() if modes else "spx"))


def _modes(node: NodeView) -> set[str]:
    return {mode for value in _values(node, "compute-memory-partition") if (mode := _mode(value))}


def _mode(value: str) -> str | None:
    match = _MODE.fullmatch(value)
    return None if match is None else f"{match[1]}{'_' + match[2].strip('_/-') if match[2] else ''}".lower()


def _parts(node: NodeView, sku: str, mode: str) -> int:
    return _PARTS.get(mode[:3]) or node.catalog[sku].max_partitions or 1


def _mode_doubt(node: NodeView, device: Device, modes: set[str]) -> str | None:
    """Say why the mode of the labels cannot be that of the devices offered: names stay old after a change of mode."""
    if len(modes) > 1:
        return f"cards in several modes ({', '.join(sorted(modes))}) under one resource key"
    return _count_doubt(node, _KEY, device["sku"], min(modes, default="spx"))


def _count_doubt(node: NodeView, key: str, sku: str, mode: str) -> str | None:
    most_cards = node.catalog[sku].max_per_node
    if most_cards is None:
        return None
    parts, offered = _parts(node, sku, mode), node.offered(key)
    # Versions of the labeller differ in whether they count cards or partitions: more than a node holds are partitions.
    counted = sum(count or 0 for count in _ids(node, key).values())
    if parts == 1:
        if offered > most_cards:
            return f"{offered} devices of {sku} in one node and no partition mode"
        is_counted = not counted or counted == offered
        return None if is_counted else f"{offered} devices offered, but labels count {counted} cards"
    is_fitting = (
        offered == counted * parts if 0 < counted <= most_cards else offered % parts == 0 and offered > most_cards
    )
    if is_fitting:
        return None
    return f"mode {mode} makes {parts} partitions a card, which does not give the {offered} devices offered"


def _partitioned(node: NodeView, key: str) -> Group:
    match = _MODE_KEY.fullmatch(key)
    device = _model(node, key)
    mode = match[1] if match else "spx"
    if device["sku"] == "unknown":
        return node.group(key, device if mode.startswith("spx") else unknown(_VENDOR, "gpu") | {"partition": mode})
    doubt = _modes_doubt(node, key, device["sku"], mode)
    if doubt:
        node.find("PARTITION_STALE", f"{key}: {doubt}; its devices are taken as unknown")
        return node.group(key, unknown(_VENDOR, "gpu") | {"partition": mode})
    return node.group(key, _as_partition(node, device, mode))


def _modes_doubt(node: NodeView, key: str, sku: str, mode: str) -> str | None:
    """Say why the devices of this key, or of all such keys together, cannot be parts of the cards that labels count."""
    parts = _parts(node, sku, mode)
    if node.offered(key) % parts:
        return f"{node.offered(key)} offered, but {sku} gives {parts} a card"
    counted = sum(count or 0 for count in _ids(node, key).values())
    modes = {each: each.partition("/")[2] for each in _modes_offered(node)}
    offered = sum(node.offered(each) / _parts(node, sku, modes[each]) for each in modes)
    return f"the keys of modes offer {offered:g} cards, but labels count {counted}" if 0 < counted < offered else None


def _as_partition(node: NodeView, device: Device, mode: str) -> Device:
    parts = _parts(node, device["sku"], mode)
    memory = node.catalog[device["sku"]].memory_mib
    if parts == 1:
        return device
    return device | {"partition": mode} | ({"memory_mib": memory // parts} if memory else {})
