"""Small fleets, written as short as they are thought."""

from typing import Any

from hetero_ops.placement.fleet import Fleet

H100 = "H100-SXM5-80GB"
H100_PCIE = "H100-PCIE-80GB"
A100_40 = "A100-SXM4-40GB"
JSON = dict[str, Any]


def document(*nodes: JSON, **fields: Any) -> JSON:
    clusters = [{"name": "west", "nodes": list(nodes)}]
    return {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters, **fields}


def node(name: str, *devices: str | JSON, used: tuple[int, ...] = (), **fields: Any) -> JSON:
    """A node; `"4xL4"` is a group of four."""
    groups = [_group(group) if isinstance(group, str) else group for group in devices]
    uses = [{"owner": "someone", "devices": list(used)}] if used else []
    return {"name": name, "devices": groups, "used": uses, **fields}


def fleet(*nodes: JSON, **fields: Any) -> Fleet:
    return Fleet.from_document(document(*nodes, **fields))


def _group(text: str) -> JSON:
    count, sku = text.split("x", 1)
    return {"sku": sku, "count": int(count)}
