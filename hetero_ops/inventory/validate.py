"""What is worth a look in a fleet document that is valid."""

from collections.abc import Iterator, Mapping
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.preflight import device_verdict
from hetero_ops.inventory.finding import Finding, FindingCode
from hetero_ops.inventory.stacks import two_stacks


def findings_of(document: Mapping[str, Any], catalog: Catalog | None = None) -> tuple[Finding, ...]:
    """Look through the nodes of a fleet document.

    Args:
        document: as plain data; it must be valid, which building a `Fleet` of it proves.
        catalog: where devices are looked up; the built-in one by default.

    Returns:
        Sorted by code, then node.
    """
    known = catalog or Catalog.default()
    return tuple(
        sorted(
            Finding(code, node["name"], f"{message} (cluster {cluster['name']})")
            for cluster in document["clusters"]
            for node in cluster.get("nodes", ())
            for code, message in _of_node(node, known)
        )
    )


def _of_node(node: Mapping[str, Any], catalog: Catalog) -> list[tuple[FindingCode, str]]:
    stacks = two_stacks(node, catalog)
    found: list[tuple[FindingCode, str]] = [] if stacks is None else [("TWO_STACKS", stacks)]
    too_old = dict.fromkeys(why for device in node.get("devices", ()) for why in _old_drivers(node, device, catalog))
    return found + [("DRIVER_TOO_OLD", why) for why in too_old]


def _old_drivers(node: Mapping[str, Any], device: Mapping[str, Any], catalog: Catalog) -> Iterator[str]:
    sku, driver = device["sku"], node.get("driver", {})
    asked = [device_verdict("device-plugin", sku, driver)]
    if device.get("partition") and sku in catalog and catalog[sku].partitioning == "mig":
        asked.append(device_verdict("mig", sku, driver))
    for preflight in asked:
        if preflight.verdict == "fail":
            yield f"{preflight.why}; it has {preflight.found}"
