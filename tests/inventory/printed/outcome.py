"""What a reader made of a text, in the words that the tests ask in."""

from typing import Any

from hetero_ops.inventory.fragment import Fragment
from hetero_ops.placement.fleet import Fleet

DOCUMENT = {"apiVersion": "hetero-ops/v1", "kind": "Fleet"}


def node(fragment: Fragment) -> dict[str, Any]:
    (only,) = fragment.nodes
    return only


def devices(fragment: Fragment) -> list[dict[str, Any]]:
    return node(fragment).get("devices", [])


def values(fragment: Fragment, key: str) -> list[Any]:
    """Give one field of all devices in order of their ids; `None` where it is absent."""
    return [device.get(key) for device in devices(fragment)]


def codes(fragment: Fragment) -> list[str]:
    return [finding.code for finding in fragment.findings]


def loaded(fragment: Fragment) -> Fleet:
    """Load the fragment as a fleet of its own."""
    return Fleet.from_document({**DOCUMENT, "clusters": [{"name": "c", "nodes": list(fragment.nodes)}]})


def largest_island(fragment: Fragment) -> int:
    return max(row["largest_free_island"] for row in loaded(fragment).overview())
