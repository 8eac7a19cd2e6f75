"""NVIDIA: labels of GPU feature discovery, MIG under both strategies, sharing in time."""

import re
from collections.abc import Iterator

from hetero_ops.inventory.kubernetes.model import identify, unknown
from hetero_ops.inventory.kubernetes.node_view import Device, Group, NodeView

_VENDOR = "nvidia"
_WHOLE_KEYS = ("nvidia.com/gpu", "nvidia.com/gpu.shared")
_PARTITION_KEY = re.compile(r"(nvidia\.com/mig-(\d+g\.\d+gb)((?:[.-][a-z]+)*?))(?:\.shared)?")
_PARTITION_COUNT = re.compile(r"(nvidia\.com/mig-\d+g\.\d+gb(?:[.-][a-z]+)*?)\.count")
_PRODUCT = re.compile(r"(?P<model>.+?)(?:-MIG-(?P<profile>\S+?))?(?P<shared>-SHARED)?")
# The memory a driver reports lies a little below the nominal one (ECC, reserves), never far from it.
_LEAST_OF_NOMINAL, _MOST_OF_NOMINAL = 0.85, 1.05


def read(node: NodeView) -> list[Group]:
    """Read the NVIDIA devices of a node: whole cards first, then partitions by name."""
    groups = [_whole(node, key) for key in _WHOLE_KEYS if node.offered(key)]
    partitions = sorted(key for key in node.offers if _PARTITION_KEY.fullmatch(key) and node.offered(key))
    groups += [_partition(node, key) for key in partitions]
    _find_unoffered(node, groups)
    return groups


def owns(key: str) -> bool:
    """Tell whether a resource key is read here."""
    return key in _WHOLE_KEYS or _PARTITION_KEY.fullmatch(key) is not None


def driver(labels: dict[str, str]) -> dict[str, str]:
    """Read the versions of the driver and of the CUDA it supports, from the new keys or the old ones."""
    old = [labels.get(f"nvidia.com/cuda.driver.{part}", "") for part in ("major", "minor", "rev")]
    old_cuda = [labels.get(f"nvidia.com/cuda.runtime.{part}", "") for part in ("major", "minor")]
    versions = {
        _VENDOR: labels.get("nvidia.com/cuda.driver-version.full") or ".".join(part for part in old if part),
        "cuda": labels.get("nvidia.com/cuda.runtime-version.full") or ".".join(part for part in old_cuda if part),
    }
    return {name: version for name, version in versions.items() if version}


def _products(node: NodeView, label: str) -> tuple[list[str], str | None, bool]:
    """Give the product of a label without what discovery appends, the MIG profile, and whether it is shared."""
    match = _PRODUCT.fullmatch(node.labels.get(label, "").strip())
    if match is None:
        return [], None, False
    return [match["model"]], match["profile"], match["shared"] is not None


def _whole(node: NodeView, key: str) -> Group:
    products, profile, is_shared = _products(node, "nvidia.com/gpu.product")
    slots = _slots(node, key, is_shared=is_shared)
    memory = node.number("nvidia.com/gpu.memory")
    if profile == "INVALID":
        node.find("PARTITION_STALE", f"{key}: discovery calls the MIG layout invalid; its devices are taken as unknown")
        return node.group(key, unknown(_VENDOR, "gpu"), slots)
    doubt = _doubt(node, key, slots) or (None if profile else _memory_doubt(node, products, memory))
    if doubt:
        node.find("MODEL_AMBIGUOUS", f"{key}: {doubt}; its devices are taken as unknown")
        return node.group(key, unknown(_VENDOR, "gpu"), slots)
    device = identify(node, _VENDOR, "gpu", key, products)
    return node.group(key, _with(device, profile, memory), slots)


def _slots(node: NodeView, key: str, *, is_shared: bool) -> int:
    """Units a card: replicas are no cards."""
    replicas = node.number("nvidia.com/gpu.replicas") or 0
    if replicas > 1:
        return replicas
    strategy = node.labels.get("nvidia.com/gpu.sharing-strategy", "none")
    cards = node.number("nvidia.com/gpu.count") or 0
    if cards and (is_shared or key.endswith(".shared") or strategy != "none"):
        return max(node.offered(key) // cards, 1)
    return 1


def _doubt(node: NodeView, key: str, slots: int) -> str | None:
    """Say why the labels cannot describe what is offered: one product cannot stand for cards it does not count."""
    is_mixed = (
        node.labels.get("nvidia.com/mig.strategy") == "mixed" and node.labels.get("nvidia.com/mig.capable") == "true"
    )
    counted = node.number("nvidia.com/gpu.count")
    offered = sum(node.offered(key) for key in _WHOLE_KEYS)
    if counted and not is_mixed and offered != counted * slots:
        each = f" of {slots} units each" if slots > 1 else ""
        return f"{node.offered(key)} units offered, but labels count {counted} cards{each}"
    return None


def _memory_doubt(node: NodeView, products: list[str], memory: int | None) -> str | None:
    """A label of one card beside the memory of another: discovery flips between the models of a mixed node."""
    profile = node.catalog.identify(products[0]) if products else None
    if profile is None or profile.memory_mib is None or not memory:
        return None
    if _LEAST_OF_NOMINAL <= memory / profile.memory_mib <= _MOST_OF_NOMINAL:
        return None
    return f"labels say {products[0]} and {memory} MiB, which no {profile.sku} has"


def _partition(node: NodeView, key: str) -> Group:
    match = _PARTITION_KEY.fullmatch(key)
    label, profile, suffix = match.groups() if match else (key, "", "")
    # A plus sign is not allowed in a resource key: 1g.10gb+me is offered as mig-1g.10gb.me.
    profile += f"+{suffix[1:]}" if suffix.startswith(".") else suffix
    products, _, _ = _products(node, f"{label}.product")
    products = products or _products(node, "nvidia.com/gpu.product")[0]
    counted, slots = node.number(f"{label}.count"), max(node.number(f"{label}.replicas") or 1, 1)
    offered = node.offered(label) + node.offered(f"{label}.shared")
    if counted is not None and counted * slots != offered:
        node.find("PARTITION_STALE", f"{key}: {offered} offered, but labels count {counted}; taken as unknown devices")
        return node.group(key, unknown(_VENDOR, "gpu"))
    device = identify(node, _VENDOR, "gpu", key, products)
    return node.group(key, _with(device, profile, node.number(f"{label}.memory")), slots)


def _with(device: Device, partition: str | None, memory: int | None) -> Device:
    more = {"partition": partition, "memory_mib": memory}
    return device | {name: value for name, value in more.items() if value}


def _find_unoffered(node: NodeView, groups: list[Group]) -> None:
    cards = node.number("nvidia.com/gpu.count")
    if cards and not groups:
        node.find(
            "NOT_OFFERED", f"labels count {cards} NVIDIA cards, but the node offers none: is the device plugin running?"
        )
    for label in _counted_partitions(node):
        if groups and not node.offered(label) and not node.offered(f"{label}.shared"):
            node.find("PARTITION_STALE", f"{label}: labels count partitions that are not offered")


def _counted_partitions(node: NodeView) -> Iterator[str]:
    for label in sorted(node.labels):
        match = _PARTITION_COUNT.fullmatch(label)
        if match and node.number(label):
            yield match[1]
