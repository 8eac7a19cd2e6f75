"""Kubernetes objects for the tests: as little of them as matters."""

import json
from typing import Any

from hetero_ops.document.text import DocumentText, read_text
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.kubernetes import Imported, read_cluster

GFD = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.memory": "40960", "nvidia.com/gpu.count": "8"}
AMD = {"amd.com/gpu.device-id": "74a1", "beta.amd.com/gpu.device-id.74a1": "8"}


def node(
    name: str = "n",
    labels: dict[str, str] | None = None,
    resources: dict[str, str] | None = None,
    allocatable: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
) -> dict[str, Any]:
    capacity = resources or {}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}},
        "spec": {},
        "status": {"capacity": capacity, "allocatable": {**capacity, **(allocatable or {})}},
    }


def pod(
    name: str, requests: dict[str, str] | None = None, on: str | None = "n", phase: str = "Running"
) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"nodeName": on, "containers": [{"name": "main", "resources": {"requests": requests or {}}}]},
        "status": {"phase": phase},
    }


def text(*items: object) -> DocumentText:
    return read_text(json.dumps({"kind": "List", "items": list(items)}, indent=1), "kube.json")


def imported(*items: object) -> Imported:
    return read_cluster([text(*items)], Catalog.builtin())


def only_node(result: Imported) -> dict[str, Any]:
    (found,) = result.document["clusters"][0]["nodes"]
    return dict(found)


def devices(labels: dict[str, str], resources: dict[str, str]) -> list[dict[str, Any]]:
    """The devices of a node of which nothing is left to settle."""
    result = imported(node("n", labels, resources))
    assert result.findings == ()
    return list(only_node(result)["devices"])


def doubted(labels: dict[str, str], resources: dict[str, str]) -> tuple[list[dict[str, Any]], list[str]]:
    """The devices of a node and the codes of what was found."""
    result = imported(node("n", labels, resources))
    return list(only_node(result).get("devices", [])), codes(result)


def codes(result: Imported) -> list[str]:
    return [finding.code for finding in result.findings]
