"""Nodes with the driver stacks of two vendors: each works alone, together they get into each other's way."""

from collections.abc import Mapping
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.driver_table import DriverTable
from hetero_ops.gap.words import VENDORS


def two_stacks(node: Mapping[str, Any], catalog: Catalog) -> str | None:
    """Name the stacks of a node of the fleet document, where it has devices or drivers of more than one vendor."""
    devices = {vendor for device in node.get("devices", ()) if (vendor := _vendor(device, catalog))}
    of_key = DriverTable.builtin().vendor_of_key
    drivers = {vendor for key in node.get("driver", ()) if (vendor := of_key.get(key, key)) in VENDORS}
    vendors = sorted(devices | drivers)
    if len(vendors) < 2:  # noqa: PLR2004 - it takes two
        return None
    each = ", ".join(f"{vendor} ({_seen(vendor, devices, drivers)})" for vendor in vendors)
    return f"driver stacks of {each}"


def _vendor(device: Mapping[str, Any], catalog: Catalog) -> str | None:
    """Whose driver a device needs; a CPU needs none."""
    if device["sku"] in catalog:
        profile = catalog[device["sku"]]
        return None if profile.accelerator_class == "cpu" else profile.vendor
    return None if device.get("class") == "cpu" else device.get("vendor")


def _seen(vendor: str, devices: set[str], drivers: set[str]) -> str:
    if vendor not in drivers:
        return "devices, no driver stated"
    return "devices and driver" if vendor in devices else "driver, but no devices"
