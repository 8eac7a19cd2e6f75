"""What a row of an asset table says of its devices."""

from typing import Any

from hetero_ops.document.refusal import shown
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.printed.asset_cell import Row
from hetero_ops.inventory.printed.printed_value import identifier, pci_address
from hetero_ops.inventory.printed.product import Product, identify

_CLASSES = ("gpu", "npu", "tpu", "lpu", "cpu")
_HEALTHS = ("healthy", "unhealthy")
_MOST_NUMA = 65535
_UNKNOWN = "unknown"


def describe(row: Row, catalog: Catalog) -> Product:
    """Say what the devices of a row are, with all that is theirs but their id.

    Raises:
        InvalidDocument: a cell cannot be read.
    """
    product = _product(row, catalog)
    facts: dict[str, Any] = {
        "partition": row.text("partition"),
        "serial": identifier(row.text("serial")),
        "uuid": identifier(row.text("uuid")),
        "pci": _pci(row),
        "slot": row.text("slot"),
        "firmware": row.text("firmware"),
        "numa": row.number("numa", _MOST_NUMA),
        "switch": row.number("switch", _MOST_NUMA),
        "health": row.word("health", _HEALTHS),
    }
    return Product(product.fields | {key: value for key, value in facts.items() if value is not None}, product.doubt)


def _product(row: Row, catalog: Catalog) -> Product:
    sku, memory = row.cell("sku"), row.memory_mib("memory")
    vendor, accelerator_class = row.text("vendor"), row.word("class", _CLASSES)
    model, product = row.text("model"), row.text("product")
    if sku and sku.lower() != _UNKNOWN:
        if sku not in catalog:
            near = catalog.suggest(sku)
            fix = f"did you mean {near!r}? " if near else ""
            raise row.refuse("sku", f"{sku!r} is not in the catalog", f"{fix}write a model where there is no such key")
        known = {"sku": sku, "memory_mib": memory, "product": product}
        return Product({key: value for key, value in known.items() if value is not None})
    if sku:  # said to be unknown, and taken so: `fleet export` writes it with what is known
        known = {
            "sku": _UNKNOWN,
            "vendor": vendor,
            "class": accelerator_class,
            "model": model,
            "memory_mib": memory,
            "product": product,
        }
        return Product({key: value for key, value in known.items() if value is not None})
    names = [name for name in (model, product) if name]
    meant = identify(catalog, names, memory, accelerator_class=accelerator_class, vendor=_vendor(vendor, catalog))
    fields = dict(meant.fields)
    if fields["sku"] == _UNKNOWN:
        fields |= {"vendor": vendor} if vendor else {}
    elif memory == catalog[fields["sku"]].memory_mib:
        del fields["memory_mib"]  # the nameplate, which is not what the device reports
    return Product(fields, meant.doubt)


def _vendor(vendor: str | None, catalog: Catalog) -> str | None:
    """Give the vendor word of the catalog; one that it does not have narrows nothing."""
    word = (vendor or "").lower()
    return word if any(profile.vendor == word for profile in catalog) else None


def _pci(row: Row) -> str | None:
    text = identifier(row.text("pci"))
    address = pci_address(text)
    if text is not None and address is None:
        raise row.refuse("pci", f"{shown(text)} is no PCI address", "write it as 0000:c3:00.0, or leave it empty")
    return address
