"""Every set of devices on every node, and its score."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from hetero_ops.gap.throughput import Throughput
from tests.reference import measured, power
from tests.reference.affinity import affinity
from tests.reference.device_fit import Misfit, computed_precision, part_of, speed_left
from tests.reference.filtering import misfit_now, misfit_of_node, misfit_on_node
from tests.reference.fragmentation import Mix
from tests.reference.model import JSON, WHOLE, Device, Fleet, Node, alike, booked, room, without_nic
from tests.reference.pool import misfit_of_pools
from tests.reference.quota import misfit_of_team
from tests.reference.speed import misfit_of_speed
from tests.reference.worth import Worth

WEIGHTS = {"performance": 50, "topology": 25, "fragmentation": 15, "power": 10, "draw": 0}
NUMA_PENALTY_MILLI = 150


class Question(NamedTuple):
    """How a choice is to be judged; `first` is the first choice of its request, `None` for that one itself."""

    mix: Mix
    policy: str
    team: str | None
    first: JSON | None
    weights: Mapping[str, int] = WEIGHTS
    numa_penalty_milli: int = NUMA_PENALTY_MILLI
    rows: Sequence[Throughput] = ()
    priority: int | None = None


_ISLAND_PAIR = Fraction(60, 100)
_SWITCH_PAIR = Fraction(59, 100)
_NUMA_PAIR = Fraction(58, 100)
_REFERENCE_PAIR_MBPS = 900_000
_REFERENCE_MILLI = 8000
_REFERENCE_MBPS = 3_350_000
_POWER_PENALTY = 20


def with_verdicts(fleet: Fleet, asked: JSON, question: Question) -> JSON:
    """The choice with what it asks of a kind as part of a request: relative speed, then limits of team and pool."""
    verdicts = {}
    for device in fleet.devices():
        slow = misfit_of_speed(device, asked, question.first, question.rows)
        verdicts[device.kind] = (slow, True) if slow else misfit_of_limits(fleet, device, asked, question)
    return asked | {"verdicts": {kind: verdict for kind, verdict in verdicts.items() if verdict}}


def misfit_of_limits(fleet: Fleet, device: Device, asked: JSON, question: Question) -> tuple[Misfit, bool] | None:
    """Why nobody of the team, or of the pool, may have more devices like this one; what stays so is told first."""
    of_team = misfit_of_team(fleet, device, asked, question.team)
    of_pool = misfit_of_pools(fleet, device, asked, question.priority)
    found = [misfit for misfit in (of_team, of_pool) if misfit]
    return min(found, key=lambda misfit: not misfit[1], default=None)


def emptied(fleet: Fleet) -> Fleet:
    empty = deepcopy(fleet)
    empty.team_uses, empty.team_nodes, empty.spent, empty.pool_uses = [], [], {}, []
    for node in empty.nodes:
        node.state, node.free_cpu_milli, node.free_memory_mib = "active", node.cpu_milli, node.memory_mib
        for device in node.devices:
            device.is_healthy, device.free, device.read_mw = True, WHOLE, None
            device.asked, device.bound, device.is_full = [], [], False
    return empty


def ranked(
    fleet: Fleet, choice: JSON, question: Question
) -> Iterator[tuple[Fraction, tuple[int, int, int], str, str, tuple[int, ...]]]:
    """All candidates: score, less shared with its own kind, network cards, less idle share left, names, ids."""
    worth = Worth(fleet, question.mix)
    for node in fleet.nodes:
        if misfit_of_node(node, choice) is None:
            for chosen in sets(node, choice):
                taken = sum(booked(choice, device) for device in chosen)
                idle = sum(device.free for device in node.devices) - taken
                ids = tuple(sorted(device.id for device in chosen))
                order = alike(choice, chosen), without_nic(choice, chosen), idle
                yield -score(node, chosen, choice, worth, question), order, node.cluster, node.name, ids


def sets(node: Node, choice: JSON) -> Iterator[tuple[Device, ...]]:
    """Every set of the asked number of usable devices, of one kind, and in one island where a link is asked."""
    free = [device for device in node.devices if room(choice, device) >= booked(choice, device)]
    fit = [device for device in free if misfit_on_node(node, device, choice) is None]
    usable = [device for device in fit if misfit_now(node, device, choice) is None]
    for chosen in combinations(usable, choice["count"]):
        islands = {device.island for device in chosen}
        is_split = choice["link"] and choice["count"] > 1 and (len(islands) > 1 or None in islands)
        if len({device.kind for device in chosen}) <= 1 and not is_split and _is_allowed(node, chosen, choice):
            yield chosen


def _is_allowed(node: Node, chosen: Sequence[Device], choice: JSON) -> bool:
    """On one NUMA node, near network cards where that is asked; all of a kind where only whole nodes are handed out."""
    numa = {device.numa for device in chosen}
    is_apart = choice.get("one_numa_node") and (len(numa) > 1 or None in numa)
    ranks = choice.get("tensor_ranks") or 1
    groups = [sum(device.island == island for device in chosen) for island in {device.island for device in chosen}]
    is_torn = ranks > 1 and (any(size % ranks for size in groups) or any(device.island is None for device in chosen))
    is_opaque = any(device.profile.get("is_opaque") for device in chosen)
    all_of_it = sum(device.kind == chosen[0].kind for device in node.devices) if is_opaque else len(chosen)
    is_near = all(device.nic or not choice.get("near_nic") for device in chosen)
    is_as_asked = not is_apart and is_near and not is_torn and len(chosen) == all_of_it
    return is_as_asked and power.is_within(node, chosen, choice)


def score(node: Node, chosen: tuple[Device, ...], choice: JSON, worth: Worth, question: Question) -> Fraction:
    """0..=100."""
    values, penalty = terms(node, chosen, choice, worth, question)
    weight = sum(question.weights[term] for term in values)
    points = sum((value * question.weights[term] for term, value in values.items()), Fraction(0)) * 100 / weight
    return min(max(points - penalty, Fraction(0)), Fraction(100))


def terms(
    node: Node, chosen: tuple[Device, ...], choice: JSON, worth: Worth, question: Question
) -> tuple[dict[str, Fraction], int]:
    """Values and penalty."""
    policy = question.policy
    values = {"performance": _met(chosen, choice, question), "fragmentation": _rest(node, chosen, choice, worth)}
    values["power"], is_missing = power.value(node, chosen, policy)
    if policy == "classic" and chosen:
        values["performance"] = affinity(chosen[0], choice, policy) / 100
    if len(chosen) > 1:
        values["topology"] = nearness(chosen, question)
    if chosen and question.weights["draw"]:
        values["draw"] = power.sparing(chosen)
    return values, _POWER_PENALTY if is_missing and policy == "classic" else 0


def _met(chosen: Sequence[Device], choice: JSON, question: Question) -> Fraction:
    """The filter has seen to every floor by the sheet; a need is none, and a hypervisor or translation takes speed."""
    compute = choice.get("compute_need_tflops") or choice["compute_floor_tflops"]
    bandwidth = choice.get("bandwidth_need_mbps")
    if not chosen or not (compute or bandwidth):
        return Fraction(1)
    device = chosen[0]
    by_table = measured.over_the_best(question.rows, device, choice)
    if by_table is not None:
        return by_table * min(speed_left(device, choice), 1)
    if device.profile.get("is_opaque"):
        return Fraction(1, 2)
    rate = part_of(device, device.profile.get("rates", {}).get(computed_precision(device, choice)), "compute_milli")
    mbps = part_of(device, device.profile.get("bandwidth_mbps"), "bandwidth_milli")
    have = [
        (rate, compute, Fraction(989.4)),
        (None if mbps is None else int(mbps), bandwidth, Fraction(_REFERENCE_MBPS)),
    ]
    return min(_part_of_need(Fraction(has or 0) * speed_left(device, choice), *of) for has, *of in have)


def _part_of_need(rate: Fraction, need: float | None, reference: Fraction) -> Fraction:
    if not need:
        return Fraction(1)
    return min(rate / (rate + reference) / (Fraction(need) / (Fraction(need) + reference)), Fraction(1))


def nearness(chosen: Sequence[Device], question: Question) -> Fraction:
    """The mean over all pairs."""
    values = [pair(a, b, question) for a, b in combinations(chosen, 2)]
    return sum(values, Fraction(0)) / len(values)


def pair(a: Device, b: Device, question: Question) -> Fraction:
    """How near two devices of one node are to each other."""
    if a.card is not None and a.card == b.card:
        return Fraction(1)
    if a.island is not None and a.island == b.island:
        mbps = a.profile.get("pair_mbps") or 0
        return _ISLAND_PAIR + (1 - _ISLAND_PAIR) * Fraction(mbps, mbps + _REFERENCE_PAIR_MBPS)
    if a.switch is not None and a.switch == b.switch:
        return _SWITCH_PAIR
    is_near = a.numa is not None and a.numa == b.numa
    return _NUMA_PAIR if is_near else _NUMA_PAIR * (1 - Fraction(question.numa_penalty_milli, WHOLE))


def _rest(node: Node, chosen: tuple[Device, ...], choice: JSON, worth: Worth) -> Fraction:
    """1 where the mix loses nothing."""
    return _REFERENCE_MILLI / (_REFERENCE_MILLI + worth.lost_milli(node, chosen, choice))
