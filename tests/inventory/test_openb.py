from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.openb import TaskClass, read_nodes, read_task_classes

NODES = "sn,cpu_milli,memory_mib,gpu,model\n"
TASKS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"


def test_models_are_skus_where_the_catalog_has_them() -> None:
    rows = "a,1,2,2,T4\nb,1,2,8,V100M16\nc,1,2,4,G2\nd,1,2,0,\n"
    nodes = read_nodes(NODES + rows, "f", Catalog.builtin())["clusters"][0]["nodes"]

    assert [node.get("devices") for node in nodes] == [
        [{"sku": "T4", "count": 2}],
        [{"sku": "unknown", "class": "gpu", "vendor": "nvidia", "model": "V100M16", "count": 8}],
        [{"sku": "unknown", "class": "gpu", "model": "G2", "count": 4}],
        None,
    ]


def test_the_trace_has_its_devices(test_data: Callable[[str], Path]) -> None:
    path = test_data("openb/openb_node_list_gpu_node.csv")
    nodes = read_nodes(path.read_bytes(), path.name, Catalog.builtin())["clusters"][0]["nodes"]

    assert len(nodes) == 1213
    assert sum(group["count"] for node in nodes for group in node["devices"]) == 6212


def test_fragmentation_of_the_empty_trace_is_the_published_one(test_data: Callable[[str], Path]) -> None:
    nodes_path, tasks_path = (
        test_data(f"openb/openb_{name}.csv") for name in ("node_list_gpu_node", "pod_list_default")
    )
    nodes = read_nodes(nodes_path.read_bytes(), "nodes", Catalog.builtin())["clusters"][0]["nodes"]
    classes = read_task_classes(tasks_path.read_bytes(), "tasks")
    total = sum(task.tasks for task in classes)
    devices = [(node["cpu_milli"], node["devices"][0]["count"]) for node in nodes]
    # On an empty node a class either fits, and leaves no device too small, or can use none of them.
    unusable = sum(
        task.tasks * 1000 * count
        for cpu_milli, count in devices
        for task in classes
        if task.count == 0 or task.cpu_milli > cpu_milli or task.count > count
    )

    assert len(classes) == 35
    assert round(unusable / total, 2) == 866_232.55


def test_classes_of_equal_popularity_come_in_a_stated_order() -> None:
    rows = "a,2,1,1,1000,\nb,1,1,1,500,T4|G2\nc,1,1,1,500,G2|T4\nd,1,1,0,0,\n"

    assert read_task_classes(TASKS + rows, "f") == [
        TaskClass(1, 1, 500, ("G2", "T4"), 2),
        TaskClass(1, 0, 0, (), 1),
        TaskClass(2, 1, 1000, (), 1),
    ]


def test_the_rare_tail_is_left_out() -> None:
    rows = "".join(f"a{index},1,1,1,1000,\n" for index in range(96)) + "b,2,1,1,1000,\n" * 4

    assert read_task_classes(TASKS + rows, "f") == [TaskClass(1, 1, 1000, (), 96)]


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("", "empty", None),
        ("sn,cpu_milli\na,1\n", "no column memory_mib, gpu, model", 1),
        (NODES, "no nodes", None),
        (f"{NODES}a,1,2,1,T4\nb,-1,2,1,T4\n", "cpu_milli is '-1'", 3),
        (f"{NODES}a,1,nan,1,T4\n", "memory_mib is 'nan'", 2),
        (f"{NODES}a,1,2,many,T4\n", "gpu is 'many'", 2),
        (f"{NODES}a,1,2,99999,T4\n", "gpu is '99999'", 2),
        (f"{NODES}a,1,2,1.5,T4\n", "gpu is '1.5'", 2),
        (f"{NODES}a,1,2,²,T4\n", "gpu is", 2),
        (f"{NODES}a,1,2\n", "3 values under 5 columns", 2),
        (f"{NODES}a,1,2,1,T4\na,1,2,1,T4\n", "listed twice", 3),
        (f"{NODES},1,2,1,T4\n", "without a name", 2),
        (f'{NODES}"a,1,2,1,T4\n', "not CSV", 2),
    ],
)
def test_a_bad_node_list_is_refused_with_its_line(text: str, what: str, line: int | None) -> None:
    with pytest.raises(InvalidDocument, match=what) as caught:
        read_nodes(text, "nodes.csv", Catalog.builtin())
    assert caught.value.line == line
    assert str(caught.value).startswith("nodes.csv")


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InvalidDocument, match=r"nodes\.csv:2: this is not utf-8"):
        read_nodes(NODES.encode() + b"\xff", "nodes.csv", Catalog.builtin())


def test_a_share_over_a_whole_device_is_refused() -> None:
    with pytest.raises(InvalidDocument, match=r"tasks\.csv:2: gpu_milli is '1001'"):
        read_task_classes(f"{TASKS}a,1,1,1,1001,\n", "tasks.csv")
