"""NVIDIA: labels of GPU feature discovery (GFD), MIG under both strategies, sharing in time, GKE without GFD.

Source of labels and resource names: NVIDIA k8s-device-plugin, README of GFD and its labeller.
"""

import re
from collections.abc import Iterator

from hetero_ops.inventory.kubernetes.model import identify, unknown
from hetero_ops.inventory.kubernetes.node_view import Device, Group, NodeView

_VENDOR = "nvidia"
_WHOLE_KEYS = ("nvidia.com/gpu", "nvidia.com/gpu.shared")
_PRODUCT_LABEL = "nvidia.com/gpu.product"
_PROFILE = r"(?:\d+c\.)?\d+g\.\d+gb"
_PARTITION_KEY = re.compile(rf"(nvidia\.com/mig-({_PROFILE})((?:[.-](?!shared)[a-z]+)*))(?:\.shared)?")
_PARTITION_COUNT = re.compile(rf"(nvidia\.com/mig-{_PROFILE}(?:[.-][a-z]+)*)\.count")
_PRODUCT = re.compile(r"(?P<model>.+?)(?:-MIG-(?P<profile>\S+?))?(?P<shared>-SHARED)?")
# A plus sign is allowed in no key and no label: 1g.10gb+me is offered as mig-1g.10gb.me, and labelled 1g.10gbme.
_ATTRIBUTE = re.compile(rf"({_PROFILE})\.?(me|me\.all|gfx)")
# GKE counts its cards where GFD does not run.
_CARD_COUNTS = ("nvidia.com/gpu.count", "cloud.google.com/gke-accelerator-count")
_GKE_SHARING, _GKE_PARTITION = "cloud.google.com/gke-gpu-sharing-strategy", "cloud.google.com/gke-gpu-partition-size"


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


def label_offers(node: NodeView) -> dict[str, int]:
    """Give the units that labels alone tell of: partitions where they are counted, whole cards where none is.

    With both on one node the labels do not say how many cards are left whole; those are left out.
    """
    partitions = {
        label: (node.number(f"{label}.count") or 0) * max(node.number(f"{label}.replicas") or 1, 1)
        for label in _counted_partitions(node)
    }
    cards = (_cards(node) or 0) * max(node.number("nvidia.com/gpu.replicas") or 1, 1)
    return partitions or ({"nvidia.com/gpu": cards} if cards else {})


def _product(node: NodeView, label: str) -> tuple[list[tuple[str, str]], str | None, bool]:
    """Give the product of a label without what discovery appends, the MIG profile, and whether it is shared."""
    match = _PRODUCT.fullmatch(node.labels.get(label, "").strip())
    if match is None:
        return [], None, False
    profile = match["profile"] and _profile(match["profile"])
    return [(label, match["model"])], profile, match["shared"] is not None


def _profile(text: str) -> str:
    """Bring the plus sign back into the name of a profile."""
    match = _ATTRIBUTE.fullmatch(text)
    return text if match is None else f"{match[1]}+{match[2]}"


def _cards(node: NodeView) -> int | None:
    return next((count for label in _CARD_COUNTS if (count := node.number(label))), None)


def _whole(node: NodeView, key: str) -> Group:
    product, profile, is_shared = _product(node, _PRODUCT_LABEL)
    profile = profile or node.labels.get(_GKE_PARTITION) or None
    slots = 1 if node.labels.get(_GKE_PARTITION) else _slots(node, key, is_shared=is_shared)
    memory = node.number("nvidia.com/gpu.memory")
    if profile == "INVALID":
        node.find("PARTITION_STALE", f"{key}: discovery calls the MIG layout invalid; its devices are taken as unknown")
        return node.group(key, unknown(_VENDOR, "gpu"), slots)
    if node.labels.get("nvidia.com/vgpu.present") == "true":
        return node.group(key, _virtual(node, key, product, memory), slots)
    doubt = _doubt(node, key, slots)
    if doubt:
        node.find("MODEL_AMBIGUOUS", f"{key}: {doubt}; its devices are taken as unknown")
        return node.group(key, unknown(_VENDOR, "gpu"), slots)
    device = identify(node, _VENDOR, "gpu", key, product, None if profile else memory)
    return node.group(key, _with(device, profile, memory), slots)


def _virtual(node: NodeView, key: str, product: list[tuple[str, str]], memory: int | None) -> Device:
    """A virtual GPU of a hypervisor is a part of a card, whatever the card is called."""
    name = product[0][1] if product else None
    node.find("UNKNOWN_DEVICE", f"{key}: virtual GPUs ({name or 'without a product'}), parts of a card of unknown size")
    return _with(unknown(_VENDOR, "gpu", name), None, memory)


def _slots(node: NodeView, key: str, *, is_shared: bool) -> int:
    """Units a card: replicas are no cards."""
    replicas = node.number("nvidia.com/gpu.replicas") or 0
    if replicas > 1:
        return replicas
    strategy = node.labels.get("nvidia.com/gpu.sharing-strategy", "none")
    cards = _cards(node) or 0
    is_said = is_shared or key.endswith(".shared") or strategy != "none" or _GKE_SHARING in node.labels
    return max(node.offered(key) // cards, 1) if cards and is_said else 1


def _doubt(node: NodeView, key: str, slots: int) -> str | None:
    """Say why the labels cannot describe what is offered: one product cannot stand for cards it does not count."""
    is_mixed = (
        node.labels.get("nvidia.com/mig.strategy") == "mixed" and node.labels.get("nvidia.com/mig.capable") == "true"
    )
    counted, offered = _cards(node), sum(node.offered(each) for each in _WHOLE_KEYS)
    if not counted or node.labels.get(_GKE_PARTITION):
        return None
    # Under the mixed strategy the cards that are partitioned are counted too, but not offered whole.
    if offered > counted * slots if is_mixed else offered != counted * slots:
        each = f" of {slots} units each" if slots > 1 else ""
        return f"{node.offered(key)} units offered, but labels count {counted} cards{each}"
    return None


def _partition(node: NodeView, key: str) -> Group:
    match = _PARTITION_KEY.fullmatch(key)
    label, profile, suffix = match.groups() if match else (key, "", "")
    profile += f"+{suffix[1:]}" if suffix.startswith(".") else suffix
    product = _product(node, f"{label}.product")[0] or _product(node, _PRODUCT_LABEL)[0]
    counted, slots = node.number(f"{label}.count"), max(node.number(f"{label}.replicas") or 1, 1)
    offered = node.offered(label) + node.offered(f"{label}.shared")
    if counted is not None and counted * slots != offered:
        node.find("PARTITION_STALE", f"{key}: {offered} offered, but labels count {counted}; taken as unknown devices")
        return node.group(key, unknown(_VENDOR, "gpu") | {"partition": profile})
    device = identify(node, _VENDOR, "gpu", key, product)
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
    if not groups and _product(node, _PRODUCT_LABEL)[1] == "INVALID":
        node.find("PARTITION_STALE", "discovery calls the MIG layout invalid, and the node offers nothing")
    for label in _counted_partitions(node):
        if groups and not node.offered(label) and not node.offered(f"{label}.shared"):
            node.find("PARTITION_STALE", f"{label}: labels count partitions that are not offered")


def _counted_partitions(node: NodeView) -> Iterator[str]:
    for label in sorted(node.labels):
        match = _PARTITION_COUNT.fullmatch(label)
        if match and node.number(label):
            yield match[1]
