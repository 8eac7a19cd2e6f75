"""The expected workload: from a file or the fleet document to classes that the core measures fragmentation against."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.compile import compile_choice, compile_tasks
from hetero_ops.gap.requirement import Requirement
from hetero_ops.inventory.openb import read_task_classes

# Weights are stated as fractions and counted in millionths.
_MILLIONTHS = 1_000_000


def read_mix(path: Path, catalog: Catalog, foreign_models: Sequence[str]) -> bytes:
    """The mix in a file, as JSON for the core.

    Args:
        path: a task list in the columns of the openb trace (`.csv`; its most popular classes until 95 % of the tasks
            are covered), or a document whose `mix` lists `request` and `weight`.
        catalog: where names are looked up.
        foreign_models: models of the fleet that the catalog does not have.

    Raises:
        InvalidDocument: the file is not there, or cannot be read as a mix.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidDocument(f"{path}: the mix cannot be read: {error.strerror}; check the path") from None
    if path.suffix == ".csv":
        return mix_of_tasks(text, path, catalog)
    document = read_text(text, str(path))
    entries = document.value.get("mix") if isinstance(document.value, dict) else document.value
    if not isinstance(entries, list):
        raise InvalidDocument(f"{path}: no mix; write `mix:` with a list of `request` and `weight`", "mix")
    try:
        return compile_mix(entries, path.name, catalog, foreign_models)
    except InvalidDocument as error:
        where, line = document.where(error.path), document.line_of(error.path)
        raise InvalidDocument(f"{where}: {error.path}: {error}", error.path, line) from None


def compile_mix(entries: Iterable[Any], source: str, catalog: Catalog, foreign_models: Sequence[str]) -> bytes:
    """The mix of a list of requests and weights, as JSON for the core.

    Raises:
        InvalidDocument: an entry is not a request of one choice with a positive weight; the path says which.
    """
    classes = [_entry(entry, f"mix[{index}]", catalog, foreign_models) for index, entry in enumerate(entries)]
    return json.dumps({"source": source, "classes": classes}).encode()


def _entry(entry: Any, path: str, catalog: Catalog, foreign_models: Sequence[str]) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(entry, dict):
        raise InvalidDocument("not a mapping; write `request` and `weight`", path)
    for key in entry.keys() - {"request", "weight"}:
        raise InvalidDocument(f"unknown key {key!r}; an entry has `request` and `weight`", f"{path}.{key}")
    weight = entry.get("weight")
    if (
        isinstance(weight, bool)
        or not isinstance(weight, int | float)
        or not math.isfinite(weight)
        or not 0 < weight <= _MILLIONTHS
    ):
        raise InvalidDocument(f"weight is {weight!r}; write a positive number", f"{path}.weight")
    try:
        choice = compile_choice(_only_choice(entry.get("request", "")), catalog, foreign_models)
    except InvalidRequirement as error:
        raise InvalidDocument(f"request {entry.get('request')!r}: {error}", f"{path}.request") from None
    return {"choice": choice, "weight": max(1, round(weight * _MILLIONTHS))}


def _only_choice(request: Any) -> Choice:  # noqa: ANN401 - as it stands in a document
    choices = Requirement.parse(request).choices
    if choices[0].units_milli is not None:
        raise InvalidRequirement("compute units are another count for each model; write the counts that are expected")
    if choices[0].groups:
        raise InvalidRequirement("groups of several kinds; write each as an entry of its own, with its own weight")
    if len(choices) > 1:
        raise InvalidRequirement("several choices; write each as an entry of its own, with its own weight")
    return choices[0]


def mix_of_tasks(text: bytes, path: Path, catalog: Catalog) -> bytes:
    """The mix of a task list in the columns of the openb trace, as JSON for the core.

    Raises:
        InvalidDocument: the text is no such list.
    """
    classes = [
        {
            "choice": compile_tasks(
                tasks.models,
                count=tasks.count,
                share_milli=tasks.share_milli,
                cpu_milli=tasks.cpu_milli,
                catalog=catalog,
            ),
            "weight": tasks.tasks,
        }
        for tasks in read_task_classes(text, str(path))
    ]
    return json.dumps({"source": path.name, "classes": classes}).encode()
