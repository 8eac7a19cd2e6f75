"""Slow, obvious replay with time, written from docs/simulate.md: everything is looked at anew at every moment.

Nobody's patience ends here: no node is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.reference.replay import Node, Task, choices_of, choose, mix_of, tie_order


@dataclass(frozen=True)
class Timed:
    """A task with its times, seconds."""

    task: Task
    arrives: int
    lasts: int
    priority: int


@dataclass
class _Running:
    of: Timed
    ends: int
    node: int
    devices: list[int]


def waiting(nodes: Sequence[Node], tasks: Sequence[Timed], policy: str, order: str, seed: int) -> list[int | None]:
    """How long each task waits; `None` for one that no node can take, however empty."""
    mix, choices, ties = mix_of([timed.task for timed in tasks]), choices_of(seed), tie_order(len(nodes), seed)
    waits: list[int | None] = [None] * len(tasks)
    coming = sorted(range(len(tasks)), key=lambda at: tasks[at].arrives)
    # What has the same arrival is numbered in this order too.
    queue: list[int] = []
    running: list[_Running] = []
    number = {at: place for place, at in enumerate(coming)}

    def key(at: int) -> tuple[int, ...]:
        if order == "fifo":
            return (tasks[at].arrives, number[at])
        return (-tasks[at].priority, tasks[at].arrives, -tasks[at].task.demand, number[at])

    while coming or running:
        now = min([tasks[at].arrives for at in coming[:1]] + [task.ends for task in running])
        running = [task for task in running if task.ends > now]
        while coming and tasks[coming[0]].arrives == now:
            at = coming.pop(0)
            if any(node.fits(tasks[at].task) for node in nodes):
                queue.append(at)
        for at in sorted(queue, key=key):
            state = _state(nodes, running)
            chosen = choose([(node, state[node]) for node in ties], tasks[at].task, policy, mix, choices)
            if chosen:
                queue.remove(at)
                waits[at] = now - tasks[at].arrives
                running.append(_Running(tasks[at], now + tasks[at].lasts, *chosen))
            elif order == "fifo":
                break
    return waits


def _state(nodes: Sequence[Node], running: Sequence[_Running]) -> list[Node]:
    state = list(nodes)
    for task in running:
        state[task.node] = state[task.node].taken(task.of.task, task.devices)
    return state
