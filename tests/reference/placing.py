"""The decision: every set of devices on every node is scored; the first choice that fits somewhere wins."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from tests.reference import power
from tests.reference.affinity import affinity
from tests.reference.device_fit import Misfit, computed_precision, part_of, speed_left
from tests.reference.filtering import misfit_now, misfit_of_node, misfit_on_node
from tests.reference.fragmentation import Mix
from tests.reference.model import JSON, WHOLE, Answer, Device, Fleet, Node, Reason, TeamUse, booked, room
from tests.reference.quota import misfit_of_team
from tests.reference.speed import misfit_of_speed
from tests.reference.worth import Worth

Name = tuple[str, str]


class Question(NamedTuple):
    """How a choice is to be judged; `first` is the first choice of its request, `None` for that one itself."""

    mix: Mix
    policy: str
    team: str | None
    first: JSON | None


WEIGHTS = {"performance": 50, "topology": 25, "fragmentation": 15, "power": 10}
_NUMA_PAIR = Fraction(60, 100)
_NODE_PAIR = _NUMA_PAIR * (1 - Fraction(15, 100))
_REFERENCE_PAIR_MBPS = 900_000
_REFERENCE_MILLI = 8000
_POWER_PENALTY = 20


def place(fleet: Fleet, choices: Sequence[JSON], mix: Mix, policy: str = "aware", team: str | None = None) -> Answer:
    """Places the choices in their order, or says why not."""
    reasons: set[Reason] = set()
    capped = {"may_cap_power": True} if policy == "classic" else {}  # points instead of a refusal
    for index, written in enumerate(choice | capped for choice in choices):
        question = Question(mix, policy, team, choices[0] if index else None)
        asked = next(_counted(fleet, written, question))
        choice = _with_verdicts(fleet, asked, question)
        best = min(_ranked(fleet, choice, mix, policy), default=None)
        if best is not None and -best[0] >= choice.get("min_score", 0):
            minus_score, _, cluster, node, ids = best
            verdict = "degraded" if index else "placed"
            return Answer(verdict, frozenset(reasons), index, (cluster, node), ids, -minus_score)
        low = {} if best is None else _too_low(fleet, asked, question)
        reasons |= refusals(fleet, index, choice, low)
    is_impossible = all(reason.is_permanent for reason in reasons)
    return Answer("impossible" if is_impossible else "busy", frozenset(reasons))


def _counted(fleet: Fleet, written: JSON, question: Question) -> Iterator[JSON]:
    """Of a range the counts that fit with the asked score, the largest first; at last the smallest count."""
    counts = range(written.get("count_ceiling") or written["count"], written["count"], -1)
    for asked in (written | {"count": count, "count_ceiling": None} for count in counts):
        best = min(_ranked(fleet, _with_verdicts(fleet, asked, question), question.mix, question.policy), default=None)
        if best is not None and -best[0] >= asked.get("min_score", 0):
            yield asked
    yield written


def _with_verdicts(fleet: Fleet, asked: JSON, question: Question) -> JSON:
    """The choice with what it asks of a kind as part of a request: relative speed, then the limits of the team."""
    verdicts = {}
    for device in fleet.devices():
        slow = misfit_of_speed(device, asked, question.first)
        verdicts[device.kind] = (slow, True) if slow else misfit_of_team(fleet, device, asked, question.team)
    return asked | {"verdicts": {kind: verdict for kind, verdict in verdicts.items() if verdict}}


def _too_low(fleet: Fleet, asked: JSON, question: Question) -> dict[Name, tuple[Misfit, bool]]:
    """The score of each node that could take the choice, and whether it would be too low on the empty fleet too."""
    states = (fleet, _emptied(fleet))
    now, ever = (_best_scores(state, _with_verdicts(state, asked, question), question) for state in states)
    least = asked["min_score"]
    return {
        name: (Misfit("SCORE_TOO_LOW", int(score), least), ever.get(name, Fraction(0)) < least)
        for name, score in now.items()
    }


def _best_scores(fleet: Fleet, choice: JSON, question: Question) -> dict[Name, Fraction]:
    best: dict[Name, Fraction] = {}
    for minus_score, _, cluster, node, _ in _ranked(fleet, choice, question.mix, question.policy):
        best[cluster, node] = max(best.get((cluster, node), -minus_score), -minus_score)
    return best


def _emptied(fleet: Fleet) -> Fleet:
    empty = deepcopy(fleet)
    empty.team_uses = []
    for node in empty.nodes:
        node.state, node.free_cpu_milli, node.free_memory_mib = "active", node.cpu_milli, node.memory_mib
        for device in node.devices:
            device.is_healthy, device.free, device.read_mw = True, WHOLE, None
            device.asked, device.is_full = [], False
    return empty


def _ranked(
    fleet: Fleet, choice: JSON, mix: Mix, policy: str
) -> Iterator[tuple[Fraction, int, str, str, tuple[int, ...]]]:
    """All candidates: score, then less idle share left on the node, then names, then lower device ids."""
    worth = Worth(fleet, mix)
    for node in fleet.nodes:
        if misfit_of_node(node, choice) is None:
            for chosen in _sets(node, choice):
                taken = sum(booked(choice, device) for device in chosen)
                idle = sum(device.free for device in node.devices) - taken
                ids = tuple(sorted(device.id for device in chosen))
                yield -score(node, chosen, choice, worth, policy), idle, node.cluster, node.name, ids


def _sets(node: Node, choice: JSON) -> Iterator[tuple[Device, ...]]:
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
    """On one NUMA node where that is asked; all of a kind where only whole nodes are handed out."""
    numa = {device.numa for device in chosen}
    is_apart = choice.get("one_numa_node") and (len(numa) > 1 or None in numa)
    is_opaque = any(device.profile.get("is_opaque") for device in chosen)
    all_of_it = sum(device.kind == chosen[0].kind for device in node.devices) if is_opaque else len(chosen)
    return not is_apart and len(chosen) == all_of_it and power.is_within(node, chosen, choice)


def score(node: Node, chosen: tuple[Device, ...], choice: JSON, worth: Worth, policy: str) -> Fraction:
    """0..=100."""
    values = {"performance": _met(chosen, choice), "fragmentation": _rest(node, chosen, choice, worth)}
    values["power"], is_missing = power.value(node, chosen, policy)
    penalty = _POWER_PENALTY if is_missing and policy == "classic" else 0
    if policy == "classic" and chosen:
        values["performance"] = affinity(chosen[0], choice, policy) / 100
    if len(chosen) > 1:
        values["topology"] = _nearness(chosen)
    weight = sum(WEIGHTS[term] for term in values)
    points = sum((value * WEIGHTS[term] for term, value in values.items()), Fraction(0)) * 100 / weight
    return min(max(points - penalty, Fraction(0)), Fraction(100))


def _met(chosen: Sequence[Device], choice: JSON) -> Fraction:
    """The filter has seen to every need by the sheet; translated or behind a hypervisor a device may fall short."""
    need = choice["compute_floor_tflops"]
    if not chosen or not need:
        return Fraction(1)
    device = chosen[0]
    if device.profile.get("is_opaque"):
        return Fraction(1, 2)
    sheet = part_of(device, device.profile["rates"][computed_precision(device, choice)], "compute_milli")
    rate = Fraction(sheet or 0) * speed_left(device, choice)
    reference = Fraction(989.4)
    return min(rate / (rate + reference) / (Fraction(need) / (Fraction(need) + reference)), Fraction(1))


def _nearness(chosen: Sequence[Device]) -> Fraction:
    values = [_pair(a, b) for a, b in combinations(chosen, 2)]
    return sum(values, Fraction(0)) / len(values)


def _pair(a: Device, b: Device) -> Fraction:
    if a.island is not None and a.island == b.island:
        mbps = a.profile.get("pair_mbps") or 0
        return _NUMA_PAIR + (1 - _NUMA_PAIR) * Fraction(mbps, mbps + _REFERENCE_PAIR_MBPS)
    return _NUMA_PAIR if a.numa is not None and a.numa == b.numa else _NODE_PAIR


def _rest(node: Node, chosen: tuple[Device, ...], choice: JSON, worth: Worth) -> Fraction:
    """1 where the mix loses nothing."""
    return _REFERENCE_MILLI / (_REFERENCE_MILLI + worth.lost_milli(node, chosen, choice))


def refusals(fleet: Fleet, index: int, choice: JSON, low: Mapping[Name, tuple[Misfit, bool]]) -> set[Reason]:
    """Why each node that cannot take a choice cannot; some of the others score too low."""
    named = {(node.cluster, node.name): node for node in fleet.nodes}
    found = {name: misfit_of_node(node, choice) or low.get(name) for name, node in named.items()}
    short = [m.have for m, permanent in filter(None, found.values()) if m.code == "COUNT_SHORT" and not permanent]
    is_enough_together = sum(have or 0 for have in short) >= choice["count"]
    reasons = set()
    for node, refusal in found.items():
        if refusal:
            misfit, permanent = refusal
            is_fragment = misfit.code == "COUNT_SHORT" and not permanent and misfit.have and is_enough_together
            code = "FRAGMENTED" if is_fragment else misfit.code
            reasons.add(Reason(index, code, node, misfit.have, misfit.want, permanent))
    return reasons


def take(fleet: Fleet, answer: Answer, choice: JSON, team: str | None = None) -> None:
    """Takes what an answer grants."""
    for node in fleet.nodes:
        if (node.cluster, node.name) == answer.node:
            for device in (device for device in node.devices if device.id in answer.devices):
                share = booked(choice, device)
                device.free -= share
                if choice.get("share_memory_mib") is not None and share < WHOLE:
                    device.asked.append((min(choice["share_memory_mib"], device.usable_mib or 0), share))
                if team is not None:
                    fleet.team_uses.append(TeamUse(team, device, share))
            if node.free_cpu_milli is not None:
                node.free_cpu_milli -= choice["cpu_milli"]
            if node.free_memory_mib is not None:
                node.free_memory_mib -= choice["host_memory_mib"]
