"""A trace to replay: from its file to the classes and tasks that the core reads."""

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import compile_tasks
from hetero_ops.inventory.openb import Task, read_tasks, read_times
from hetero_ops.placement.mix import mix_of_tasks

Progress = Callable[[int, int], object]
"""Called with decisions taken and decisions expected."""

_MILLI = 1000
# Demand over capacity at most, as the core checks.
_MOST_ARRIVAL = 10
_MOST_SQUEEZE = 1_000_000
_MOST_PATIENCE_S = 10**12


def read_trace(path: Path, catalog: Catalog, *, with_times: bool = False) -> bytes:
    """A task list in the columns of the openb trace, as JSON for the core: tasks, their classes, and the mix of them.

    Args:
        path: the file.
        catalog: where names are looked up.
        with_times: whether it must tell when the tasks came and how long they ran.

    Raises:
        InvalidDocument: the file is not there, or cannot be read as a task list.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidDocument(f"{path}: the trace cannot be read: {error.strerror}; check --trace") from None
    tasks = read_tasks(text, str(path))
    places = {task: place for place, task in enumerate(dict.fromkeys(tasks))}
    trace: dict[str, Any] = {
        "mix": json.loads(mix_of_tasks(text, path, catalog)),
        "classes": [_choice(task, catalog) for task in places],
        "tasks": [places[task] for task in tasks],
    }
    if with_times:
        trace["times"] = [asdict(times) for times in read_times(text, str(path))]
    return json.dumps(trace).encode()


def _choice(task: Task, catalog: Catalog) -> dict[str, Any]:
    of_devices = compile_tasks(
        task.models, count=task.count, share_milli=task.share_milli, cpu_milli=task.cpu_milli, catalog=catalog
    )
    return of_devices | {"host_memory_mib": task.memory_mib}


def arrival_milli(arrival: float) -> int:
    """An arrival in thousandths of the capacity.

    Raises:
        InvalidDocument: it is no number that a replay can reach.
    """
    if not math.isfinite(arrival) or not 1 <= round(arrival * _MILLI) <= _MOST_ARRIVAL * _MILLI:
        raise InvalidDocument(f"arrival {arrival:g} is not from 0.001 to {_MOST_ARRIVAL}; write demand over capacity")
    return round(arrival * _MILLI)


def squeeze_milli(squeeze: float) -> int:
    """A squeeze in thousandths.

    Raises:
        InvalidDocument: it is no number that times can be divided by.
    """
    if not math.isfinite(squeeze) or not 1 <= round(squeeze * _MILLI) <= _MOST_SQUEEZE * _MILLI:
        raise InvalidDocument(f"squeeze {squeeze:g} is not from 0.001 to {_MOST_SQUEEZE}; 1 leaves times as they are")
    return round(squeeze * _MILLI)


def checked_patience_s(patience_s: int) -> int:
    """A patience as it is, where it can be one.

    Raises:
        InvalidDocument: it is negative, or beyond all times.
    """
    if not 0 <= patience_s <= _MOST_PATIENCE_S:
        raise InvalidDocument(f"patience {patience_s} s is not from 0 to {_MOST_PATIENCE_S}")
    return patience_s
