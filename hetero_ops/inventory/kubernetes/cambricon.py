"""Cambricon: whole MLUs with or without their series in the key, environment shares, MIM instances, dynamic sMLU.

Source: Cambricon k8s device plugin, README.
"""

import re

from hetero_ops.inventory.kubernetes.model import identify
from hetero_ops.inventory.kubernetes.node_view import Device, Group, NodeView

_VENDOR, _CLASS = "cambricon", "npu"
_KEY = re.compile(r"cambricon\.com/(?P<series>mlu(?:\d{3})?)(?:\.(?P<part>share|mim-\d+m\.(?P<gib>\d{1,3})gb))?")
_HAMI_KEY = "cambricon.com/vmlu"
_COMPANION = re.compile(r"cambricon\.com/mlu(?:\d{3})?\.smlu\.(?:vcore|vmemory)")
_MIB_PER_GIB = 1024


def read(node: NodeView) -> list[Group]:
    """Read the MLUs of a node; the plugin offers a card under one key only, so the keys add up."""
    keys = sorted(key for key in node.offers if owns(key) and node.offered(key))
    return [node.group(key, _device(node, key)) for key in keys]


def owns(key: str) -> bool:
    """Tell whether a resource key is read here."""
    return key == _HAMI_KEY or _KEY.fullmatch(key) is not None


def is_companion(key: str) -> bool:
    """Tell whether a key counts cores or memory of shared devices."""
    return _COMPANION.fullmatch(key) is not None


def driver(labels: dict[str, str]) -> dict[str, str]:
    """Read the version of the driver, where the plugin labels nodes."""
    version = labels.get("DriverVersion", "")
    return {_VENDOR: version} if version else {}


def _device(node: NodeView, key: str) -> Device:
    match = _KEY.fullmatch(key)
    series, part, gib = (match["series"], match["part"], match["gib"]) if match else ("mlu", "vmlu", None)
    device = identify(node, _VENDOR, _CLASS, key, _named_by_key(node, key, series))
    if device["sku"] == "unknown" and series != "mlu":
        device.setdefault("model", series.upper())
    more = {"partition": part, "memory_mib": int(gib) * _MIB_PER_GIB if gib else None}
    return device | {name: value for name, value in more.items() if value}


def _named_by_key(node: NodeView, key: str, series: str) -> list[tuple[str, str]]:
    """A key names a series; that is a model only where the catalog has one of exactly this name."""
    return [(key, series.upper())] if series.upper() in node.catalog else []
