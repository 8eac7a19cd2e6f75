"""The openb trace as CSV: its node list as a fleet document, its task list as classes of tasks."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hetero_ops.document.refusal import refusal, shown
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog

_NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
_TASK_COLUMNS = ("cpu_milli", "num_gpu", "gpu_milli")
_PLACED_COLUMNS = (*_TASK_COLUMNS, "memory_mib")
_TIME_COLUMNS = ("creation_time", "scheduled_time", "deletion_time")
# LS is sensitive to latency, BE is best effort; the others are the classes of Kubernetes.
_PRIORITY_OF_QOS = {"LS": 2, "Guaranteed": 2, "Burstable": 1, "BE": 0}
_WHOLE = 1000
_MOST_DEVICES = 1024
_LARGEST = 2**53
# Names of the trace that stand for more than one SKU, or for none that is published.
_VENDOR_OF_MODEL = {"P100": "nvidia", "V100M16": "nvidia", "V100M32": "nvidia"}
_COVERED_PERCENT = 95


@dataclass(frozen=True, order=True, slots=True)
class TaskClass:
    """Tasks that ask for the same: the unit that fragmentation is measured with.

    Attributes:
        cpu_milli: CPU asked.
        count: devices asked; 0 for a task without an accelerator.
        share_milli: share of each device.
        models: permitted models in order of name; empty for any.
        tasks: how many such tasks there are.
    """

    cpu_milli: int
    count: int
    share_milli: int
    models: tuple[str, ...]
    tasks: int


@dataclass(frozen=True, slots=True)
class Task:
    """What one task asks for.

    Attributes:
        cpu_milli: CPU.
        memory_mib: host memory.
        count: devices; 0 for a task without an accelerator.
        share_milli: share of each device; a whole one where several are asked.
        models: permitted models in order of name; empty for any.
    """

    cpu_milli: int
    memory_mib: int
    count: int
    share_milli: int
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """When a task came, and how it ran.

    Attributes:
        arrives_s: when it was created, seconds since the start of the trace.
        lasts_s: how long it ran; `None` for one that never ran.
        priority: from its class of service; higher comes first.
    """

    arrives_s: int
    lasts_s: int | None
    priority: int


@dataclass(frozen=True, slots=True)
class _Row:
    values: dict[str, str]
    source: str
    line: int

    def refuse(self, what: str, fix: str) -> InvalidDocument:
        return refusal(what, fix, self.source, self.line)

    def number(self, column: str, largest: int = _LARGEST) -> int:
        text = self.values[column].strip()
        if not (text.isascii() and text.isdigit()) or len(text) > len(str(largest)) or int(text) > largest:
            what = f"{column} is {shown(self.values[column])}"
            raise self.refuse(what, f"write an integer from 0 to {largest}")
        return int(text)


def is_node_list(text: str) -> bool:
    """Tell whether a text begins with the columns of a node list of the trace."""
    header = text.lstrip("\ufeff").split("\n", 1)[0].split(",")
    return {*_NODE_COLUMNS} <= {cell.strip() for cell in header}


def read_nodes(text: str | bytes, source: str, catalog: Catalog) -> dict[str, Any]:
    """Read a node list as a fleet document of one cluster, `openb`.

    Raises:
        InvalidDocument: a column is missing, or a value is no number that a machine can have.
    """
    nodes: dict[str, dict[str, Any]] = {}
    for row in _rows(text, source, _NODE_COLUMNS):
        name = row.values["sn"].strip()
        if not name or name in nodes:
            what = f"the node {shown(name)} is listed twice" if name else "a node without a name"
            raise row.refuse(what, "give each node a name of its own in column sn")
        nodes[name] = _node(row, name, catalog)
    if not nodes:
        raise refusal("no nodes", "give the lines of the nodes below the header", source)
    clusters = [{"name": "openb", "nodes": list(nodes.values())}]
    return {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters}


def _node(row: _Row, name: str, catalog: Catalog) -> dict[str, Any]:
    node: dict[str, Any] = {"name": name, "cpu_milli": row.number("cpu_milli"), "memory_mib": row.number("memory_mib")}
    count, model = row.number("gpu", _MOST_DEVICES), row.values["model"].strip()
    if count:
        node["devices"] = [{**_device(model, catalog), "count": count}]
    return node


def _device(model: str, catalog: Catalog) -> dict[str, str]:
    profile = catalog.identify(model) if model and model not in _VENDOR_OF_MODEL else None
    if profile is not None:
        return {"sku": profile.sku}
    known = {"vendor": _VENDOR_OF_MODEL.get(model), "model": model}
    return {"sku": "unknown", "class": "gpu", **{key: value for key, value in known.items() if value}}


def read_task_classes(text: str | bytes, source: str) -> list[TaskClass]:
    """Read a task list as its most popular classes, until 95 % of the tasks are covered; CPU-only ones count.

    Classes of equal popularity come in the order of CPU, count, share and models.

    Raises:
        InvalidDocument: a column is missing, or a value is no number that a task can ask for.
    """
    counts = Counter(_task(row) for row in _rows(text, source, _TASK_COLUMNS))
    if not counts:
        raise refusal("no tasks", "give the lines of the tasks below the header", source)
    total, covered = counts.total(), 0
    classes: list[TaskClass] = []
    for (cpu_milli, count, share_milli, models), tasks in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if covered * 100 >= total * _COVERED_PERCENT:
            break
        classes.append(TaskClass(cpu_milli, count, share_milli, models, tasks))
        covered += tasks
    return classes


def read_tasks(text: str | bytes, source: str) -> list[Task]:
    """Read a task list, task by task, in the order of the file.

    Raises:
        InvalidDocument: a column is missing, or a value is no number that a task can ask for.
    """
    tasks = [_placed_task(row) for row in _rows(text, source, _PLACED_COLUMNS)]
    if not tasks:
        raise refusal("no tasks", "give the lines of the tasks below the header", source)
    return tasks


def read_times(text: str | bytes, source: str) -> list[TaskTimes]:
    """Read when the tasks of a task list came and how they ran, task by task, in the order of the file.

    Raises:
        InvalidDocument: a column is missing, a value is no number, or a task ended before it began.
    """
    return [_times(row) for row in _rows(text, source, _TIME_COLUMNS)]


def _times(row: _Row) -> TaskTimes:
    created, ended = row.number("creation_time"), row.number("deletion_time")
    priority = _PRIORITY_OF_QOS.get(row.values.get("qos", "").strip(), 0)
    if not row.values["scheduled_time"].strip():
        return TaskTimes(created, None, priority)
    began = row.number("scheduled_time")
    if not created <= began <= ended:
        what = f"created at {created}, scheduled at {began}, deleted at {ended}"
        raise row.refuse(what, "write times in this order")
    return TaskTimes(created, ended - began, priority)


def _placed_task(row: _Row) -> Task:
    cpu_milli, count, share_milli, models = _task(row)
    if count and not share_milli:
        raise row.refuse("gpu_milli is 0 for a task with a device", f"write a share from 1 to {_WHOLE}")
    if count > 1 and share_milli < _WHOLE:
        raise row.refuse(
            f"gpu_milli is {share_milli} for {count} devices", f"several devices are whole: write {_WHOLE}"
        )
    return Task(cpu_milli, row.number("memory_mib"), count, share_milli, models)


def _task(row: _Row) -> tuple[int, int, int, tuple[str, ...]]:
    count = row.number("num_gpu", _MOST_DEVICES)
    share = row.number("gpu_milli", _WHOLE)
    # Some files have no such column: any model is permitted then.
    models = {model.strip() for model in row.values.get("gpu_spec", "").split("|")} - {""}
    return row.number("cpu_milli"), count, share, tuple(sorted(models))


def _rows(text: str | bytes, source: str, columns: Sequence[str]) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(_decode(text, source), newline=""), strict=True)
    header: list[str] = []
    try:
        for cells in reader:
            if not header:
                header = _header(cells, source, columns)
            elif cells:
                yield _row(header, cells, source, reader.line_num)
    except csv.Error as error:
        raise refusal(f"this is not CSV: {error}", "mind quotes", source, reader.line_num) from None
    if not header:
        raise refusal("the file is empty", f"give a header with {', '.join(columns)}", source)


def _decode(text: str | bytes, source: str) -> str:
    try:
        return text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1 if isinstance(text, bytes) else None
        raise refusal("this is not utf-8 text", "save it as UTF-8", source, line) from None


def _header(cells: list[str], source: str, columns: Sequence[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    missing = [column for column in columns if column not in header]
    if missing:
        what = f"no column {', '.join(missing)}"
        raise refusal(what, f"give the openb columns {', '.join(columns)}", source, 1)
    return header


def _row(header: list[str], cells: list[str], source: str, line: int) -> _Row:
    if len(cells) != len(header):
        what = f"{len(cells)} values under {len(header)} columns"
        raise refusal(what, "give one value a column", source, line)
    return _Row(dict(zip(header, cells, strict=True)), source, line)
