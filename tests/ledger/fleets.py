"""The fleet on which ledgers are tried: 40 nodes of 8 devices, every memory stated: a checker needs no catalog."""

import json
from pathlib import Path
from typing import Any

KINDS = (("H100-SXM5-80GB", 81559), ("A100-SXM4-40GB", 40536), ("MI300X", 196288))
DEVICES = 8
CPU_MILLI = 96_000
MEMORY_MIB = 1_048_576


def document(nodes: int = 40, devices: int = DEVICES) -> dict[str, Any]:
    return {
        "apiVersion": "hetero-ops/v1",
        "kind": "Fleet",
        "clusters": [{"name": "west", "nodes": [_node(at, devices) for at in range(nodes)]}],
    }


def write(folder: Path, **size: int) -> Path:
    path = folder / "fleet.json"
    path.write_text(json.dumps(document(**size)))
    return path


def _node(at: int, devices: int) -> dict[str, Any]:
    sku, memory_mib = KINDS[at % len(KINDS)]
    return {
        "name": f"n{at:02}",
        "cpu_milli": CPU_MILLI,
        "memory_mib": MEMORY_MIB,
        "devices": [{"sku": sku, "id": one, "memory_mib": memory_mib} for one in range(devices)],
    }
