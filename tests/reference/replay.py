"""Slow, obvious replay of a trace on nodes of one model each, written from the rules in docs/simulate.md.

Every node is scored anew for every task. Random numbers are SplitMix64, so that runs can be compared task by task.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

_MASK = 2**64 - 1
_WHOLE = 1000
_ARRIVAL, _TIES, _CHOICE = 1, 2, 3


@dataclass(frozen=True, order=True)
class Task:
    """What a task asks; no models are any."""

    cpu_milli: int
    count: int
    share_milli: int
    models: tuple[str, ...] = ()

    @property
    def demand(self) -> int:
        return self.count * self.share_milli

    @property
    def is_share(self) -> bool:
        return self.count == 1 and self.share_milli < _WHOLE

    @property
    def group(self) -> str:
        return "share" if self.is_share else f"{self.count} whole"


@dataclass
class Node:
    """A node with what is free on it."""

    model: str
    cpu_milli: int
    free: list[int]
    groups: set[str] = field(default_factory=set)

    def usable(self, task: Task) -> list[int]:
        permitted = not task.models or self.model in task.models
        return [at for at, free in enumerate(self.free) if permitted and free >= task.share_milli]

    def fits(self, task: Task) -> bool:
        return self.cpu_milli >= task.cpu_milli and len(self.usable(task)) >= task.count

    def taken(self, task: Task, devices: Sequence[int]) -> "Node":
        free = [was - task.share_milli if at in devices else was for at, was in enumerate(self.free)]
        groups = self.groups | ({task.group} if task.count else set())
        return Node(self.model, self.cpu_milli - task.cpu_milli, free, groups)

    def unusable(self, mix: dict[Task, int]) -> int:
        total = 0
        for task, weight in mix.items():
            usable = self.usable(task) if task.count and self.fits(task) else []
            total += weight * (sum(self.free) - sum(self.free[at] for at in usable))
        return total


class Generator:
    """SplitMix64 of a seed and a purpose."""

    def __init__(self, seed: int, purpose: int) -> None:
        self.state = self._mixed((self._mixed(seed) + purpose) & _MASK)

    @staticmethod
    def _mixed(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        while True:
            self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
            drawn = self._mixed(self.state)
            if drawn < _MASK - _MASK % bound:
                return drawn % bound

    def shuffle(self, items: list) -> None:  # type: ignore[type-arg] - of anything
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


def mix_of(tasks: Sequence[Task]) -> dict[Task, int]:
    """The most popular tasks until 95 % are covered."""
    mix: dict[Task, int] = {}
    for task, times in sorted(Counter(tasks).items(), key=lambda item: (-item[1], item[0])):
        if sum(mix.values()) * 100 < len(tasks) * 95:
            mix[task] = times
    return mix


def arrivals(tasks: Sequence[Task], capacity: int, arrival: Fraction, seed: int) -> list[Task]:
    """All tasks, some more or some less, shuffled."""
    generator, arriving = Generator(seed, _ARRIVAL), list(tasks)
    if sum(task.demand for task in arriving) > capacity * arrival:
        while sum(task.demand for task in arriving) > capacity * arrival:
            at = generator.below(len(arriving))
            arriving[at] = arriving[-1]  # the last one fills the gap
            arriving.pop()
    else:
        while sum(task.demand for task in arriving) < capacity * arrival:
            arriving.append(tasks[generator.below(len(tasks))])
    generator.shuffle(arriving)
    return arriving


def _packing(node: Node, task: Task) -> int:
    if task.count == 0:
        return 0
    idle = node.free.count(_WHOLE)
    if idle == len(node.free):
        return max(33 - idle, idle)
    taken = sorted(node.free[at] for at in node.usable(task))[: task.count]
    idle = taken.count(_WHOLE)
    return max(50 - idle, 33) if idle else max(100 - sum(free // 10 for free in taken) // 10, 50)


def _clustering(node: Node, task: Task) -> int:
    if task.count == 0:
        return 0
    base = (75 if len(node.groups) == 1 else 50) if task.group in node.groups else 0 if node.groups else 25
    return base + 25 * (8000 - sum(node.free)) // 8000


def _left(node: Node, task: Task) -> Fraction:
    cpu = Fraction(node.cpu_milli - task.cpu_milli, 128_000)
    return (cpu + Fraction(sum(node.free) - task.demand, 8000)) / 2


def _likeness(node: Node, task: Task) -> Fraction:
    cpu = Fraction(task.cpu_milli, 128_000) * Fraction(node.cpu_milli, 128_000)
    return (cpu + Fraction(task.demand, 8000) * Fraction(sum(node.free), 8000)) / 2


SCORES: dict[str, Callable[[Node, Task], int]] = {
    "random": lambda _node, _task: 100,
    "first-fit": lambda _node, _task: 100,
    "best-fit": lambda node, task: math.floor(100 * (1 - _left(node, task))),
    "worst-fit": lambda node, task: math.floor(100 * _left(node, task)),
    "dot-product": lambda node, task: math.floor(100 * (1 - _likeness(node, task))),
    "gpu-packing": _packing,
    "gpu-clustering": _clustering,
}


def _fgd(node: Node, task: Task, mix: dict[Task, int]) -> tuple[int, list[int]]:
    usable = node.usable(task)
    options = [[at] for at in usable] if task.is_share else [usable[: task.count]]
    scored = []
    for devices in options:
        fall = node.unusable(mix) - node.taken(task, devices).unusable(mix)
        scored.append((int(100 / (1 + math.exp(-fall / (sum(mix.values()) * 1000)))), devices))
    return max(scored, key=lambda option: option[0])


def _devices(policy: str, node: Node, task: Task, generator: Generator) -> list[int]:
    usable = node.usable(task)
    if not task.is_share:
        return usable[: task.count]
    if policy == "random":
        return [usable[generator.below(len(usable))]]
    pick = max if policy == "worst-fit" else min
    return [pick(usable, key=lambda at: node.free[at])]


def replay(nodes: Sequence[Node], tasks: Sequence[Task], policy: str, seed: int, arrival: Fraction) -> tuple[int, int]:
    """How many tasks fail, and what is allocated when the demand has arrived, thousandths of a device."""
    state, mix, choices = list(nodes), mix_of(tasks), choices_of(seed)
    capacity = _WHOLE * sum(len(node.free) for node in nodes)
    order, failed, arrived, allocated = tie_order(len(state), seed), 0, 0, []
    for task in arrivals(tasks, capacity, arrival, seed):
        arrived += task.demand
        chosen = choose([(at, state[at]) for at in order], task, policy, mix, choices)
        if chosen:
            at, devices = chosen
            state[at] = state[at].taken(task, devices)
        else:
            failed += 1
        if arrived >= capacity * arrival:
            allocated.append(capacity - sum(sum(node.free) for node in state))
    return failed, allocated[0] if allocated else capacity - sum(sum(node.free) for node in state)


def choose(
    nodes: Sequence[tuple[int, Node]], task: Task, policy: str, mix: dict[Task, int], choices: Generator
) -> tuple[int, list[int]] | None:
    """The node and the devices that a policy takes; ties go to the node that comes first."""
    fitting = [(at, node) for at, node in nodes if node.fits(task)]
    if not fitting:
        return None
    if policy == "random":
        at, node = fitting[choices.below(len(fitting))]
    else:
        at, node = max(fitting, key=lambda found: _number(policy, found[1], task, mix))
    return at, _fgd(node, task, mix)[1] if policy == "fgd" else _devices(policy, node, task, choices)


def tie_order(nodes: int, seed: int) -> list[int]:
    """The order in which nodes win ties."""
    order = list(range(nodes))
    Generator(seed, _TIES).shuffle(order)
    return order


def choices_of(seed: int) -> Generator:
    """What a policy draws."""
    return Generator(seed, _CHOICE)


def _number(policy: str, node: Node, task: Task, mix: dict[Task, int]) -> int:
    return _fgd(node, task, mix)[0] if policy == "fgd" else SCORES[policy](node, task)
