"""A Kubernetes Node as a node of the fleet document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hetero_ops.document.field import Field
from hetero_ops.document.refusal import refusal
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.kubernetes.device_entry import document_devices
from hetero_ops.inventory.kubernetes.labels import KEPT_LABELS, KEPT_PREFIXES
from hetero_ops.inventory.kubernetes.layout import Layout
from hetero_ops.inventory.kubernetes.node_view import Group, NodeView, Offer
from hetero_ops.inventory.kubernetes.position import locate, topology_labels
from hetero_ops.inventory.kubernetes.quantity import cpu_milli, mebibytes, units
from hetero_ops.inventory.kubernetes.slim import READ_ANNOTATIONS
from hetero_ops.inventory.kubernetes.vendors import (
    drivers,
    find_strangers,
    is_device_key,
    offers_of_labels,
    read_groups,
)
from hetero_ops.inventory.kubernetes.zones import Zones

_PLAIN_RESOURCES = ("cpu", "memory", "pods", "ephemeral-storage")
# Far above any machine: a count that is a slip must not become a list of millions of devices.
_MOST_UNITS = 4096
_MOST_DEVICES = 1024  # as many as the core holds for a node
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RDMA_LABELS = tuple(f"feature.node.kubernetes.io/rdma.{what}" for what in ("capable", "available"))


@dataclass(frozen=True, slots=True)
class ReadNode:
    """A node as read.

    Attributes:
        fields: the node of the fleet document, without `used`.
        groups: its devices by resource key, in the order of their ids.
        layout: where they sit, as far as that is known.
        findings: what was noticed.
    """

    name: str
    fields: dict[str, Any]
    groups: list[Group]
    layout: Layout | None
    findings: list[Finding]


def read_node(node: Field, catalog: Catalog, zones: Zones | None = None, name: str | None = None) -> ReadNode:
    """Read one Node.

    Of the labels those are kept that a placement selects nodes by: topology, host name, instance type, and what names
    the model of an accelerator.

    Args:
        node: the object.
        catalog: the known accelerators.
        zones: its NodeResourceTopology.
        name: the name to take for a node that has none.

    Raises:
        InvalidDocument: a field has the wrong type, or the node has no name.
    """
    name = node.get("metadata", "name").string() or name
    if not name or not name.isprintable():
        what = "a node name with control characters" if name else "a node without metadata.name"
        raise node.get("metadata", "name").refuse(
            what, "give the whole object, as it was printed, or name it by --node"
        )
    status = node.get("status")
    labels = node.get("metadata", "labels").strings()
    view = NodeView(name, labels, _offers(status), catalog, _annotations(node))
    groups = read_groups(view)
    if sum(group.count for group in groups) > _MOST_DEVICES:
        raise status.get("capacity").refuse(f"more than {_MOST_DEVICES} devices in one node", "check the counts")
    host = {
        "taints": [_taint(taint) for taint in node.get("spec", "taints").items()],
        "state": _state(node, view),
        "cpu_milli": cpu_milli(_amount(status, "cpu")),
        "memory_mib": mebibytes(_amount(status, "memory")),
    }
    return _read(view, groups, host, zones)


def read_zones_only(zones: Zones, catalog: Catalog) -> ReadNode:
    """Read a node of which only its NodeResourceTopology is known: no label names a model, nothing tells its state."""
    keys = sorted({key for zone in zones.zones for key in zone.resources if is_device_key(key)})
    totals = {key: total for key in keys if (total := zones.total(key)) is not None}
    offers = {key: Offer(total.capacity, total.allocatable) for key, total in totals.items()}
    _check_counts(zones.node, offers)
    view = NodeView(zones.node, {}, offers, catalog)
    view.find("NODE_MISSING", "only its NodeResourceTopology is in the input: models, taints and state are not known")
    cpu, memory = zones.total("cpu"), zones.total("memory")
    host = {"cpu_milli": cpu and cpu.allocatable, "memory_mib": memory and memory.allocatable}
    return _read(view, read_groups(view), host, zones)


def read_labels(labels: Mapping[str, str], catalog: Catalog, name: str) -> ReadNode:
    """Read a node of which only the labels are known, as a jsonpath of `.metadata.labels` prints them.

    What the labels count is taken as offered and healthy. CPU, memory, taints and state stay unknown.

    Args:
        labels: the labels.
        catalog: the known accelerators.
        name: what to call the node.

    Raises:
        InvalidDocument: the labels count more devices than a node can have.
    """
    view = NodeView(name, dict(labels), {}, catalog)
    view.offers.update({key: Offer(count, count) for key, count in offers_of_labels(view).items()})
    _check_counts(name, view.offers)
    view.find("NODE_MISSING", "only its labels are in the input: what is offered and healthy, and its state, are not")
    return _read(view, read_groups(view), {}, None)


def _check_counts(name: str, offers: Mapping[str, Offer]) -> None:
    if sum(offer.capacity for offer in offers.values()) > _MOST_DEVICES:
        raise refusal(f"more than {_MOST_DEVICES} devices in one node", "check the counts", name)


def _read(view: NodeView, groups: list[Group], host: dict[str, Any], zones: Zones | None) -> ReadNode:
    find_strangers(view)
    layout = locate(view, groups, zones)
    kept = {key: value for key, value in view.labels.items() if key in KEPT_LABELS or key.startswith(KEPT_PREFIXES)}
    labels = kept | topology_labels(layout, zones)
    fields: dict[str, Any] = {
        "name": view.name,
        "labels": dict(sorted(labels.items())),
        **host,
        "driver": drivers(view.labels, groups),
        "rdma": ["rdma"] if any(view.labels.get(label) == "true" for label in _RDMA_LABELS) else [],
        "devices": document_devices(groups, layout),
    }
    fields = {key: value for key, value in fields.items() if value not in (None, {}, [])}
    return ReadNode(view.name, fields, groups, layout, view.findings)


def _annotations(node: Field) -> dict[str, str]:
    annotations = node.get("metadata", "annotations").fields()
    return {key: said.string() or "" for key, said in annotations if key.startswith(READ_ANNOTATIONS)}


def _amount(status: Field, resource: str) -> Field:
    allocatable = status.get("allocatable", resource)
    return status.get("capacity", resource) if allocatable.value is None else allocatable


def _offers(status: Field) -> dict[str, Offer]:
    capacity, allocatable = status.get("capacity").mapping(), status.get("allocatable").mapping()
    offers: dict[str, Offer] = {}
    for key in sorted({*capacity, *allocatable} - {*_PLAIN_RESOURCES}):
        # Where one of the two is missing, the other is all that is known.
        both = [_units(status.get(part, key), key) for part in ("capacity", "allocatable")]
        known = [amount for amount in both if amount is not None]
        if known:
            offers[key] = Offer(known[0], known[-1])
    return offers


def _units(amount: Field, key: str) -> int | None:
    if key.startswith("hugepages-") or "/" not in key:
        return None
    count = units(amount)
    if count is not None and count > _MOST_UNITS and is_device_key(key):
        raise amount.refuse(f"{count} devices in one node", f"at most {_MOST_UNITS} are read")
    return count


def _taint(taint: Field) -> dict[str, str]:
    key, effect = taint.get("key").string(), taint.get("effect").string()
    if not key:
        raise taint.get("key").refuse("a taint without a key", "give the output as it was printed")
    if effect not in _EFFECTS:
        raise taint.get("effect").refuse(f"a taint without an effect of {', '.join(_EFFECTS)}", "give one of them")
    value = taint.get("value").string()
    return {"key": key, **({"value": value} if value else {}), "effect": effect}


def _state(node: Field, view: NodeView) -> str | None:
    for condition in node.get("status", "conditions").items():
        if condition.get("type").string() == "Ready" and condition.get("status").string() != "True":
            view.find("NODE_NOT_READY", "its condition Ready is not True; taken as in maintenance")
            return "maintenance"
    return "cordoned" if node.get("spec", "unschedulable").boolean() else None
