"""The plan of a pipeline, made before any of its steps runs."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hetero_ops._core import Fleet as CoreFleet
from hetero_ops._core import NoFit, Placement, Request
from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.pipeline import PipelineStep, in_order

Distance = Literal["node", "cluster", "far"]

_MOST_POINTS = 100


@dataclass(frozen=True, slots=True)
class Peak:
    """The most devices at one time.

    Attributes:
        device_milli: how much, thousandths of a device.
        steps: names of those that take them: they may all run together.
    """

    device_milli: int
    steps: tuple[str, ...]

    def for_json(self) -> dict[str, Any]:
        """As `PipelinePlan.to_json` writes it."""
        return {"device_milli": self.device_milli, "steps": list(self.steps)}


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """What becomes of a step.

    Attributes:
        name: its name.
        decision: where it goes; a `NoFit` where it does not fit even without the rest of the pipeline.
        waits_for: names of steps that it waits for beside those that it names: they hold what it needs.
        start_s: when it begins, seconds after the pipeline; `None` where a step does not say how long it runs.
        near: how far it is from the placed steps whose checkpoint or data it takes: on a node of theirs, in their
            cluster, or far.
    """

    name: str
    decision: Placement | NoFit
    waits_for: tuple[str, ...]
    start_s: int | None
    near: tuple[tuple[str, Distance], ...]

    def for_json(self) -> dict[str, Any]:
        """As `PipelinePlan.to_json` writes it."""
        return {
            "name": self.name,
            "start_s": self.start_s,
            "waits_for": list(self.waits_for),
            "near": dict(self.near),
            "decision": json.loads(self.decision.to_json()),
        }


@dataclass(frozen=True, slots=True)
class PipelinePlan:
    """Where every step of a pipeline goes, and which step waits for which. Nothing is reserved.

    Attributes:
        steps: what becomes of each, every step after those before it.
        asked_peak: what the first choices ask for at most at one time, were no step to wait for lack of devices.
        peak: what the plan grants at most at one time.
        makespan_s: when the last step ends, seconds; `None` where a step does not say how long it runs.
    """

    steps: tuple[PlannedStep, ...]
    asked_peak: Peak
    peak: Peak
    makespan_s: int | None

    @property
    def ok(self) -> bool:
        """Whether every step has its place."""
        return all(step.decision.ok for step in self.steps)

    @property
    def decisions(self) -> dict[str, Placement | NoFit]:
        """By name of the step."""
        return {step.name: step.decision for step in self.steps}

    @property
    def waits(self) -> dict[str, tuple[str, ...]]:
        """By name of a step that waits: the steps that it waits for."""
        return {step.name: step.waits_for for step in self.steps if step.waits_for}

    def to_json(self) -> str:
        """The plan as JSON, every decision in full."""
        return json.dumps(
            {
                "asked_peak": self.asked_peak.for_json(),
                "peak": self.peak.for_json(),
                "makespan_s": self.makespan_s,
                "steps": [step.for_json() for step in self.steps],
            }
        )


def plan(
    core: CoreFleet, steps: Sequence[PipelineStep], near_points: float, compiled: Callable[[Requirement], Request]
) -> PipelinePlan:
    """Plans a pipeline on a fleet of the core; `compiled` makes requests ready for it.

    Raises:
        InvalidRequirement: a step or a setting cannot be understood; which one is said.
    """
    if not (math.isfinite(near_points) and 0 <= near_points <= _MOST_POINTS):
        raise InvalidRequirement(f"near_points is {near_points}; write points of the score, from 0 to {_MOST_POINTS}")
    known = in_order(steps)
    requests = _compiled(known, compiled)
    places = {step.name: at for at, step in enumerate(known)}
    asked = [
        {
            "after": [places[name] for name in step.predecessors],
            "near": [places[name] for name in step.sources],
            "duration_s": step.duration_s,
        }
        for step in known
    ]
    settings = json.dumps({"near_points": near_points}).encode()
    decisions, text = core.place_dag(requests, json.dumps(asked).encode(), settings)
    report = json.loads(text)

    def peak(told: dict[str, Any]) -> Peak:
        return Peak(told["device_milli"], tuple(known[at].name for at in told["steps"]))

    planned = (
        PlannedStep(
            step.name,
            decision,
            tuple(known[at].name for at in told["waits_for"]),
            told["start_s"],
            tuple((known[near["step"]].name, near["distance"]) for near in told["near"]),
        )
        for step, decision, told in zip(known, decisions, report["steps"], strict=True)
    )
    return PipelinePlan(tuple(planned), peak(report["asked_peak"]), peak(report["peak"]), report["makespan_s"])


def _compiled(steps: Sequence[PipelineStep], compiled: Callable[[Requirement], Request]) -> list[Request]:
    requests: dict[str, Request] = {}
    teams: dict[str, str] = {}
    texts = []
    for step in steps:
        try:
            requirement = Requirement.parse(step.request)
            text = str(requirement)
            if text not in requests:
                requests[text] = compiled(requirement)
        except InvalidRequirement as error:
            raise InvalidRequirement(f"step {step.name!r}: {error}") from None
        texts.append(text)
        if requirement.team is not None:
            teams.setdefault(requirement.team, step.name)
    if len(teams) > 1:
        (one, first), (other, second) = list(teams.items())[:2]
        message = f"steps {first!r} and {second!r} are of the teams {one!r} and {other!r}"
        raise InvalidRequirement(f"{message}; a pipeline counts for one team, so plan those of each apart")
    return [requests[text] for text in texts]
