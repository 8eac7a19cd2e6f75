"""Which reservations would have to end for a more important step, and what is lost then. Nothing is ended by asking."""

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

from hetero_ops.booking.view import FleetView
from hetero_ops.gap.requirement import AnyRequirement
from hetero_ops.ledger.reservation import Reservation
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet


@dataclass(frozen=True, slots=True)
class Preemption:
    """What would make room for a step.

    Attributes:
        decision: the answer to the step as things are; it names the least victims in its words and its JSON.
        reservations: those that would end, whole gangs.
        others: owners of what runs beside the ledger and would end too.
        nodes: where the step would then fit.
        lost_device_ms: work lost, thousandths of a device-second; `None` where a part of it is unknown.
        is_least: whether every set that could lose less is ruled out.
    """

    decision: NoFit
    reservations: list[Reservation]
    others: list[str]
    nodes: list[str]
    lost_device_ms: int | None
    is_least: bool


def preemption(view: FleetView, requirement: AnyRequirement) -> Preemption | Placement | NoFit:
    """The least that has to end for a step to fit now; the decision itself where nothing has to, or nothing helps.

    What a reservation loses is counted from the checkpoint that it reported last, else from its beginning. Those end
    that said `preemptible` and have a lower priority; all nodes of a reservation end together. Where the fleet states a
    notice, those whose grace is not longer can save within it, and lose no more than that.

    Args:
        view: what exists and what is booked.
        requirement: what the step needs, with its priority.

    Raises:
        InvalidRequirement: the requirement cannot be understood.
    """
    live = {reservation.id: reservation for reservation in view.ledger.live()}
    decision = _with_uses(view, list(live.values())).place(requirement)
    victims = None if isinstance(decision, Placement) else json.loads(decision.to_json()).get("victims")
    if isinstance(decision, Placement) or victims is None:
        return decision
    owners = list(dict.fromkeys(entry["owner"] for entry in victims["victims"]))
    return Preemption(
        decision=decision,
        reservations=[live[owner] for owner in owners if owner in live],
        others=[owner for owner in owners if owner not in live],
        nodes=victims["nodes"],
        lost_device_ms=victims["lost_device_ms"],
        is_least=victims["is_least"],
    )


def _with_uses(view: FleetView, live: list[Reservation]) -> Fleet:
    """The fleet of the view with reservations in use, as a fleet document says it, instead of held."""
    snapshot = json.loads(view.fleet.to_json())
    snapshot["holds"] = []
    nodes = {
        (cluster["name"], node["name"]): node
        for cluster in snapshot["document"]["clusters"]
        for node in cluster.get("nodes", [])
    }
    now_ms = view.ledger.now_ms()
    snapshot["document"]["generated"] = {"at": _time(now_ms), "by": "hetero-ops"}
    for reservation in live:
        for hold in reservation.holds:
            node = nodes.get((hold["cluster"], hold["node"]))
            if node is not None:
                node.setdefault("used", []).append(_use(reservation, hold, now_ms))
    return Fleet.from_json(json.dumps(snapshot).encode())


def _use(reservation: Reservation, hold: dict[str, Any], now_ms: int) -> dict[str, Any]:
    saved_ms = reservation.checkpoint_ms
    fields = {
        "owner": reservation.id,
        "gang": reservation.id if len(reservation.nodes) > 1 else None,
        "devices": hold["devices"],
        "share_milli": hold["share_milli"],
        "device_memory_mib": hold.get("share_memory_mib"),
        "bound": hold.get("bound"),
        "cpu_milli": hold["cpu_milli"] or None,
        "memory_mib": hold["memory_mib"] or None,
        "team": reservation.team,
        "priority": reservation.priority,
        "preemptible": reservation.terms.get("preemptible"),
        "since": _time(reservation.since_ms),
        "checkpoint_s": reservation.terms.get("grace_s"),
        "checkpoint_age_s": None if saved_ms is None else max(0, now_ms - saved_ms) // 1000,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _time(at_ms: int) -> str:
    return dt.datetime.fromtimestamp(at_ms // 1000, dt.UTC).isoformat().replace("+00:00", "Z")
