"""A batch file whose steps come after others: a pipeline, as a person writes it."""

from collections.abc import Sequence
from typing import Any

from hetero_ops.document.text import DocumentText
from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.pipeline import PipelineStep, in_order
from hetero_ops.units import parse_duration

_LINKS = ("after", "reads", "checkpoint_of")
_KEYS = ("name", "request", *_LINKS, "duration")


def is_pipeline(entries: Sequence[Any]) -> bool:
    """Whether a step of a batch file comes after another, or says how long it runs."""
    return any(
        isinstance(entry, dict) and "request" in entry and entry.keys() & {*_LINKS, "duration"} for entry in entries
    )


def read_pipeline(entries: Sequence[Any], start: str, document: DocumentText) -> list[PipelineStep]:
    """The steps of a pipeline, each a mapping with `name` and `request` and what else `PipelineStep` has.

    Args:
        entries: what stands in the document.
        start: where in it they stand.
        document: for files and lines in messages.

    Raises:
        InvalidDocument: a step is not as it should be; file and line are said.
        InvalidRequirement: a request cannot be understood, or steps name each other wrongly; the file is said.
    """
    steps = [_step(entry, f"{start}[{at}]", document) for at, entry in enumerate(entries)]
    try:
        in_order(steps)
    except InvalidRequirement as error:
        raise InvalidRequirement(f"{document.where('')}: {error}") from None
    return steps


def _step(entry: Any, path: str, document: DocumentText) -> PipelineStep:  # noqa: ANN401 - as it stands in a document
    def refuse(message: str, key: str = "") -> InvalidDocument:
        at = f"{path}.{key}" if key else path
        return InvalidDocument(f"{document.where(at)}: {at}: {message}", at, document.line_of(at))

    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or "request" not in entry:
        raise refuse("a step of a pipeline is a mapping with `name`, a text, and `request`")
    for key in entry:
        if key not in _KEYS:
            raise refuse(f"unknown key {key!r}; a step of a pipeline has {', '.join(_KEYS)}", str(key))
    checkpoint_of = entry.get("checkpoint_of")
    if not isinstance(checkpoint_of, str | None):
        raise refuse("the name of one step", "checkpoint_of")
    after, reads = (_names(entry.get(key)) for key in ("after", "reads"))
    for key, names in (("after", after), ("reads", reads)):
        if names is None and entry.get(key) is not None:
            raise refuse("the name of a step, or a list of them", key)
    try:
        duration_s = parse_duration(str(entry["duration"])) // 1000 if "duration" in entry else None
    except ValueError as error:
        raise refuse(str(error), "duration") from None
    try:
        requirement = Requirement.parse(entry["request"])
    except InvalidRequirement as error:
        raise InvalidRequirement(f"{document.where(f'{path}.request')}: {error}") from None
    return PipelineStep(entry["name"], requirement, after or (), reads, checkpoint_of, duration_s)


def _names(written: Any) -> tuple[str, ...] | None:  # noqa: ANN401
    """Names as they stand in a document; `None` where they are none."""
    names = [written] if isinstance(written, str) else written
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return tuple(names) if is_list else None
