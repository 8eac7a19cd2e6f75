"""Kubernetes objects as a fleet: nodes, their labels and extended resources, and the pods that use them.

Labels are read per node and per vendor: a vendor that is absent, or that labels in its own way, never disturbs another.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hetero_ops.document.text import DocumentText
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import Finding, FindingCode
from hetero_ops.inventory.kubernetes.node import ReadNode, read_labels, read_node, read_zones_only
from hetero_ops.inventory.kubernetes.objects import Objects, sort_objects
from hetero_ops.inventory.kubernetes.pods import NodeUse, Pod, read_pod
from hetero_ops.inventory.kubernetes.snapshots import settle
from hetero_ops.inventory.kubernetes.zones import Zones, read_zones

__all__ = ["Finding", "FindingCode", "Imported", "read_cluster", "read_labels"]

_REGION = "topology.kubernetes.io/region"


@dataclass(frozen=True, slots=True)
class Imported:
    """A fleet document of one cluster, and what could not be settled on the way."""

    document: dict[str, Any]
    findings: tuple[Finding, ...]


def read_cluster(
    texts: Sequence[DocumentText], catalog: Catalog, cluster: str = "default", *, node: str | None = None
) -> Imported:
    """Read the output of `kubectl get nodes,pods -A -o json`, in one file or several; NodeResourceTopologies too.

    A node that appears twice is read as it appears last; when the two disagree about its devices, their model is
    taken as unknown. Where the input has no Node at all, nodes are made of what their NodeResourceTopologies tell.

    Args:
        texts: lists, nodes and pods, as JSON or YAML.
        catalog: the known accelerators.
        cluster: the name of the cluster in the document.
        node: the name of the one node whose labels, or whose object without a name, are given.

    Raises:
        InvalidDocument: the input is no such output.
    """
    objects = sort_objects(list(texts), takes_labels=node is not None)
    topologies = {zones.node: zones for zones in map(read_zones, objects.topologies)}
    snapshots: dict[str, list[ReadNode]] = {}
    for found in _nodes(objects, topologies, catalog, node):
        snapshots.setdefault(found.name, []).append(found)
    uses = {name: NodeUse(settle(nodes, catalog)) for name, nodes in sorted(snapshots.items())}
    pods = {pod.owner: pod for item in objects.pods if (pod := read_pod(item)) is not None}
    findings = [*objects.findings(), *_book(uses, pods)]
    findings += [
        Finding("NODE_MISSING", name, "its NodeResourceTopology is in the input, but no such node; left out")
        for name in sorted(topologies.keys() - uses.keys())
    ]
    for use in uses.values():
        findings += [*use.node.findings, *use.findings]
    document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [_cluster(cluster, list(uses.values()))]}
    return Imported(document, tuple(findings))


def _nodes(objects: Objects, topologies: dict[str, Zones], catalog: Catalog, name: str | None) -> Iterator[ReadNode]:
    for item in objects.nodes:
        own_name = item.get("metadata", "name").string() or name
        yield read_node(item, catalog, topologies.get(own_name or ""), name)
    for item in objects.labels:
        yield read_labels(item.strings(), catalog, name or "")
    if not objects.nodes and not objects.labels:
        for zones in topologies.values():
            yield read_zones_only(zones, catalog)


def _book(uses: dict[str, NodeUse], pods: dict[str, Pod]) -> list[Finding]:
    elsewhere: dict[str, int] = {}
    for _, pod in sorted(pods.items()):
        if pod.node in uses:
            uses[pod.node].book(pod)
        else:
            elsewhere[pod.node] = elsewhere.get(pod.node, 0) + 1
    return [
        Finding("NODE_MISSING", node, f"{count} pods run there, but the input has no such node")
        for node, count in sorted(elsewhere.items())
    ]


def _cluster(name: str, uses: list[NodeUse]) -> dict[str, Any]:
    nodes = [use.node.fields | ({"used": use.used} if use.used else {}) for use in uses]
    regions = {node.get("labels", {}).get(_REGION) for node in nodes}
    region = regions.pop() if len(regions) == 1 else None
    return {"name": name, **({"region": region} if region else {}), "nodes": nodes}
