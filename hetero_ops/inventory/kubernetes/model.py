"""From the product strings of a node to one SKU, or to what is known without one."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.kubernetes.labels import (
    INSTANCE_TYPE_LABEL,
    USER_MODEL_LABEL,
    instance_type_model,
    written_models,
)
from hetero_ops.inventory.kubernetes.node_view import Device, NodeView

# The memory a driver reports lies a little below the nominal one (ECC, reserves), never far from it.
_LEAST_OF_NOMINAL, _MOST_OF_NOMINAL = 0.85, 1.05


@dataclass(frozen=True, slots=True)
class Naming:
    """One source that names a model.

    Attributes:
        source: the label, or the resource key, that says it.
        product: what it says.
        skus: the SKUs of the vendor that this may mean.
    """

    source: str
    product: str
    skus: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.source} says {self.product!r}"


def unknown(vendor: str, accelerator_class: str, product: str | None = None) -> Device:
    """Describe devices of which no more is known."""
    device: Device = {"sku": "unknown", "vendor": vendor, "class": accelerator_class}
    if product:
        device |= {"model": product, "product": product}
    return device


def skus(node: NodeView, vendor: str, product: str) -> tuple[str, ...]:
    """Give the SKUs of a vendor that a product string may mean: another vendor's label says nothing of this one."""
    return _skus(node.catalog, vendor, product)


@functools.lru_cache(maxsize=1024)  # thousands of nodes have the same few labels
def _skus(catalog: Catalog, vendor: str, product: str) -> tuple[str, ...]:
    found = [profile.sku for profile in catalog.candidates(product) if profile.vendor == vendor]
    # `a100` is a card of NVIDIA and a PCI id of Qualcomm.
    return tuple(found or [profile.sku for profile in catalog.resolve(product) if profile.vendor == vendor])


def identify(  # noqa: PLR0913, PLR0917 - who asks, for which devices, and the two kinds of evidence
    node: NodeView,
    vendor: str,
    accelerator_class: str,
    key: str,
    discovered: Sequence[tuple[str, str]],
    memory_mib: int | None = None,
) -> Device:
    """Name the devices behind a resource key.

    Args:
        node: the node.
        vendor: whose key it is.
        accelerator_class: what its devices are when nothing names them.
        key: the resource key, for the findings.
        discovered: label and value of the vendor's own discovery, the most reliable first. Labels of clouds and of
            persons are asked after them.
        memory_mib: memory of one whole device as discovered: it tells variants of a model apart, and a label that
            cannot be true.
    """
    namings = _namings(node, vendor, discovered, memory_mib)
    if not namings:
        node.find("UNLABELLED", f"{key}: no label names the model; its devices are taken as unknown ({vendor})")
        return unknown(vendor, accelerator_class)
    known = [naming for naming in namings if naming.skus]
    if not known:
        first = namings[0]
        node.find("UNKNOWN_DEVICE", f"{key}: {first}, which the catalog lacks; add a profile, or it is used by name")
        return unknown(vendor, accelerator_class, first.product)
    meant = _settle(node, known)
    if meant is None:
        first = known[0]
        node.find("MODEL_AMBIGUOUS", f"{key}: {first}, which may be any of {', '.join(first.skus)}; taken as unknown")
        return unknown(vendor, accelerator_class, first.product)
    if memory_mib and not _has_memory(node, meant.skus[0], memory_mib):
        what = f"{key}: {meant}, but its devices have {memory_mib} MiB, which no {meant.skus[0]} has"
        node.find("MODEL_AMBIGUOUS", f"{what}; taken as unknown")
        return unknown(vendor, accelerator_class)
    return {"sku": meant.skus[0]}


def _namings(
    node: NodeView, vendor: str, discovered: Sequence[tuple[str, str]], memory_mib: int | None
) -> list[Naming]:
    said = [*discovered, *written_models(node.labels, vendor)]
    namings = [Naming(source, product, skus(node, vendor, product)) for source, product in said if product.strip()]
    weak = instance_type_model(node.labels, vendor)
    if weak and len(meant := skus(node, vendor, weak)) == 1:
        namings.append(Naming(INSTANCE_TYPE_LABEL, weak, meant))
    person = node.labels.get(USER_MODEL_LABEL, "")
    meant = skus(node, vendor, person)
    # On a node of two vendors a person names one of them: the other has nothing to do with it.
    if person.strip() and (meant or not node.catalog.candidates(person)):
        namings.append(Naming(USER_MODEL_LABEL, person, meant))
    return [_narrowed(node, naming, memory_mib) for naming in namings]


def _narrowed(node: NodeView, naming: Naming, memory_mib: int | None) -> Naming:
    """Leave out the variants that have another memory, unless that leaves none: then the doubt is told later."""
    fitting = tuple(sku for sku in naming.skus if memory_mib and _has_memory(node, sku, memory_mib))
    return Naming(naming.source, naming.product, fitting) if len(naming.skus) > 1 and fitting else naming


def _has_memory(node: NodeView, sku: str, memory_mib: int) -> bool:
    nominal = node.catalog[sku].memory_mib
    return nominal is None or _LEAST_OF_NOMINAL <= memory_mib / nominal <= _MOST_OF_NOMINAL


def _settle(node: NodeView, known: Sequence[Naming]) -> Naming | None:
    """Give the first source that names one SKU, if no more reliable one excludes it."""
    first = known[0]
    settled = next((naming for naming in known if len(naming.skus) == 1), None)
    if settled is not None and settled.skus[0] not in first.skus:
        node.find("LABEL_CONFLICT", f"{first}, {settled}; the first counts")
        return None
    for other in known[1:]:
        if settled is not None and settled.skus[0] not in other.skus:
            node.find(
                "LABEL_CONFLICT", f"{settled} ({settled.skus[0]}), {other} ({', '.join(other.skus)}); the first counts"
            )
            break
    return settled
