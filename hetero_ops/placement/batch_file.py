"""A batch file: the steps that wait, as a person writes them."""

from pathlib import Path
from typing import Any

from hetero_ops.document.text import DocumentText, read_text
from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.batch import Step
from hetero_ops.placement.pipeline import PipelineStep
from hetero_ops.placement.pipeline_file import is_pipeline, read_pipeline
from hetero_ops.units import parse_duration

_KEYS = ("request", "name", "priority", "age", "times")
_MOST_TIMES = 1_000_000
_PRIORITIES = range(-(2**31), 2**31)


def read_batch(path: Path) -> tuple[list[Step], list[PipelineStep]]:
    """The steps of a file: a list of them, or a mapping with the list `steps`.

    A step is a requirement, or a mapping with `request` and, as needed, `name`, `priority`, `age` (as `2h`) and
    `times`, how many such steps there are. Where one says what it comes after, or how long it
    runs, they are those of a pipeline, and the others are none.

    Raises:
        InvalidDocument: the file cannot be read, or a step is not as it should be; file and line are said.
        InvalidRequirement: a request cannot be understood; file and line are said.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidDocument(f"{path}: the batch cannot be read: {error.strerror or error}; check --batch") from None
    document = read_text(text, str(path))
    is_named = isinstance(document.value, dict) and "steps" in document.value
    entries = document.value["steps"] if is_named else document.value
    if not isinstance(entries, list) or not entries:
        raise InvalidDocument(f"{path}: no steps; write a list of requirements, or `steps:` with one", "steps")
    start = "steps" if is_named else ""
    if is_pipeline(entries):
        return [], read_pipeline(entries, start, document)
    return [step for at, entry in enumerate(entries) for step in _steps(entry, f"{start}[{at}]", document)], []


def _steps(entry: Any, path: str, document: DocumentText) -> list[Step]:  # noqa: ANN401 - as it stands in a document
    fields = entry if isinstance(entry, dict) and "request" in entry else {"request": entry}

    def refuse(message: str, key: str) -> InvalidDocument:
        at = f"{path}.{key}" if fields is entry else path
        return InvalidDocument(f"{document.where(at)}: {at}: {message}", at, document.line_of(at))

    for key in fields:
        if key not in _KEYS:
            raise refuse(f"unknown key {key!r}; a step has {', '.join(_KEYS)}", str(key))
    name, priority, times = fields.get("name"), fields.get("priority"), fields.get("times", 1)
    if name is not None and not isinstance(name, str):
        raise refuse("a name is a text", "name")
    if priority is not None and (type(priority) is not int or priority not in _PRIORITIES):
        raise refuse("a priority is a whole number of 32 bits; higher goes first", "priority")
    if type(times) is not int or not 1 <= times <= _MOST_TIMES:
        raise refuse(f"`times` is a whole number from 1 to {_MOST_TIMES}", "times")
    try:
        age_s = parse_duration(str(fields["age"])) // 1000 if "age" in fields else 0
    except ValueError as error:
        raise refuse(str(error), "age") from None
    try:
        requirement = Requirement.parse(fields["request"])
    except InvalidRequirement as error:
        at = f"{path}.request" if fields is entry else path
        raise InvalidRequirement(f"{document.where(at)}: {error}") from None
    return [Step(requirement, priority, age_s, name)] * times
