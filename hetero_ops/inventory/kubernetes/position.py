"""Where the devices of a node sit: from its annotation, else from its NodeResourceTopology, else unknown."""

from collections.abc import Sequence
from dataclasses import replace

from hetero_ops.inventory.kubernetes.layout import ANNOTATION, Layout, read_annotation
from hetero_ops.inventory.kubernetes.node_view import Group, NodeView
from hetero_ops.inventory.kubernetes.zones import Zone, Zones

PUBLISHER = "node-resource-topology"
_LABEL = "hetero-ops/topology"


def locate(node: NodeView, groups: Sequence[Group], zones: Zones | None) -> Layout | None:
    """Give what is known of the places of a node's devices; what contradicts the node is noted and left out."""
    published = None if zones is None else _from_zones(node, groups, zones)
    text = node.annotations.get(ANNOTATION)
    if text is None:
        return published
    try:
        said = read_annotation(text, sum(group.count for group in groups))
    except ValueError as error:
        node.find("TOPOLOGY_IGNORED", f"the annotation {ANNOTATION} is not used: {error}")
        return published
    if said.numa or published is None:
        return said
    return replace(said, source=f"{said.source}, {published.source}", numa=published.numa)


def topology_labels(layout: Layout | None, zones: Zones | None) -> dict[str, str]:
    """Give the labels of the fleet document that tell of topology.

    `hetero-ops/topology-source` is `annotation`, `node-resource-topology` or both, `-at` a time of RFC 3339, `-policy`
    and `-scope` are the words of the kubelet, `-distances` has a row of numbers for each NUMA node.
    """
    rows = [_distances(zone, zones) for zone in zones.zones] if zones else []
    found = {
        "source": layout and layout.source,
        "at": layout and layout.at,
        "policy": zones and zones.policy,
        "scope": zones and zones.scope,
        "distances": ", ".join(rows) if all(rows) else None,
    }
    return {f"{_LABEL}-{name}": value for name, value in found.items() if value}


def _distances(zone: Zone, zones: Zones) -> str:
    return " ".join(str(zone.distances[to.name]) for to in zones.zones if to.name in zone.distances)


def _from_zones(node: NodeView, groups: Sequence[Group], zones: Zones) -> Layout | None:
    numa: list[int | None] = []
    for group in groups:
        try:
            here = zones.numa(group.key, node.offered(group.key), group.slots)
        except ValueError as error:
            node.find("TOPOLOGY_IGNORED", f"its NodeResourceTopology is not used for {group.key}: {error}")
            here = None
        numa += here or [None] * group.count
    return Layout(PUBLISHER, numa=tuple(numa)) if any(number is not None for number in numa) else None
