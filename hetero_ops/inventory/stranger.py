"""Devices that the catalog lacks, as entries of a site's catalog file: what machines told of them, and no more."""

import re
from collections.abc import Iterator
from typing import Any

from hetero_ops.gap.catalog import Catalog

# What a device reports is at most this part below the size on its box, which firmware and ECC take.
_RESERVED = 0.07
_TRADEMARK = re.compile(r"\((?:R|TM|r|tm)\)")
_NOT_IN_KEYS = re.compile(r"[^A-Za-z0-9.]+")
_CUT_OFF = "..."


def entries_of(document: dict[str, Any], catalog: Catalog) -> list[dict[str, Any]]:
    """Give one entry for each product of a fleet document that the catalog does not have, in the order of the document.

    A product without a vendor or class, without a name or with one that was cut off, cannot be described and is left
    out. The size on the box is the smallest
    on the market that is at most 7 % above what is reported; where there is none, what is reported.
    """
    entries: dict[str, dict[str, Any]] = {}
    for device in _unknown(document):
        product = device.get("product") or device.get("model") or ""
        is_named = bool(product and device.get("vendor") and device.get("class")) and not product.endswith(_CUT_OFF)
        if not is_named or catalog.candidates(product):
            continue
        entry = _entry(product, device, catalog)
        entries.setdefault(entry["sku"], entry)
    return list(entries.values())


def _unknown(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for cluster in document["clusters"]:
        for node in cluster.get("nodes", []):
            yield from (
                device
                for device in node.get("devices", [])
                if device.get("sku") == "unknown" and not device.get("partition")
            )


def _entry(product: str, device: dict[str, Any], catalog: Catalog) -> dict[str, Any]:
    plain = " ".join(_TRADEMARK.sub(" ", product).split())
    model = re.sub(rf"^{re.escape(device['vendor'])} ", "", plain, flags=re.IGNORECASE)
    entry = {
        "sku": _NOT_IN_KEYS.sub("-", model).strip("-"),
        "vendor": device["vendor"],
        "class": device["class"],
        "model": model,
        "product_name": product,
    }
    reported = device.get("memory_mib")
    if reported is None:
        return entry
    return entry | {"memory": f"{_on_the_box(reported, catalog)}MB", "reported_memory": f"{reported}MB"}


def _on_the_box(reported_mib: int, catalog: Catalog) -> int:
    sizes = sorted({profile.memory_mib for profile in catalog if profile.memory_mib})
    return next((s for s in sizes if reported_mib <= s and s * (1 - _RESERVED) <= reported_mib), reported_mib)
