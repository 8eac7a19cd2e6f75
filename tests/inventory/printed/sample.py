"""What the tests of this folder share: a reading of one sample, taken apart."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.placement.fleet import Fleet

CATALOG = Catalog.builtin()
Find = Callable[[str], Path]


def text_of(test_data: Find, name: str) -> str:
    return test_data(f"samples/{name}").read_text(encoding="utf-8")


def codes(fragment: Fragment) -> list[str]:
    return [finding.code for finding in fragment.findings]


def message(fragment: Fragment, code: str) -> str:
    return "; ".join(finding.message for finding in fragment.findings if finding.code == code)


def document(fragment: Fragment) -> dict[str, Any]:
    clusters = [{"name": "c", "nodes": list(fragment.nodes)}]
    return {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters}


def load(fragment: Fragment) -> Fleet:
    return Fleet.from_document(document(fragment))


def free(fragment: Fragment) -> int:
    return sum(row["free_devices"] for row in load(fragment).overview())
