"""Devices of which nobody said what they are."""

from collections.abc import Iterable
from typing import Any

from hetero_ops.inventory.device_list import Device
from hetero_ops.inventory.finding import Finding


def is_nameless(device: Device) -> bool:
    """Tell whether neither a model nor a product of a device is known."""
    return device["sku"] == "unknown" and "product" not in device and "model" not in device


def without_answered(findings: Iterable[Finding], document: dict[str, Any]) -> list[Finding]:
    """Leave out that a text does not name the devices of a node, where another one named them all.

    Args:
        findings: of the texts, one by one.
        document: the fleet document that they made together.
    """
    nameless = {
        node["name"]
        for cluster in document["clusters"]
        for node in cluster.get("nodes", [])
        if any(map(is_nameless, node.get("devices", [])))
    }
    return [each for each in findings if each.code != "PRODUCT_NOT_PRINTED" or each.node in nameless]
