"""Steps over several nodes: every set of nodes of one cluster and one model is compared."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from tests.reference import power
from tests.reference.device_fit import Misfit
from tests.reference.filtering import misfit_of_node
from tests.reference.model import JSON, WHOLE, Device, Fleet, Node, booked, total, without_nic
from tests.reference.scoring import Question, pair, sets, terms, with_verdicts
from tests.reference.worth import Worth

_RACK_PAIR, _ZONE_PAIR, _CLUSTER_PAIR = Fraction(25, 100), Fraction(15, 100), Fraction(5, 100)
_NANO = 10**9


class Part(NamedTuple):
    """What one node gives; the least is the best but for where it is."""

    minus_points: int
    order: tuple[int, int]
    cluster: str
    name: str
    ids: tuple[int, ...]
    node: Node
    devices: tuple[Device, ...]
    values: dict[str, Fraction]
    penalty: int

    @property
    def rank(self) -> tuple[int, tuple[int, int], str, str, tuple[int, ...]]:
        """What parts are compared by."""
        return self.minus_points, self.order, self.cluster, self.name, self.ids


class Gang(NamedTuple):
    """What all nodes give, in the order of their names."""

    parts: tuple[tuple[Node, tuple[Device, ...]], ...]
    score: Fraction
    # What it is compared by with others on as many nodes, but for where they are.
    merit: tuple[object, ...]


def best_gang(fleet: Fleet, asked: JSON, question: Question) -> Gang | None:
    """The set with most pairs of nodes in one zone, then in one rack, then of the highest score."""
    nodes = asked["peers"] + 1
    found = [
        (_rank(chosen), chosen)
        for parts in _of_each_model(fleet, asked, question)
        for chosen in combinations(_apart(parts, asked), nodes)
        if len({part.cluster for part in chosen}) == 1
    ]
    if not found:
        return None
    rank, chosen = min(found, key=lambda ranked: ranked[0])
    return Gang(tuple((part.node, part.devices) for part in chosen), _score(chosen, question), rank[:4])


def too_few(fleet: Fleet, asked: JSON, question: Question) -> Misfit:
    """How many nodes could give their part together, and whether it is only that they are not apart."""
    nodes, models = asked["peers"] + 1, list(_of_each_model(fleet, asked, question))
    together = max((_largest(parts) for parts in models), default=0)
    apart = max((_largest(_apart(parts, asked)) for parts in models), default=0)
    return Misfit("SPREAD" if together >= nodes else "NODES_SHORT", apart, nodes)


def _largest(parts: Sequence[Part]) -> int:
    clusters = [part.cluster for part in parts]
    return max((clusters.count(cluster) for cluster in clusters), default=0)


def _of_each_model(fleet: Fleet, asked: JSON, question: Question) -> Iterator[list[Part]]:
    """The best part of each node, model by model, in the order of the nodes."""
    choice, worth = with_verdicts(fleet, asked, question), Worth(fleet, question.mix)
    by_model: dict[object, dict[tuple[str, str], list[Part]]] = defaultdict(lambda: defaultdict(list))
    for node in fleet.nodes:
        for model in {_model(device) for device in node.devices} if choice["count"] else {()}:
            only = _of_model(fleet, choice, model) if choice["count"] else choice
            if misfit_of_node(node, only) is None:
                parts = [_part(node, chosen, only, worth, question) for chosen in sets(node, only)]
                by_model[model][node.cluster, node.name] += parts
    for of_nodes in by_model.values():
        yield _fed([min(of_nodes[name], key=lambda part: part.rank) for name in sorted(of_nodes)], choice)


def _fed(parts: list[Part], choice: JSON) -> list[Part]:
    """Of each rack under a power budget the best parts, as many as it can feed together."""
    kept: list[Part] = []
    for part in sorted(parts, key=lambda part: part.rank):
        beside = [other for other in kept if any(node is other.node for node in part.node.rack_nodes)]
        if not choice["count"] or power.is_within_rack(
            part.node, [device for near in (part, *beside) for device in near.devices], choice
        ):
            kept.append(part)
    return [part for part in parts if part in kept]


def _model(device: Device) -> tuple[object, ...]:
    """Devices of a gang may differ in the memory that they report and in how shares are handed out, in nothing else."""
    return device.kind[:-4]


def _of_model(fleet: Fleet, choice: JSON, model: object) -> JSON:
    """The choice with no for an answer to all other models."""
    others = {device.kind: (Misfit("NOT_OFFERED"), True) for device in fleet.devices() if _model(device) != model}
    return choice | {"verdicts": choice["verdicts"] | others}


def _part(node: Node, chosen: tuple[Device, ...], choice: JSON, worth: Worth, question: Question) -> Part:
    values, penalty = terms(node, chosen, choice, worth, question)
    count, of_all, nodes = len(chosen), total(choice), choice["peers"] + 1
    inside = values.get("topology", Fraction(0)) * (count * (count - 1) // 2) / max(of_all * (of_all - 1) // 2, 1)
    weights = question.weights if count else {term: question.weights[term] for term in values}
    points = sum((values[term] * weights[term] / nodes for term in values if term != "topology"), Fraction(0))
    points = (points + inside * question.weights["topology"]) * 100 / sum(weights.values()) - Fraction(penalty, nodes)
    idle = sum(device.free for device in node.devices) - sum(booked(choice, d) for d in chosen)
    ids = tuple(sorted(device.id for device in chosen))
    order = without_nic(choice, chosen), idle
    return Part(-round(points * _NANO), order, node.cluster, node.name, ids, node, chosen, values, penalty)


def _apart(parts: list[Part], asked: JSON) -> list[Part]:
    """Of each domain that the step is spread over only the best part."""
    spread = asked.get("place", {}).get("spread")
    if not spread:
        return parts
    best: dict[object, Part] = {}
    for part in sorted(parts, key=lambda part: part.rank):
        best.setdefault(part.node.domain(spread), part)
    return [part for part in parts if part in best.values()]


def _rank(chosen: Sequence[Part]) -> tuple[object, ...]:
    pairs = list(combinations(chosen, 2))
    in_zone = sum(a.node.zone() == b.node.zone() for a, b in pairs)
    in_rack = sum(_is_one_rack(a.node, b.node) for a, b in pairs)
    points, orders = sum(part.minus_points for part in chosen), zip(*(part.order for part in chosen), strict=True)
    return (
        -in_zone,
        -in_rack,
        points,
        [sum(each) for each in orders],
        [part[2:4] for part in chosen],
        [part.ids for part in chosen],
    )


def _is_one_rack(a: Node, b: Node) -> bool:
    return a.domain("rack") is not None and a.domain("rack") == b.domain("rack")


def _score(chosen: Sequence[Part], question: Question) -> Fraction:
    """Means over the nodes; topology over all pairs of devices."""
    values = {
        term: sum((part.values[term] for part in chosen), Fraction(0)) / len(chosen)
        for term in chosen[0].values
        if term != "topology"
    }
    devices = [(part.node, device) for part in chosen for device in part.devices]
    near = [
        pair(a, b, question) if here is there else between(here, there)
        for (here, a), (there, b) in combinations(devices, 2)
    ]
    if near:
        values["topology"] = sum(near, Fraction(0)) / len(near)
    weights = question.weights if near else {term: question.weights[term] for term in values}
    points = sum((values[term] * weights[term] for term in values), Fraction(0)) * 100 / sum(weights.values())
    penalty = sum((Fraction(part.penalty) for part in chosen), Fraction(0)) / len(chosen)
    return min(max(points - penalty, Fraction(0)), Fraction(WHOLE, 10))


def between(a: Node, b: Node) -> Fraction:
    """How near devices of two nodes of one cluster are to each other."""
    if _is_one_rack(a, b):
        return _RACK_PAIR
    return _ZONE_PAIR if a.zone() == b.zone() else _CLUSTER_PAIR
