"""Huawei Ascend: the resource names of MindCluster and of HAMi, vNPUs by template, and chips named as faulty.

Source: Ascend mind-cluster (device plugin, volcano plugin, Kubernetes API page); Project-HAMi for its own names. Both
name the same silicon, so a node that offers both is counted once.
"""

import json
import re
from collections.abc import Iterator

from hetero_ops.inventory.kubernetes.model import identify, unknown
from hetero_ops.inventory.kubernetes.node_view import Device, Group, NodeView

_VENDOR, _CLASS = "huawei", "npu"
_DOMAIN = "huawei.com/"
# HAMi has a name for each chip; MindCluster one for each series.
_CHIPS = {f"{_DOMAIN}Ascend{chip}": chip for chip in ("910A", "910B2", "910B3", "910B4", "910B4-1", "910C")}
_SERIES = tuple(
    f"{_DOMAIN}{name}"
    for name in ("Ascend910", "Ascend310", "Ascend310P", "Ascend310P-V", "Ascend310P-VPro", "Ascend310P-IPro", "npu")
)
_VNPU = re.compile(
    r"huawei\.com/(?P<chip>Ascend(?:910[ABC]?\d?(?:-1)?|310P?))-"
    r"(?P<template>vir\d+(?:_\w+)?|\d+c(?:\.\d+cpu)?(?:\.n?dvpp)?(?:\.\d+g)?)"
)
_TEMPLATE_MEMORY = re.compile(r"[_.](\d{1,3})g(?:$|[_.])")
_CHIP_MEMORY = re.compile(r"(\d{1,4})G")
_MIB_PER_GIB = 1024
_TYPE_OF_SERIES_B = re.compile(r"(?:module|card)-(910b)-\d+")
_FAULTS = ("Unhealthy", "NetworkUnhealthy", "Fault", "Recovering")
_HARMLESS = "NotHandleFault"


def read(node: NodeView) -> list[Group]:
    """Read the Ascend devices of a node: whole chips, then vNPUs by name."""
    chips = [key for key in _CHIPS if node.offered(key)]
    groups = [_whole(node, key, aliases=_twins(node, key, chips)) for key in chips]
    groups += [_whole(node, key) for key in _SERIES if node.offered(key) and not _is_twin(key, chips)]
    vnpus = sorted(key for key in node.offers if _VNPU.fullmatch(key) and node.offered(key))
    return groups + [_vnpu(node, key) for key in vnpus]


def owns(key: str) -> bool:
    """Tell whether a resource key is read here."""
    return key in _CHIPS or key in _SERIES or _VNPU.fullmatch(key) is not None


def is_companion(key: str) -> bool:
    """Tell whether a key is the memory or the cores that HAMi counts beside its devices."""
    return owns(key.removesuffix("-memory")) or owns(key.removesuffix("-core"))


def driver(labels: dict[str, str]) -> dict[str, str]:
    """Read the version of driver and firmware (HDK)."""
    version = labels.get("huawei.com/driver.version", "")
    return {_VENDOR: version} if version else {}


def _twins(node: NodeView, key: str, chips: list[str]) -> tuple[str, ...]:
    """Give the name of the same chips in the other scheme, where only one chip can be meant by it."""
    twins = [series for series in _SERIES if node.offered(series) and _is_twin(series, [key])]
    return tuple(twins) if len(chips) == 1 else ()


def _is_twin(series: str, chips: list[str]) -> bool:
    return series == f"{_DOMAIN}Ascend910" and bool(chips)


def _whole(node: NodeView, key: str, aliases: tuple[str, ...] = ()) -> Group:
    device = _model(node, key, _CHIPS.get(key))
    named = frozenset(chip for each in (key, *aliases) for chip in _faulty(node, each))
    return node.group(key, device, aliases=aliases, named_unhealthy=named)


def _model(node: NodeView, key: str, chip: str | None) -> Device:
    memory = _memory(node)
    chip_label, type_label = "node.kubernetes.io/npu.chip.name", "accelerator-type"
    series = _TYPE_OF_SERIES_B.fullmatch(node.labels.get(type_label, ""))
    discovered = [
        *([(key, chip)] if chip else []),
        (chip_label, node.labels.get(chip_label, "")),
        *([(type_label, series[1].upper())] if series else []),
    ]
    device = identify(node, _VENDOR, _CLASS, key, discovered, memory)
    return device | {"memory_mib": memory} if memory and device["sku"] == "unknown" else device


def _memory(node: NodeView) -> int | None:
    match = _CHIP_MEMORY.fullmatch(node.labels.get("mind-cluster/npu-chip-memory", ""))
    return int(match[1]) * _MIB_PER_GIB if match else None


def _faulty(node: NodeView, key: str) -> Iterator[int]:
    """Give the chips that annotations of the device plugin exclude, by their number on the node."""
    chip = re.compile(rf"{re.escape(key.removeprefix(_DOMAIN))}-(\d{{1,4}})")
    for fault in _FAULTS:
        for name in _names(node.annotations.get(f"{key}-{fault}", "")):
            match = chip.fullmatch(name)
            if match:
                yield int(match[1])


def _names(text: str) -> list[str]:
    """Read the chips of an annotation: a comma list, or a list of faults as JSON, of which some need no handling."""
    if not text.lstrip().startswith("["):
        return [name.strip() for name in text.split(",")]
    try:
        faults = json.loads(text)
    except (ValueError, RecursionError):
        return []
    serious = [each for each in faults if isinstance(each, dict) and each.get("fault_level") != _HARMLESS]
    return [name for each in serious if isinstance(name := each.get("npu_name"), str)]


def _vnpu(node: NodeView, key: str) -> Group:
    match = _VNPU.fullmatch(key)
    chip, template = (match["chip"], match["template"]) if match else ("", "")
    device = _model(node, key, _CHIPS.get(f"{_DOMAIN}{chip}"))
    memory = _TEMPLATE_MEMORY.search(template)
    base = device if device["sku"] != "unknown" else unknown(_VENDOR, _CLASS, device.get("product"))
    return node.group(
        key, base | {"partition": template} | ({"memory_mib": int(memory[1]) * _MIB_PER_GIB} if memory else {})
    )
