"""Pipelines of any shape on any fleet: what may run together, worked out here anew, fits together."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.pipeline import PipelineStep
from hetero_ops.placement.pipeline_plan import PipelinePlan
from tests.placement.sample import JSON, fleet, node
from tests.reference.reader import read_fleet
from tests.reference.strategies import fleets, requirements

CATALOG = Catalog.builtin()
SHORT = st.sampled_from(
    ["H100:1", "H100:2", "H100:4 | A100:4", "A100:2 | L4:2", "L4:1", "L4:0.5", "L4:0.3", "cpu:8", "H100:3..4"]
)
By = dict[str, PipelineStep]


@st.composite
def graphs(draw: st.DrawFn, requests: st.SearchStrategy[Requirement | str], most: int = 6) -> list[PipelineStep]:
    """Steps, each after some of those before it; all or none say how long they run."""
    asked = draw(st.lists(requests, min_size=1, max_size=most))
    is_timed = draw(st.booleans())
    steps = []
    for at, request in enumerate(asked):
        earlier = [f"s{other}" for other in range(at) if draw(st.integers(0, 2)) == 0]
        reads = draw(st.sampled_from([None, (), tuple(reversed(earlier))]))
        duration_s = draw(st.integers(1, 5)) if is_timed else None
        steps.append(PipelineStep(f"s{at}", request, tuple(earlier), reads, duration_s=duration_s))
    return steps


def closure(plan: PipelinePlan, steps: By) -> set[tuple[str, str]]:
    """Pairs of which the first is over before the second begins."""
    if all(step.duration_s is not None for step in steps.values()):
        starts = {step.name: step.start_s or 0 for step in plan.steps}
        ends = {name: start + (steps[name].duration_s or 0) for name, start in starts.items()}
        return {(one, other) for one in steps for other in steps if one != other and ends[one] <= starts[other]}
    waits = {(name, step.name) for step in plan.steps for name in step.waits_for}
    return ordered(list(steps.values()), waits)


def ordered(steps: list[PipelineStep], waits: Iterable[tuple[str, str]] = ()) -> set[tuple[str, str]]:
    """The same without times: what steps say and wait for, and what follows from it."""
    before = {(name, step.name) for step in steps for name in step.predecessors} | set(waits)
    while more := {(a, d) for a, b in before for c, d in before if b == c} - before:
        before |= more
    return before


def together(before: set[tuple[str, str]], names: list[str]) -> Iterator[tuple[str, ...]]:
    """Every set of steps that may run at one time."""
    for size in range(len(names) + 1):
        for some in combinations(names, size):
            if not any((a, b) in before or (b, a) in before for a, b in combinations(some, 2)):
                yield some


def check(document: JSON, here: Fleet, steps: list[PipelineStep], plan: PipelinePlan) -> None:
    by_name = {step.name: step for step in steps}
    assert sorted(by_name) == sorted(step.name for step in plan.steps)
    before = closure(plan, by_name)
    assert not any(one == other for one, other in before), "nothing waits for itself"
    for step in plan.steps:
        assert all((name, step.name) in before for name in (*by_name[step.name].predecessors, *step.waits_for))
        alone = here.place(by_name[step.name].request)
        assert step.decision.ok == alone.ok, "what fits alone has its place"
        assert isinstance(step.decision, Placement) or step.decision == alone
    placed = {step.name: json.loads(step.decision.to_json()) for step in plan.steps if step.decision.ok}
    free = read_fleet(document, CATALOG)
    shares = {(n.cluster, n.name, device.id): device.free for n in free.nodes for device in n.devices}
    hosts = {(n.cluster, n.name): n for n in free.nodes}
    peak = 0
    for some in together(before, [step.name for step in plan.steps]):
        used: Counter[tuple[str, str, int]] = Counter()
        cpu: Counter[tuple[str, str]] = Counter()
        memory: Counter[tuple[str, str]] = Counter()
        for told in (placed[name] for name in some if name in placed):
            for grant in told["devices"]:
                used[told["cluster"], grant["node"], grant["id"]] += grant["share_milli"]
            for name in told["nodes"]:
                cpu[told["cluster"], name] += told["cpu_milli"]
                memory[told["cluster"], name] += told["memory_mib"]
        assert all(milli <= shares[device] for device, milli in used.items()), some
        assert all(milli <= (hosts[host].free_cpu_milli or 0) for host, milli in cpu.items()), some
        assert all(mib <= (hosts[host].free_memory_mib or 0) for host, mib in memory.items()), some
        peak = max(peak, sum(used.values()))
    assert plan.peak.device_milli == peak
    assert plan.peak.steps in set(together(before, [step.name for step in plan.steps]))


@given(data=st.data())
def test_any_pipeline_on_any_fleet(data):
    document = data.draw(fleets(), label="fleet")
    here = Fleet.from_document(document)
    of_one_team = requirements(document).map(lambda asked: asked.model_copy(update={"team": "vision"}))
    steps = data.draw(graphs(of_one_team, most=4), label="steps")
    check(document, here, steps, here.place_dag(steps))


@settings(max_examples=150)
@given(steps=graphs(SHORT, most=7))
def test_a_busy_fleet(steps):
    nodes = [
        node("a", "4xH100-SXM5-80GB", cpu_milli=16000, memory_mib=64000),
        node("b", "4xA100-SXM4-80GB", used=(0,)),
        node("c", "2xL4", cpu_milli=8000, memory_mib=64000),
    ]
    here = fleet(*nodes)
    plan = here.place_dag(steps)
    assert plan.ok
    check(json.loads(here.to_json())["document"], here, steps, plan)
    again = fleet(*reversed(nodes)).place_dag(steps)
    assert again.to_json() == plan.to_json(), "the order of nodes decides nothing"


@settings(max_examples=150)
@given(steps=graphs(st.sampled_from(["L4:1", "L4:2", "L4:4", "cpu:4", "L4:0.5"]), most=8))
def test_the_asked_peak_is_that_of_every_set(steps):
    asks = {"L4:1": 1000, "L4:2": 2000, "L4:4": 4000, "cpu:4": 0, "L4:0.5": 500}
    plan = fleet(*[node(f"n{i}", "4xL4", cpu_milli=64000) for i in range(8)]).place_dag(steps)
    assert not plan.waits
    by_name = {step.name: step for step in steps}
    before = closure(plan, by_name)
    sets = together(before, list(by_name))
    assert plan.asked_peak.device_milli == max(sum(asks[str(by_name[name].request)] for name in some) for some in sets)
    assert plan.asked_peak == plan.peak
    assert not any(isinstance(step.decision, NoFit) for step in plan.steps)


TIGHT = [
    "H100:1",
    "H100:2",
    "A100:3",
    "L4:1",
    "H100:4 | A100:4",
    "A100:2 | L4:2",
    "H100:2 | A100:2 | L4:2",
    "L4:1 | A100:1",
    "H100:3 | A100:4",
    "A100:1 | H100:1",
]
HAVE = {"H100": 4, "A100": 4, "L4": 2}


def choices(request: str) -> list[tuple[str, int]]:
    return [(model, int(count)) for model, count in (choice.strip().split(":") for choice in request.split("|"))]


def least_given_up(steps: list[PipelineStep], sets: list[tuple[str, ...]]) -> int | None:
    """Choices given up by the best plan without waiting; every way to choose is tried. `None` where there is none."""
    best = None
    for chosen in product(*[range(len(choices(str(step.request)))) for step in steps]):
        takes = {step.name: choices(str(step.request))[at] for step, at in zip(steps, chosen, strict=True)}
        load = [Counter() for _ in sets]
        for used, some in zip(load, sets, strict=True):
            for model, count in (takes[name] for name in some):
                used[model] += count
        if all(used[model] <= most for used in load for model, most in HAVE.items()):
            best = sum(chosen) if best is None else min(best, sum(chosen))
    return best


def test_few_wait_that_need_not():
    """Devices of a model can be dealt so that they suffice wherever no set of steps takes too many (Dilworth)."""
    here = fleet(node("a", "4xH100-SXM5-80GB"), node("b", "4xA100-SXM4-80GB"), node("c", "2xL4"))
    drawn = random.Random(5)
    possible = without_waiting = as_good = 0
    for _ in range(200):
        steps = [
            PipelineStep(f"s{at}", drawn.choice(TIGHT), tuple(f"s{i}" for i in range(at) if drawn.random() < 0.3))
            for at in range(drawn.randint(3, 7))
        ]
        plan = here.place_dag(steps)
        least = least_given_up(steps, list(together(ordered(steps), [step.name for step in steps])))
        assert least is not None or plan.waits, "what cannot run together waits"
        possible += least is not None
        without_waiting += least is not None and not plan.waits
        given_up = sum(placed.choice_index for placed in plan.decisions.values() if isinstance(placed, Placement))
        as_good += least is not None and not plan.waits and given_up == least
    assert possible > 100
    assert without_waiting > 0.95 * possible
    assert as_good > 0.95 * possible
