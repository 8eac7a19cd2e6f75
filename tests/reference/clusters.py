"""Which cluster a choice is tried in first, where the step or the fleet tells clusters apart; from the definition."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.reference.cutting import is_for_partitions
from tests.reference.device_fit import misfit_of_device, part_milli
from tests.reference.filtering import misfit_but_power, misfit_of_place
from tests.reference.groups import asked_of
from tests.reference.model import JSON, WHOLE, Device, Fleet, Node, booked, holds, total
from tests.reference.scoring import Question, with_verdicts
from tests.reference.work import counts_of_work

_LOCALITY, _PRICE, _LOAD, _WEIGHT = 50, 20, 15, 10


@dataclass
class _Offer:
    """What a cluster has for a choice: free and all thousandths, and what it costs from."""

    free: int
    all: int
    price: int | None


def with_checkpoint(fleet: Fleet, choices: Sequence[JSON], checkpoint: JSON | None) -> list[JSON]:
    """The choices with where the step's checkpoint is; it keeps them there if it is not portable and lies somewhere."""
    if checkpoint is None:
        return list(choices)
    location = checkpoint["location"]
    is_kept = not checkpoint["is_portable"] and holds(fleet.data, location)
    kept = {"checkpoint": location} if is_kept else {}
    return [choice | {"state_at": location, "place": choice.get("place", {}) | kept} for choice in choices]


def only_in(choice: JSON, cluster: str) -> JSON:
    """The choice, asked in one cluster."""
    return choice | {"place": choice.get("place", {}) | {"clusters": [cluster]}}


def in_order(fleet: Fleet, choice: JSON, question: Question) -> list[str]:
    """The clusters that have devices for a choice, best first; none where nothing tells them apart."""
    names = sorted({node.cluster for node in fleet.nodes})
    nodes = {name: [node for node in fleet.nodes if node.cluster == name] for name in names}
    offers = {name: offer for name in names if (offer := _offer(fleet, nodes[name], choice, question))}
    near = set(choice.get("place", {}).get("near", ())) | {choice.get("state_at")} - {None}
    met = {name: sum(wish == name or holds(nodes[name][0].data, wish) for wish in near) for name in offers}
    weights = {name: nodes[name][0].weight_milli for name in offers}
    most = max(weights.values(), default=0)
    told = {
        name: (
            _LOCALITY * WHOLE * met[name],
            _PRICE * _value(list(offers.values()), offer),
            _WEIGHT * _part(weights[name], most),
        )
        for name, offer in offers.items()
    }
    if len(set(told.values())) < 2:
        return []
    points = {name: sum(told[name]) + _LOAD * _part(offer.free, offer.all) for name, offer in offers.items()}
    return sorted(points, key=lambda name: (-points[name], name))


def _part(part: int, whole: int) -> int:
    return part * WHOLE // whole if whole else 0


def _value(offers: list[_Offer], offer: _Offer) -> int:
    """The cheapest price relative to this one; nothing where some cluster states none."""
    prices = [other.price for other in offers if other.price is not None]
    if offer.price is None or len(prices) < len(offers):
        return 0
    return WHOLE if offer.price == min(prices) else _part(min(prices), offer.price)


def _offer(fleet: Fleet, nodes: Iterable[Node], choice: JSON, question: Question) -> _Offer | None:
    """`None` where some group of the choice has no device that could serve it, however busy."""
    members = asked_of(fleet, choice, question).members if choice.get("groups") else [choice]
    meant = [node for node in nodes if not (misfit_of_place(node, choice) or (None, False))[1]]
    found = [_of_member(fleet, meant, member, question) for member in members]
    offers = [offer for offer in found if offer is not None]
    if len(offers) < len(found):
        return None
    prices = [offer.price for offer in offers if offer.price is not None]
    price = sum(prices) if len(prices) == len(offers) else None
    return _Offer(sum(offer.free for offer in offers), sum(offer.all for offer in offers), price)


def _of_member(fleet: Fleet, nodes: Iterable[Node], member: JSON, question: Question) -> _Offer | None:
    if member["count"] == 0 and member.get("units_milli") is None:
        return _of_cores(nodes)
    asks = [with_verdicts(fleet, asked, question) for asked in _counts(fleet, member)]
    free = every = 0
    prices = []
    for node in nodes:
        for device in node.devices:
            ways = [(ask, device) for ask in asks if misfit_but_power(node, device, ask) is None]
            parts = device.parts if device.may_be_cut else []
            cuts = [(ask, part) for ask in asks if is_for_partitions(ask) for part in parts]
            ways += [(ask, part) for ask, part in cuts if misfit_of_device(part, ask) is None]
            if ways:
                free += device.free if node.state == "active" else 0
                every += WHOLE
                prices += [price for ask, way in ways if (price := _cost(node, way, ask)) is not None]
    return _Offer(free, every, min(prices, default=None)) if every else None


def _of_cores(nodes: Iterable[Node]) -> _Offer | None:
    open_nodes = [node for node in nodes if not node.taints]
    free = sum(node.free_cpu_milli or 0 for node in open_nodes if node.state == "active")
    return _Offer(free, sum(node.cpu_milli or 0 for node in open_nodes), 0) if open_nodes else None


def _counts(fleet: Fleet, member: JSON) -> list[JSON]:
    """The least and the most, or as many as do the work."""
    if member.get("units_milli") is not None:
        return [counted for counts in counts_of_work(fleet, member) for counted in counts]
    ends = [member["count"], member.get("count_ceiling")]
    return [member | {"count": count, "count_ceiling": None} for count in ends if count is not None]


def _cost(node: Node, device: Device, ask: JSON) -> int | None:
    price = node.prices_milli.get(device.sku or "")
    return None if price is None else -(-price * total(ask) * booked(ask, device) * part_milli(device) // WHOLE**2)
