"""Intel GPUs: one product label, PCI ids where it is missing, no memory label at all.

Source: Intel device plugins for Kubernetes, README of the GPU plugin and its labels.
"""

import re

from hetero_ops.inventory.kubernetes.model import identify, skus, unknown
from hetero_ops.inventory.kubernetes.node_view import Device, Group, NodeView

_VENDOR = "intel"
# By the kernel driver that holds the card: one pool of cards can appear under both.
_KEYS = ("gpu.intel.com/i915", "gpu.intel.com/xe")
_PRODUCT_LABEL = "gpu.intel.com/product"
_PCI_LABEL = re.compile(r"gpu\.intel\.com/device-id\.03[0-9a-f]{2}-([0-9a-f]{4})\.(?:count|present)")
_PCI_COUNT = re.compile(r"gpu\.intel\.com/device-id\.03[0-9a-f]{2}-[0-9a-f]{4}\.count")


def read(node: NodeView) -> list[Group]:
    """Read the Intel GPUs of a node."""
    keys = sorted((key for key in _KEYS if node.offered(key)), key=lambda key: (-node.offered(key), key))
    if not keys:
        return []
    device = _model(node, keys)
    if len(keys) == 1 or _cards(node) == sum(node.offered(key) for key in keys):
        return [node.group(key, device, _slots(node, key, is_alone=len(keys) == 1)) for key in sorted(keys)]
    # Nothing says that these are different cards: counted twice, they would be given away twice.
    first, second = keys
    return [node.group(first, device, _slots(node, first, is_alone=True), aliases=(second,))]


def owns(key: str) -> bool:
    """Tell whether a resource key is read here."""
    return key in _KEYS


def label_offers(node: NodeView) -> dict[str, int]:
    """Give the units that labels alone tell of; under which of the two keys they are offered does not matter."""
    cards = _cards(node)
    return {_KEYS[0]: cards} if cards else {}


def _model(node: NodeView, keys: list[str]) -> Device:
    product = node.labels.get(_PRODUCT_LABEL, "")
    found = {match[1]: label for label in sorted(node.labels) if (match := _PCI_LABEL.fullmatch(label))}
    pci_ids = {f"8086:{device_id}": label for device_id, label in sorted(found.items())}
    meant = {sku for pci_id in pci_ids for sku in skus(node, _VENDOR, pci_id) or [pci_id]}
    key = " and ".join(sorted(keys))
    if len(pci_ids) > 1 and len(meant) > 1:
        node.find("MODEL_AMBIGUOUS", f"{key}: cards of several models ({', '.join(pci_ids)}); taken as unknown")
        return unknown(_VENDOR, "gpu")
    discovered = [(_PRODUCT_LABEL, product), *((label, pci_id) for pci_id, label in pci_ids.items())]
    return identify(node, _VENDOR, "gpu", key, discovered)


def _cards(node: NodeView) -> int | None:
    counted = sum(node.number(label) or 0 for label in node.labels if _PCI_COUNT.fullmatch(label))
    return node.number("gpu.intel.com/device.count") or counted or None


def _slots(node: NodeView, key: str, *, is_alone: bool) -> int:
    """Units a card: sharing multiplies the count under the same name."""
    cards, offered = _cards(node), node.offered(key)
    return offered // cards if cards and is_alone and offered % cards == 0 else 1
