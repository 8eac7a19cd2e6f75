"""A choice and the clauses of a rule, united: the stricter of the two counts, and a contradiction is told."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from hetero_ops.gap.choice import Choice, Precision
from hetero_ops.gap.requirement_text import explain

# Of two words the first is met by the second, which asks more.
_NARROWER = {"link": {"fabric": ("nvlink", "xgmi")}, "rdma": {"rdma": ("ib", "roce")}}
_BROADER_CLASS = (None, "accel")
_SETS = ("compliance", "data", "near", "labels", "runtimes", "env")


def united(choice: Choice, clauses: Mapping[str, Any]) -> Choice | str:
    """The choice with the clauses as well.

    Returns:
        The choice; what contradicts, where something does.
    """
    update: dict[str, Any] = {}
    for field, wanted in clauses.items():
        stated = getattr(choice, field)
        if field == "accelerator_class":
            if stated not in {*_BROADER_CLASS, wanted} or choice.names:
                return f"it asks for {choice.label}, not for class {wanted}"
            update[field] = wanted
            continue
        merged = _merged(field, stated, wanted, Choice.model_fields[field].default)
        if merged is None:
            return f"{field.replace('_', ' ')} is {_shown(stated)}, not {_shown(wanted)}"
        update[field] = merged
    try:
        return choice.model_copy(update=update)
    except ValidationError as error:
        return explain(error.errors(include_url=False), ())[1]


def _merged(field: str, stated: Any, wanted: Any, blank: Any) -> Any:  # noqa: ANN401 - values of any field
    """Both in one; `None` where they contradict."""
    if stated in (blank, wanted):
        return wanted
    if field == "precisions":
        return _precisions(stated, wanted)
    if field in _SETS:
        return tuple(sorted({*stated, *wanted}))
    stricter = _stricter(field)
    if stricter is not None:
        return stricter(stated, wanted)
    narrower = _NARROWER.get(field, {})
    if stated in narrower.get(wanted, ()):
        return stated
    return wanted if wanted in narrower.get(stated, ()) else None


def _stricter(field: str) -> Callable[[Any, Any], Any] | None:
    if "_floor_" in field or field in {"min_score", "driver_floor"}:
        return _later_version if field == "driver_floor" else max
    return min if "_ceiling_" in field else None


def _later_version(stated: str, wanted: str) -> str:
    return max(stated, wanted, key=lambda version: [int(part) for part in version.split(".")])


def _precisions(stated: tuple[Precision, ...], wanted: Any) -> tuple[Precision, ...] | None:  # noqa: ANN401
    """All of them; the same one asked in two ways contradicts, unless one is `any` or `weight` and the other native."""
    found = {precision.word: precision.support for precision in stated}
    for asked in map(Precision.model_validate, wanted):
        both = {found.get(asked.word, asked.support), asked.support}
        if len(both) > 1 and "native" not in both:
            return None
        found[asked.word] = "native" if "native" in both else asked.support
    return tuple(Precision(word=word, support=support) for word, support in found.items())


def _shown(value: Any) -> str:  # noqa: ANN401 - values of any field
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
