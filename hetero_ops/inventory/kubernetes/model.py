"""From the product strings of a node to one SKU, or to what is known without one."""

from collections.abc import Sequence

from hetero_ops.inventory.kubernetes.labels import MODEL_LABELS, USER_MODEL_LABEL
from hetero_ops.inventory.kubernetes.node_view import Device, NodeView


def unknown(vendor: str, accelerator_class: str, product: str | None = None) -> Device:
    """Describe devices of which no more is known."""
    device: Device = {"sku": "unknown", "vendor": vendor, "class": accelerator_class}
    if product:
        device |= {"model": product, "product": product}
    return device


def skus(node: NodeView, vendor: str, product: str) -> list[str]:
    """Give the SKUs of a vendor that a product string may mean: another vendor's label says nothing of this one."""
    return [profile.sku for profile in node.catalog.candidates(product) if profile.vendor == vendor]


def identify(node: NodeView, vendor: str, accelerator_class: str, key: str, discovered: Sequence[str]) -> Device:
    """Name the devices behind a resource key.

    Args:
        node: the node.
        vendor: whose key it is.
        accelerator_class: what its devices are when nothing names them.
        key: the resource key, for the findings.
        discovered: product strings of the vendor's own discovery, the most reliable first. Labels of clouds and of
            persons are asked after them.
    """
    labels = (*MODEL_LABELS.get(vendor, ()), USER_MODEL_LABEL)
    products = [*discovered, *(node.labels[label] for label in labels if label in node.labels)]
    products = [product for product in products if product.strip()]
    meanings = [(product, skus(node, vendor, product)) for product in products]
    settled = [(product, meant[0]) for product, meant in meanings if len(meant) == 1]
    if settled:
        _find_conflicts(node, settled)
        return {"sku": settled[0][1]}
    if not products:
        node.find("UNLABELLED", f"{key}: no label names the model; its devices are taken as unknown ({vendor})")
        return unknown(vendor, accelerator_class)
    product, meant = next((meaning for meaning in meanings if meaning[1]), meanings[0])
    if meant:
        node.find("MODEL_AMBIGUOUS", f"{key}: {product!r} may be any of {', '.join(meant)}; taken as unknown")
    else:
        node.find("UNKNOWN_DEVICE", f"{key}: the catalog has no {product!r}; add a profile, or it is used by name only")
    return unknown(vendor, accelerator_class, product)


def _find_conflicts(node: NodeView, settled: Sequence[tuple[str, str]]) -> None:
    product, sku = settled[0]
    for other, other_sku in settled[1:]:
        if other_sku != sku:
            node.find("LABEL_CONFLICT", f"labels say {product!r} ({sku}) and {other!r} ({other_sku}); the first counts")
            return
