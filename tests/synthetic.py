"""Made-up fleets and workloads, seeded: other models, sizes and mixes than those of the openb trace."""

import csv
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec"
_CORE = 1000
_TASKS = 3000
# Zipf's law: the second class is half as popular as the first.
_CLASSES = 60


@dataclass(frozen=True)
class Workload:
    """What tasks ask for.

    Attributes:
        sizes: weights of a share of a device, and of 1, 2, 4 and 8 whole devices; by tasks.
        cores: cores that come with a device, at least and at most.
        cpu_only: part of the tasks that ask for no device.
        named: part of the others that name the models they run on.
    """

    sizes: tuple[int, int, int, int, int]
    cores: tuple[int, int]
    cpu_only: float = 0.1
    named: float = 0.0


# A kind of node: how many, devices of each, model, cores.
Nodes = tuple[int, int, str, int]

FLEETS: dict[str, tuple[Nodes, ...]] = {
    "one model, 8 a node": ((120, 8, "A", 128),),
    "one model, 1 to 8 a node": ((60, 1, "A", 16), (50, 2, "A", 32), (40, 4, "A", 64), (40, 8, "A", 128)),
    "six models": (
        (30, 8, "A", 96),
        (25, 8, "B", 128),
        (40, 4, "C", 64),
        (60, 2, "D", 48),
        (80, 1, "E", 24),
        (10, 8, "F", 192),
    ),
    "a scarce model": ((110, 8, "A", 96), (5, 8, "B", 96)),
    "little CPU": ((60, 8, "A", 48), (60, 4, "B", 24)),
    "uneven CPU": ((50, 8, "A", 48), (50, 8, "A", 192)),
    "all single": ((500, 1, "A", 16), (300, 1, "B", 32)),
}

WORKLOADS: dict[str, Workload] = {
    "shares": Workload((80, 15, 3, 1, 1), (2, 16)),
    "whole devices": Workload((0, 80, 12, 5, 3), (4, 16)),
    "large steps": Workload((10, 30, 20, 20, 20), (4, 14)),
    "named models": Workload((40, 45, 8, 4, 3), (4, 14), named=0.35),
    "CPU hungry": Workload((40, 50, 6, 2, 2), (8, 40), cpu_only=0.4),
}


def fleet_document(groups: Sequence[Nodes]) -> dict[str, Any]:
    """A fleet of such nodes, as a fleet document."""
    nodes: list[dict[str, Any]] = []
    for group, (count, devices, model, cores) in enumerate(groups):
        for at in range(count):
            entry = {"sku": "unknown", "class": "gpu", "model": f"model-{model}", "count": devices}
            nodes.append({"name": f"g{group}-{at:04}", "cpu_milli": cores * _CORE, "devices": [entry]})
    return _document(nodes)


def spot_document(path: Path) -> dict[str, Any]:
    """The fleet of the spot trace of 2026: 4,278 nodes of six models. Host memory is not in the file."""
    nodes: list[dict[str, Any]] = []
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            count = int(row["gpu_capacity_num"])
            entry = {"sku": "unknown", "class": "gpu", "model": row["gpu_model"], "count": count}
            nodes.append(
                {"name": f"n{int(row['node_name']):05}", "cpu_milli": int(row["cpu_num"]) * _CORE, "devices": [entry]}
            )
    return _document(nodes)


def _document(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    clusters = [{"name": "made-up", "nodes": nodes}]
    return {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters}


def models(document: dict[str, Any]) -> list[tuple[str, int]]:
    """Models of a document, each with the most devices that a node has of it."""
    largest: dict[str, int] = {}
    for node in document["clusters"][0]["nodes"]:
        for entry in node["devices"]:
            largest[entry["model"]] = max(entry["count"], largest.get(entry["model"], 0))
    return sorted(largest.items())


def task_list(document: dict[str, Any], workload: Workload, seed: int) -> str:
    """Tasks of a workload that fit the fleet of a document, in the columns of the openb trace."""
    rng = random.Random(seed)
    classes = [_task_class(models(document), workload, rng) for _ in range(_CLASSES)]
    weights = [1 / (rank + 1) for rank in range(_CLASSES)]
    tasks = rng.choices(classes, weights, k=_TASKS)
    return "\n".join([HEADER, *(f"t{at},{task}" for at, task in enumerate(tasks))]) + "\n"


def _task_class(known: list[tuple[str, int]], workload: Workload, rng: random.Random) -> str:
    if rng.random() < workload.cpu_only:
        return f"{rng.randint(*workload.cores) * _CORE},0,0,0,"
    largest = max(count for _, count in known)
    sizes = [(1, True), (1, False), (2, False), (4, False), (8, False)]
    possible = [(size, weight) for size, weight in zip(sizes, workload.sizes, strict=True) if size[0] <= largest]
    ((count, is_share),) = rng.choices([size for size, _ in possible], [weight for _, weight in possible])
    share = rng.choice([100, 200, 250, 300, 400, 500, 600, 700]) if is_share else 1000
    cores = max(1, rng.randint(*workload.cores) * count * share // 1000)
    able = [model for model, most in known if most >= count]
    named = rng.sample(able, rng.randint(1, max(1, len(able) - 1))) if rng.random() < workload.named else []
    return f"{cores * _CORE},0,{count},{share},{'|'.join(sorted(named))}"
