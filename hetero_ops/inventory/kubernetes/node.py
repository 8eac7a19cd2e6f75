"""A Kubernetes Node as a node of the fleet document."""

from dataclasses import dataclass
from typing import Any

from hetero_ops.document.field import Field
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.kubernetes import amd, intel, nvidia, other
from hetero_ops.inventory.kubernetes.labels import KEPT_LABELS, KEPT_PREFIXES, RESOURCE_KEYS
from hetero_ops.inventory.kubernetes.node_view import Device, Group, NodeView, Offer
from hetero_ops.inventory.kubernetes.quantity import cpu_milli, mebibytes, units

_PLAIN_RESOURCES = ("cpu", "memory", "pods", "ephemeral-storage")
# Far above any machine: a count that is a slip must not become a list of millions of devices.
_MOST_UNITS = 4096
_MOST_DEVICES = 1024  # as many as the core holds for a node
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class ReadNode:
    """A node as read.

    Attributes:
        fields: the node of the fleet document, without `used`.
        groups: its devices by resource key, in the order of their ids.
        findings: what was noticed.
    """

    name: str
    fields: dict[str, Any]
    groups: list[Group]
    findings: list[Finding]


def read_node(node: Field, catalog: Catalog) -> ReadNode:
    """Read one Node.

    Of the labels those are kept that a placement selects nodes by: topology, host name, instance type, and what names
    the model of an accelerator.

    Raises:
        InvalidDocument: a field has the wrong type, or the node has no name.
    """
    name = node.get("metadata", "name").string()
    if not name or not name.isprintable():
        what = "a node name with control characters" if name else "a node without metadata.name"
        raise node.get("metadata", "name").refuse(what, "give the whole object, as it was printed")
    labels = node.get("metadata", "labels").strings()
    view = NodeView(name, labels, _offers(node.get("status")), catalog)
    groups = [group for reader in (nvidia, amd, intel, other) for group in reader.read(view)]
    if sum(group.count for group in groups) > _MOST_DEVICES:
        raise node.get("status", "capacity").refuse(
            f"more than {_MOST_DEVICES} devices in one node", "check the counts"
        )
    owned = {key for key in view.offers if any(reader.owns(key) for reader in (nvidia, amd, intel))}
    other.find_strangers(view, owned)
    fields: dict[str, Any] = {
        "name": name,
        "labels": {key: value for key, value in sorted(labels.items()) if _is_kept(key)},
        "taints": [_taint(taint) for taint in node.get("spec", "taints").items()],
        "state": _state(node, view),
        "cpu_milli": cpu_milli(_amount(node.get("status"), "cpu")),
        "memory_mib": mebibytes(_amount(node.get("status"), "memory")),
        "driver": _driver(labels, groups),
        "devices": document_devices(groups),
    }
    return ReadNode(
        name, {key: value for key, value in fields.items() if value not in (None, {}, [])}, groups, view.findings
    )


def _is_kept(label: str) -> bool:
    return label in KEPT_LABELS or label.startswith(KEPT_PREFIXES)


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


def document_devices(groups: list[Group]) -> list[Device]:
    """Give the device groups of the fleet document, ids in order."""
    return [entry for group in groups for entry in _entries(group)]


def is_device_key(key: str) -> bool:
    """Tell whether the units of a resource key are devices."""
    return key in RESOURCE_KEYS or any(reader.owns(key) for reader in (nvidia, amd, intel))


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


def _driver(labels: dict[str, str], groups: list[Group]) -> dict[str, str]:
    ascend = labels.get("huawei.com/driver.version", "")
    huawei = {"huawei": ascend} if ascend else {}
    return {**nvidia.driver(labels), **amd.driver(labels), **huawei} if groups else {}


def _entries(group: Group) -> list[Device]:
    """Give the device groups of the document: the unhealthy ones are a group of their own, with the highest ids."""
    healthy = {**group.device, "count": group.count - group.unhealthy}
    unhealthy = {**group.device, "count": group.unhealthy, "health": "unhealthy"}
    return [entry for entry in (healthy, unhealthy) if entry["count"]]
