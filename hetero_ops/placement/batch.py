"""Many steps at once: what is asked, how a plan is looked for, and the plan."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from hetero_ops._core import Fleet as CoreFleet
from hetero_ops._core import NoFit, Placement, Request
from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.requirement import AnyRequirement, Requirement
from hetero_ops.placement.exact import solve

SOLVERS = ("greedy", "search", "genetic", "exact")
OBJECTIVES = ("order", "fair", "allocation")
_MOST_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Step:
    """A step that waits.

    Attributes:
        request: what it asks for, in any form of a requirement.
        priority: higher goes first; that of the requirement, else 0, when `None`.
        age_s: how long it has waited, seconds; of one priority the older goes first.
        name: what a person calls it; nothing depends on it.
    """

    request: AnyRequirement
    priority: int | None = None
    age_s: int = 0
    name: str | None = None


class Cost(TypedDict):
    """What a plan costs: the parts, each 0..=1, and their weighted sum.

    `latency` is the part of what is asked that waits; `fragmentation` the part of the capacity that is left free and
    that the mix cannot use, `None` without devices; `energy` the part of all boards' power that belongs to devices in
    use, `None` where the power of one is unknown.
    """

    latency: float
    fragmentation: float | None
    energy: float | None
    total: float


class PlanReport(TypedDict):
    """How good a plan is.

    `value` and `asked` count thousandths of a device, a core of a step without devices as one of them; no plan counts
    more than `bound`, which `gap` is a part of. `allocated_ratio` is of the healthy devices, `None` without any; no
    plan allocates more than `allocated_bound_ratio`, `None` where that is not known.
    """

    solver: str
    objective: str
    placed: int
    waiting: int
    value: int
    asked: int
    bound: int
    bound_source: str
    gap: float
    allocated_ratio: float | None
    allocated_bound_ratio: float | None
    cost: Cost
    steps: int
    seconds: float


class PlannedTask(TypedDict):
    """A task of a plan: the place of its class among the different tasks of the trace, and where it goes.

    `node` is `None` for one that waits; `devices` are ids on the node.
    """

    task_class: int
    node: str | None
    devices: list[int]


class BatchRun(PlanReport):
    """The plan for the tasks of one seed; `cpu_only` are those without devices, and how many of them are placed.

    `planned` has every task, where that was asked.
    """

    seed: int
    cpu_only: tuple[int, int]
    planned: NotRequired[list[PlannedTask]]


class BatchReport(TypedDict):
    """All plans, solver by solver, for `tasks` of a trace and more, until demand of `arrival` capacities."""

    mix: str
    devices: int
    tasks: int
    arrival: float
    runs: list[BatchRun]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which steps go where, all at once. Nothing is reserved: `Fleet.commit` takes the placements in their order.

    Attributes:
        steps: what was asked.
        decisions: of each step, in the same order; those that wait say why in the fleet with all others placed.
        report: how good the plan is.
    """

    steps: tuple[Step, ...]
    decisions: tuple[Placement | NoFit, ...]
    report: PlanReport

    @property
    def placements(self) -> list[Placement]:
        """Of the steps that are placed, in their order."""
        return [decision for decision in self.decisions if isinstance(decision, Placement)]

    def to_json(self) -> str:
        """The report, and the name and the decision of every step."""
        decided = zip(self.steps, self.decisions, strict=True)
        steps = [{"name": step.name, **json.loads(decision.to_json())} for step, decision in decided]
        return json.dumps({**self.report, "decisions": steps})


@dataclass(frozen=True, slots=True)
class Search:
    """How a plan is looked for; `Fleet.place_all` says what each means.

    Raises:
        InvalidRequirement: a word or number is none of those that there are.
    """

    solver: str = "search"
    objective: str = "order"
    time_limit_s: float = 10
    steps: int | None = None
    seed: int = 0
    threads: int | None = None
    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        _check_word("solver", self.solver, SOLVERS)
        _check_word("objective", self.objective, OBJECTIVES)
        if not (math.isfinite(self.time_limit_s) and 0 < self.time_limit_s <= _MOST_SECONDS):
            raise InvalidRequirement(f"time limit {self.time_limit_s:g} s is not above 0 and at most a day")
        for name, weight in (self.weights or {}).items():
            _check_word("weight", name, ("alpha", "beta", "gamma"))
            if not (math.isfinite(weight) and weight >= 0):
                raise InvalidRequirement(f"weight {name} is {weight}; write a number from 0 on")

    def settings(self) -> dict[str, Any]:
        """As the core reads them."""
        weights = {"alpha": 1.0, "beta": 0.1, "gamma": 0.01} | dict(self.weights or {})
        return {
            "solver": self.solver,
            "objective": self.objective,
            "time_limit_s": self.time_limit_s,
            "steps": self.steps,
            "seed": self.seed,
            "threads": self.threads or 0,
            "weights": weights,
        }


def plan(
    core: CoreFleet, steps: Sequence[Step | AnyRequirement], search: Search, compiled: Callable[[Requirement], Request]
) -> Plan:
    """Plans steps on a fleet of the core; `compiled` makes requests ready for it.

    Raises:
        InvalidRequirement: a step cannot be understood; which one is said.
    """
    requests: list[Request] = []
    places: dict[str, int] = {}
    tasks: list[dict[str, int]] = []
    known = tuple(step if isinstance(step, Step) else Step(step) for step in steps)
    for number, step in enumerate(known, 1):
        try:
            requirement = Requirement.parse(step.request)
            text = str(requirement)
            if text not in places:
                requests.append(compiled(requirement))
                places[text] = len(places)
        except InvalidRequirement as error:
            named = f" ({step.name})" if step.name else ""
            raise InvalidRequirement(f"step {number}{named}: {error}") from None
        if step.age_s < 0:
            raise InvalidRequirement(f"step {number}: an age of {step.age_s} s; write 0 or more")
        priority = requirement.priority or 0 if step.priority is None else step.priority
        tasks.append({"request": places[text], "priority": priority, "age_s": step.age_s})
    settings, asked = json.dumps(search.settings()).encode(), json.dumps(tasks).encode()
    if search.solver == "exact":
        programme = json.loads(core.batch_programme(requests, asked, settings))
        chosen, bound = solve(programme, [task["request"] for task in tasks], search.time_limit_s)
        decisions, report = core.batch_settle(requests, asked, settings, chosen, bound)
    else:
        decisions, report = core.place_all(requests, asked, settings)
    return Plan(known, tuple(decisions), json.loads(report))


def replay(  # noqa: PLR0913 - what a question has
    core: CoreFleet,
    trace: bytes,
    searches: Sequence[Search],
    seeds: Sequence[int],
    arrival_milli: int,
    *,
    with_tasks: bool = False,
) -> BatchReport:
    """Plans the tasks of a trace, as the core reads it, all at once."""
    question = {
        "settings": [search.settings() for search in searches],
        "seeds": list(seeds),
        "arrival_milli": arrival_milli,
        "with_tasks": with_tasks,
    }
    report: BatchReport = json.loads(core.simulate_batch(trace, json.dumps(question).encode()))
    return report


def _check_word(what: str, word: str, known: Sequence[str]) -> None:
    if word not in known:
        raise InvalidRequirement(f"unknown {what} {word!r}; there are {', '.join(known)}")
