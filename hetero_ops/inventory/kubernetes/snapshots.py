"""One node seen several times: labels that changed while the hardware did not are labels that lie."""

from collections.abc import Sequence
from dataclasses import replace

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.kubernetes.device_entry import document_devices
from hetero_ops.inventory.kubernetes.model import unknown
from hetero_ops.inventory.kubernetes.node import ReadNode
from hetero_ops.inventory.kubernetes.node_view import Group


def settle(snapshots: Sequence[ReadNode], catalog: Catalog) -> ReadNode:
    """Give the last snapshot, with the model of those devices unknown that another one names otherwise."""
    last = snapshots[-1]
    seen = {group.key: group for earlier in snapshots[:-1] for group in earlier.groups}
    doubtful = {group.key for group in last.groups if _differs(group, seen.get(group.key))}
    if not doubtful:
        return last
    groups = [_without_model(group, catalog) if group.key in doubtful else group for group in last.groups]
    message = f"{', '.join(sorted(doubtful))}: the labels name one model, then another; taken as unknown"
    findings = [*last.findings, Finding("MODEL_AMBIGUOUS", last.name, message)]
    fields = last.fields | {"devices": document_devices(groups, last.layout)}
    return replace(last, groups=groups, fields=fields, findings=findings)


def _differs(group: Group, earlier: Group | None) -> bool:
    return earlier is not None and earlier.count == group.count and earlier.device != group.device


def _without_model(group: Group, catalog: Catalog) -> Group:
    device = group.device
    if device["sku"] == "unknown":
        return replace(group, device=unknown(device["vendor"], device["class"]))
    profile = catalog[device["sku"]]
    return replace(group, device=unknown(profile.vendor, profile.accelerator_class))
