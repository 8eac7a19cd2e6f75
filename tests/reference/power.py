"""Power of nodes and racks: draws, budgets, and who would go over them."""

from collections.abc import Sequence
from fractions import Fraction

from tests.reference.device_fit import Misfit
from tests.reference.model import JSON, WHOLE, Device, Node, booked, room

_EASY = Fraction(8, 10)
_REFERENCE_MW = 700_000


def limits(node: Node) -> list[tuple[int, int | None]]:
    """Each budget that a node is under, with what is drawn now; `None` is unknown."""
    own = [] if node.power_budget_mw is None else [(node.power_budget_mw, _sum([_draw(d) for d in node.devices]))]
    if node.rack_budget_mw is None:
        return own
    draws = [_draw(device) for near in node.rack_nodes for device in near.devices]
    return [*own, (node.rack_budget_mw, _sum(draws))]


def misfit_alone(node: Node, device: Device, choice: JSON) -> Misfit | None:
    """Why the asked number of such devices would be too much for an idle node or rack."""
    tdp = _tdp(device)
    if choice.get("may_cap_power") or tdp is None:
        return None
    over = [budget for budget, _ in limits(node) if tdp * choice["count"] > budget]
    return Misfit("POWER_BUDGET", tdp * choice["count"], over[0]) if over else None


def misfit_now(node: Node, device: Device, choice: JSON) -> Misfit | None:
    """Why devices of this kind would be too much beside what is drawn now."""
    tdp, share = _tdp(device), booked(choice, device)
    if choice.get("may_cap_power") or tdp is None:
        return None
    added: int | None = tdp * choice["count"]
    if share < WHOLE:
        usable = [d for d in node.devices if d.kind == device.kind and room(choice, d) >= share]
        added = min((more for d in usable if (more := _added(d)) is not None), default=None)
    for budget, draw in limits(node):
        if draw is not None and added is not None and draw + added > budget:
            return Misfit("POWER_BUDGET", draw + added, budget)
    return None


def is_within(node: Node, chosen: Sequence[Device], choice: JSON) -> bool:
    """Whether a set of devices stays inside all budgets; what is not known is inside."""
    added = _sum([_added(device) for device in chosen])
    is_judged = bool(chosen) and not choice.get("may_cap_power") and added is not None
    known = limits(node) if is_judged else []
    return all(draw is None or added is None or draw + added <= budget for budget, draw in known)


def is_within_rack(node: Node, chosen: Sequence[Device], choice: JSON) -> bool:
    """Whether devices on several nodes stay inside the budget of the rack of one; what is not known is inside."""
    added, draw = _sum([_added(device) for device in chosen]), None
    if node.rack_budget_mw is not None:
        draw = _sum([_draw(device) for near in node.rack_nodes for device in near.devices])
    if choice.get("may_cap_power") or node.rack_budget_mw is None or draw is None or added is None:
        return True
    return draw + added <= node.rack_budget_mw


def value(node: Node, chosen: Sequence[Device], policy: str) -> tuple[Fraction, bool]:
    """The value of the term, and whether headroom is missing: by the tightest budget."""
    added = _sum([_added(device) for device in chosen]) if chosen else None
    if added is None:
        return Fraction(1), False
    known = [(draw + added, budget) for budget, draw in limits(node) if draw is not None]
    if not known:
        return Fraction(1), False
    draw, budget = max(known, key=lambda pair: Fraction(pair[0], max(pair[1], 1)))
    if draw > budget:
        return Fraction(0), True
    if policy == "classic" or budget == 0:
        return Fraction(1), False
    return min((1 - Fraction(draw, budget)) / (1 - _EASY), Fraction(1)), False


def sparing(chosen: Sequence[Device]) -> Fraction:
    """The value of the term that saves power: one half where 700 W are added, or nobody knows how much."""
    added = _sum([_added(device) for device in chosen])
    return Fraction(1, 2) if added is None else Fraction(_REFERENCE_MW, _REFERENCE_MW + added)


def _tdp(device: Device) -> int | None:
    tdp: int | None = None if device.partition else device.profile.get("tdp_mw")
    return tdp


def _draw(device: Device) -> int | None:
    if device.read_mw is not None and device.free_when_read == device.free:
        return device.read_mw
    return 0 if device.free == WHOLE or not device.is_healthy else _tdp(device)


def _added(device: Device) -> int | None:
    tdp, draw = _tdp(device), _draw(device)
    if tdp is None or device.free == WHOLE:
        return tdp
    return None if draw is None else max(0, tdp - draw)


def _sum(draws: Sequence[int | None]) -> int | None:
    known = [draw for draw in draws if draw is not None]
    return sum(known) if len(known) == len(draws) else None
