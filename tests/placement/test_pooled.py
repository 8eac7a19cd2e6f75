"""Clusters as one pool against clusters that each keep to their own tasks: the pool never places fewer."""

import copy
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from hetero_ops._core import Request
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import compile_tasks
from hetero_ops.inventory.openb import Task, read_tasks
from hetero_ops.placement.decision import Placement
from hetero_ops.placement.fleet import Fleet
from tests.placement.sample import JSON, node

_CATALOG = Catalog.builtin()
EXAMPLE = Path(__file__).parents[2] / "examples" / "traces" / "small.csv"
CLUSTERS = ("east", "north", "west")


def fleet(nodes: dict[str, list[JSON]]) -> Fleet:
    clusters = [{"name": name, "nodes": found} for name, found in nodes.items()]
    return Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters})


def request(task: Task) -> Request:
    choice = compile_tasks(
        task.models, count=task.count, share_milli=task.share_milli, cpu_milli=task.cpu_milli, catalog=_CATALOG
    )
    choices = [choice | {"host_memory_mib": task.memory_mib}]
    return Request(json.dumps({"requirement": str(task), "choices": choices}).encode())


def placed(fleet: Fleet, tasks: Sequence[Task]) -> int:
    """How many tasks find a place, one after the other."""
    core, count = fleet._core, 0
    for task in tasks:
        decision = core.place(request(task))
        if isinstance(decision, Placement):
            core.commit(decision)
            count += 1
    return count


def pooled_and_split(nodes: dict[str, list[JSON]], tasks: Sequence[Task]) -> tuple[int, int]:
    """Tasks placed on all clusters together, and where each third of the tasks has a cluster of its own."""
    split = [placed(fleet({name: nodes[name]}), tasks[at :: len(CLUSTERS)]) for at, name in enumerate(CLUSTERS)]
    return placed(fleet(copy.deepcopy(nodes)), tasks), sum(split)


def test_the_pool_places_no_fewer_of_the_example_trace() -> None:
    cards = {"east": "8xA100-SXM4-40GB", "north": "8xV100-SXM2-32GB", "west": "4xT4"}
    host = {"cpu_milli": 96_000, "memory_mib": 393_216}
    nodes = {name: [node(f"{name}-{at}", cards[name], **host) for at in range(3)] for name in CLUSTERS}
    tasks = read_tasks(EXAMPLE.read_bytes(), str(EXAMPLE))
    pooled, split = pooled_and_split(nodes, tasks)
    assert len(tasks) > pooled >= split


def test_the_pool_places_no_fewer_of_openb(test_data: Callable[[str], Path]) -> None:
    every = json.loads(Fleet.load(test_data("openb/openb_node_list_gpu_node.csv")).to_json())
    found = [each for cluster in every["document"]["clusters"] for each in cluster["nodes"]]
    nodes = {name: found[at :: len(CLUSTERS)] for at, name in enumerate(CLUSTERS)}
    path = test_data("openb/openb_pod_list_default.csv")
    pooled, split = pooled_and_split(nodes, read_tasks(path.read_bytes(), str(path)))
    assert pooled >= split
