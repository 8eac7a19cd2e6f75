"""A pipeline: steps that come after others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.requirement import AnyRequirement

_MOST_SECONDS = 2**53


@dataclass(frozen=True, slots=True)
class PipelineStep:
    """A step of a pipeline. Whatever it names has ended before it begins.

    Attributes:
        name: what other steps call it.
        request: what it asks for, in any form of a requirement.
        after: names of steps that it comes after.
        reads: names of steps whose data it takes, those with most data first; all of `after` when `None`.
        checkpoint_of: name of the step whose checkpoint it resumes from.
        duration_s: how long it runs, seconds; `None` where that is unknown.
    """

    name: str
    request: AnyRequirement
    after: tuple[str, ...] = ()
    reads: tuple[str, ...] | None = None
    checkpoint_of: str | None = None
    duration_s: int | None = None

    def __post_init__(self) -> None:
        for field in ("after", "reads"):
            names = getattr(self, field)
            if isinstance(names, str):
                raise InvalidRequirement(f"step {self.name!r}: {field} is one text; write the tuple ({names!r},)")
            if names is not None:
                object.__setattr__(self, field, tuple(names))

    @property
    def sources(self) -> tuple[str, ...]:
        """What it should be near: the step of its checkpoint, then those whose data it takes, each once."""
        checkpoint = () if self.checkpoint_of is None else (self.checkpoint_of,)
        return tuple(dict.fromkeys((*checkpoint, *(self.after if self.reads is None else self.reads))))

    @property
    def predecessors(self) -> tuple[str, ...]:
        """All that it names, each once."""
        return tuple(dict.fromkeys((*self.after, *self.sources)))


def in_order(steps: Sequence[PipelineStep]) -> list[PipelineStep]:
    """The steps, each after those that it names.

    Raises:
        InvalidRequirement: two have one name, one names what is not there, or they come after each other in a circle.
    """
    by_name: dict[str, PipelineStep] = {}
    for number, step in enumerate(steps, 1):
        _check(step, number)
        if step.name in by_name:
            raise InvalidRequirement(f"step {number}: {step.name!r} is the name of another step; give each its own")
        by_name[step.name] = step
    for step in steps:
        for name in step.predecessors:
            if name == step.name:
                raise InvalidRequirement(f"step {name!r} comes after itself; name other steps only")
            if name not in by_name:
                raise InvalidRequirement(f"step {step.name!r}: no step is called {name!r}{_hint(name, by_name)}")
    try:
        sorted_names = list(TopologicalSorter({step.name: step.predecessors for step in steps}).static_order())
    except CycleError as error:
        circle = " after ".join(reversed(error.args[1]))
        raise InvalidRequirement(f"steps come after each other in a circle: {circle}; drop one of these") from None
    return [by_name[name] for name in sorted_names]


def _check(step: PipelineStep, number: int) -> None:
    if not isinstance(step, PipelineStep):
        raise InvalidRequirement(f"step {number}: {type(step).__name__} is no step of a pipeline; write PipelineStep")
    if not step.name or not isinstance(step.name, str):
        raise InvalidRequirement(f"step {number}: it has no name; name it, so that others can come after it")
    is_whole = type(step.duration_s) is int and 1 <= step.duration_s <= _MOST_SECONDS
    if step.duration_s is not None and not is_whole:
        message = f"step {step.name!r}: a duration of {step.duration_s} s"
        raise InvalidRequirement(f"{message}; write whole seconds from 1 on, or leave it out")


def _hint(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else "; name a step of this pipeline"
