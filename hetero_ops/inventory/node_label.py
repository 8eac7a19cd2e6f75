"""Neutral labels of a node, for `kubectl label`: what it is, what it can do, whose it is."""

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_list import Device, expand
from hetero_ops.units import format_memory

PREFIX = "hetero-ops/"
# Rules of Kubernetes for names of nodes and for values of labels.
_NODE_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_.-]+")
_MOST_CHARACTERS = 63
_TRUE = "true"


def labels_of(node: dict[str, Any], catalog: Catalog) -> dict[str, str]:
    """Give the labels of a node of a valid fleet document, without those of which nothing is known.

    `type` (gpu, npu), `product` (the catalog key, which `fleet import` reads back), `memory`, one label per capability
    (`mig` and other ways of partitioning, `mps`, `rdma`, `roce`), and the owner as `pool` and `project`. What the
    devices of a node do not have in common is left out.
    """
    devices = expand(node.get("devices", []))
    labels = {
        "type": _common(_class(device, catalog) for device in devices),
        "product": _common(_product(device) for device in devices),
        "memory": _common(_memory(device, catalog) for device in devices),
        **dict.fromkeys(_capabilities(devices, node.get("rdma", []), catalog), _TRUE),
        "pool": node.get("pool"),
        "project": node.get("project"),
    }
    values = {key: label_value(str(value)) for key, value in labels.items() if value is not None}
    return {PREFIX + key: value for key, value in values.items() if value}


def label_value(text: str) -> str:
    """Give the nearest value that Kubernetes takes: at most 63 of `A-Za-z0-9_.-`, letters or digits at both ends."""
    return _NOT_ALLOWED.sub("-", text)[:_MOST_CHARACTERS].strip("_.-")


def command_of(node: str, labels: dict[str, str]) -> str | None:
    """Give the line that labels a node; `None` for a name that no node of Kubernetes has."""
    if not _NODE_NAME.fullmatch(node):
        return None
    pairs = [f"{key}={value}" for key, value in labels.items()]
    return shlex.join(["kubectl", "label", "--overwrite", "node", node, *pairs])


def _common(values: Iterable[str | None]) -> str | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _class(device: Device, catalog: Catalog) -> str | None:
    return catalog[device["sku"]].accelerator_class if device["sku"] in catalog else device.get("class")


def _product(device: Device) -> str | None:
    return device.get("model") if device["sku"] == "unknown" else str(device["sku"])


def _memory(device: Device, catalog: Catalog) -> str | None:
    """Give the size class: nominal where the catalog has the device, else as reported."""
    profile = catalog[device["sku"]] if device["sku"] in catalog and "partition" not in device else None
    memory_mib = profile.memory_mib if profile and profile.memory_mib else device.get("memory_mib")
    return None if memory_mib is None else format_memory(memory_mib)


def _capabilities(devices: Sequence[Device], rdma: Sequence[str], catalog: Catalog) -> list[str]:
    profiles = [catalog[device["sku"]] for device in devices if device["sku"] in catalog]
    capabilities: list[str] = []
    if profiles and len(profiles) == len(devices):
        way = _common(profile.partitioning for profile in profiles)
        capabilities += [way] if way and way != "none" else []
        capabilities += ["mps"] if all(profile.supports_mps for profile in profiles) else []
    capabilities += ["rdma"] if {"ib", "roce"} & {*rdma} else []
    capabilities += ["roce"] if "roce" in rdma else []
    return capabilities
