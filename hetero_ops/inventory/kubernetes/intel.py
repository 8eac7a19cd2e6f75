"""Intel GPUs: one product label, PCI ids where it is missing, no memory label at all."""

import re

from hetero_ops.inventory.kubernetes.model import identify, skus, unknown
from hetero_ops.inventory.kubernetes.node_view import Group, NodeView

_VENDOR = "intel"
# By the kernel driver that holds the card: a node may offer some cards under each.
_KEYS = ("gpu.intel.com/i915", "gpu.intel.com/xe")
_PCI_LABEL = re.compile(r"gpu\.intel\.com/device-id\.03[0-9a-f]{2}-([0-9a-f]{4})\.(?:count|present)")


def read(node: NodeView) -> list[Group]:
    """Read the Intel GPUs of a node."""
    return [_cards(node, key) for key in _KEYS if node.offered(key)]


def owns(key: str) -> bool:
    """Tell whether a resource key is read here."""
    return key in _KEYS


def _cards(node: NodeView, key: str) -> Group:
    product = node.labels.get("gpu.intel.com/product", "")
    ids = sorted({match[1] for label in node.labels if (match := _PCI_LABEL.fullmatch(label))})
    pci_ids = [f"8086:{device_id}" for device_id in ids]
    meant = {sku for pci_id in pci_ids for sku in skus(node, _VENDOR, pci_id) or [pci_id]}
    slots = _slots(node, key)
    if len(pci_ids) > 1 and len(meant) > 1:
        node.find("MODEL_AMBIGUOUS", f"{key}: cards of several models ({', '.join(pci_ids)}); taken as unknown")
        return node.group(key, unknown(_VENDOR, "gpu"), slots)
    products = [product] if product else []
    return node.group(key, identify(node, _VENDOR, "gpu", key, [*products, *pci_ids]), slots)


def _slots(node: NodeView, key: str) -> int:
    """Units a card: sharing multiplies the count under the same name."""
    cards, offered = node.number("gpu.intel.com/device.count"), node.offered(key)
    is_only_key = sum(node.offered(other) > 0 for other in _KEYS) == 1
    return offered // cards if cards and is_only_key and offered % cards == 0 else 1
