"""What decides an answer: the same question again without one thing that it or the fleet states.

A comparison of two placers tells nothing of a clause that no answer hangs on, so the property tests count both.
"""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hetero_ops.errors import HeteroOpsError
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.decision import Placement
from hetero_ops.placement.fleet import Fleet
from tests.reference.case import Case
from tests.reference.model import JSON

# Clauses whose values are told apart: each is a rule of its own.
_BY_VALUE = {
    "link",
    "rdma",
    "share_mode",
    "isolation",
    "numa",
    "spread",
    "toolkit",
    "kind",
    "batch",
    "accelerator_class",
}
_OF_NODE = (
    "labels",
    "taints",
    "state",
    "cpu_milli",
    "memory_mib",
    "power_budget_mw",
    "driver",
    "runtime",
    "rdma",
    "used",
)
_OF_GROUP = ("numa", "switch", "nic", "memory_mib", "health", "islands", "vgpu", "partition", "pci")
_OF_USE = (
    *("team", "charged", "cpu_milli", "memory_mib", "device_memory_mib", "preemptible", "priority", "gang"),
    *("checkpoint_age_s", "checkpoint_s", "restart_s", "since"),
)


def decided(case: Case) -> tuple[object, ...] | None:
    """Where a step goes with which score, or who would have to end; `None` where the changed question is none."""
    try:
        fleet = Fleet.from_document(case.document)
        fleet.observe(case.readings)
        fleet.set_spent(case.spent_milli(fleet))
        if case.measured is not None:
            fleet.use_measured(case.measured)
        for requirement in case.before:
            earlier = fleet.place(requirement, policy=case.policy, weights=case.weights)
            if isinstance(earlier, Placement):
                fleet.commit(earlier)
        told: dict[str, Any] = json.loads(
            fleet.place(case.requirement, policy=case.policy, weights=case.weights).to_json()
        )
    except HeteroOpsError:
        return None
    victims = told.get("victims") or {"victims": []}
    devices = [(grant["node"], grant["id"], grant["share_milli"]) for grant in told["devices"]]
    ending = [(one["node"], one["owner"], tuple(one["devices"])) for one in victims["victims"]]
    place = told["verdict"], told.get("choice_index"), told.get("cluster"), tuple(told["nodes"]), devices, ending
    return place, told.get("score")


def stated(case: Case) -> Iterator[tuple[str, Case]]:
    """Everything that a case states, each with the case without it."""
    yield from _of_requirement(case)
    yield from _of_fleet(case)
    yield (
        "policy classic" if case.policy == "classic" else "policy aware",
        case.having(policy="aware" if case.policy == "classic" else "classic"),
    )
    for term in case.weights or {}:
        if term in {"draw", "numa_penalty_milli"}:
            yield f"weights {term}", case.having(weights={k: v for k, v in (case.weights or {}).items() if k != term})
    if case.weights:
        yield "weights", case.having(weights=None)
    for figure in ("power_mw", "memory_used_mib"):
        if any(getattr(reading, figure) is not None for reading in case.readings):
            left = [replace(reading, **{figure: None}) for reading in case.readings]
            yield f"reading {figure}", case.having(readings=left)
    if case.spent:
        yield "spent", case.having(spent={})
    if case.measured is not None:
        yield "measured", case.having(measured=None)


def _of_requirement(case: Case) -> Iterator[tuple[str, Case]]:
    asked = case.requirement
    for index, choice in enumerate(asked.choices):
        for clause, field in _clauses(choice):
            new = (
                "accel"
                if field == "accelerator_class"
                else Choice.model_fields[field].get_default(call_default_factory=True)
            )
            choices = list(asked.choices)
            try:
                choices[index] = choice.model_copy(update={field: new})
                yield clause, case.having(requirement=asked.model_copy(update={"choices": tuple(choices)}))
            except ValueError:
                continue
    for field in ("team", "priority", "footprint", "quantizable", "checkpoint", "workload", "degrade"):
        default = Requirement.model_fields[field].default
        if getattr(asked, field) != default:
            yield f"step {field}", case.having(requirement=asked.model_copy(update={field: default}))
    if len(asked.choices) > 1:
        yield "choices in order", case.having(requirement=asked.model_copy(update={"choices": asked.choices[::-1]}))


def _clauses(choice: Choice) -> Iterator[tuple[str, str]]:
    for field, described in Choice.model_fields.items():
        value = getattr(choice, field)
        if value == described.get_default(call_default_factory=True):
            continue
        if field == "precisions":
            yield from {(f"precision {precision.support}", field) for precision in value}
        elif field == "names":
            yield ("partition" if any(name.partition for name in value) else "names"), field
        elif field == "parallel":
            yield ("tensor ranks" if value.tp > 1 else "parallel"), field
        else:
            yield (f"{field} {value}" if field in _BY_VALUE else field), field


def _of_fleet(case: Case) -> Iterator[tuple[str, Case]]:
    for what in ("mix", "limits"):
        if case.document.get(what):
            yield f"fleet {what}", case.having(document=case.document | {what: []})
    if "notice_s" in case.document:
        left = {key: value for key, value in case.document.items() if key != "notice_s"}
        yield "fleet notice_s", case.having(document=left)
    limits = case.document.get("limits", [])
    for field in ("devices", "units", "device_hours", "unit_hours"):
        if any(field in limit for limit in limits):
            left = [limit for limit in limits if field not in limit]
            yield f"limit {field}", case.having(document=case.document | {"limits": left})
    for what, drop in _PARTS.items():
        left = copy.deepcopy(case.document)
        if sum([drop(part) for part in _parts(left, what.partition(" ")[0])]):
            yield what, case.having(document=left)


def _parts(document: JSON, level: str) -> Iterator[JSON]:
    for cluster in document["clusters"]:
        if level == "cluster":
            yield cluster
        yield from cluster.get("pools", []) if level == "pool" else []
        for node in cluster["nodes"]:
            if level == "node":
                yield node
            yield from node["devices"] if level == "device" else []
            yield from node.get("used", []) if level == "use" else []


def _without(*keys: str) -> Callable[[JSON], bool]:
    return lambda part: sum(part.pop(key, None) is not None for key in keys) > 0


def _without_tag(tag: str) -> Callable[[JSON], bool]:
    return lambda cluster: cluster.get("tags", {}).pop(tag, None) is not None


_PARTS: dict[str, Callable[[JSON], bool]] = {
    "cluster region": _without("region"),
    "cluster weight": _without("weight"),
    "cluster racks": _without("racks"),
    "cluster headroom": _without("headroom"),
    "cluster notice_s": _without("notice_s"),
    "pool borrow": _without("borrow"),
    "pool lend": _without("lend"),
    "pool takes": _without("takes"),
    "pool headroom": _without("headroom"),
    "cluster compliance": _without_tag("compliance"),
    "cluster data": _without_tag("data"),
    "pool price": _without("price"),
    "pool repartition": _without("repartition"),
    "pool oversubscribe": _without("oversubscribe"),
    "pool memory_guard": _without("memory_guard", "oversubscribe"),
    **{f"node {key}": _without(key) for key in _OF_NODE},
    **{f"device {key}": _without(key) for key in _OF_GROUP},
    **{f"use {key}": _without(key) for key in _OF_USE},
}
