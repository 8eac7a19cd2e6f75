"""An import added to a fleet document that exists: new facts count, what a person wrote stays."""

import copy
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_list import expand
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.intake import Imported
from hetero_ops.inventory.join import unite
from hetero_ops.inventory.nameless import without_answered
from hetero_ops.inventory.sight import Sight


def homes_of(document: dict[str, Any]) -> dict[str, str]:
    """Give the cluster of each node; nodes whose name several clusters have are left out."""
    homes: dict[str, list[str]] = {}
    for cluster in document["clusters"]:
        for node in cluster.get("nodes", []):
            homes.setdefault(node["name"], []).append(cluster["name"])
    return {node: clusters[0] for node, clusters in homes.items() if len(clusters) == 1}


def update(document: dict[str, Any], imported: Imported, catalog: Catalog, name: str) -> Imported:
    """Add an import to a document.

    Nodes of one name become one: what is new counts, what the import does not know stays, and so do pool, project and
    power budget, prices, limits and mix. Nodes that the import does not have stay as they are.

    Args:
        document: a valid fleet document; it is not changed.
        imported: what was read now.
        catalog: the known accelerators.
        name: what a person calls the document.
    """
    updated = copy.deepcopy(document)
    findings = list(imported.findings)
    clusters = {cluster["name"]: cluster for cluster in updated["clusters"]}
    for new in imported.document["clusters"]:
        if new["name"] not in clusters:
            clusters[new["name"]] = new
            updated["clusters"].append(new)
            continue
        cluster = clusters[new["name"]]
        for key, value in new.items():
            cluster.setdefault(key, value)
        findings += _update_nodes(cluster["nodes"], new["nodes"], catalog, name)
    return Imported(updated, without_answered(findings, updated))


def _update_nodes(nodes: list[dict[str, Any]], new: list[dict[str, Any]], catalog: Catalog, name: str) -> list[Finding]:
    places = {node["name"]: place for place, node in enumerate(nodes)}
    findings: list[Finding] = []
    for node in new:
        place = places.get(node["name"])
        if place is None:
            nodes.append(node)
            continue
        before = nodes[place]
        united, found = unite(Sight("the import", node), Sight(name, before), catalog, is_update=True)
        # A group of eight stays a group of eight where nothing about its devices is new.
        if expand(united.get("devices", [])) == expand(before.get("devices", [])):
            united["devices"] = before.get("devices", [])
        nodes[place] = {key: value for key, value in united.items() if key != "devices" or value}
        findings += found
    return findings
