"""What a reader made of a text, in the words that the tests ask in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.placement.fleet import Fleet

CATALOG = Catalog.builtin()
DOCUMENT = {"apiVersion": "hetero-ops/v1", "kind": "Fleet"}


def text_of(test_data: Callable[[str], Path], name: str) -> str:
    return test_data(f"samples/{name}").read_text(encoding="utf-8")


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


def message(fragment: Fragment, code: str) -> str:
    return "; ".join(finding.message for finding in fragment.findings if finding.code == code)


def loaded(fragment: Fragment) -> Fleet:
    """Load the fragment as a fleet of its own."""
    return Fleet.from_document({**DOCUMENT, "clusters": [{"name": "c", "nodes": list(fragment.nodes)}]})


def free(fragment: Fragment) -> int:
    return sum(row["free_devices"] for row in loaded(fragment).overview())


def largest_island(fragment: Fragment) -> int:
    return max(row["largest_free_island"] for row in loaded(fragment).overview())
