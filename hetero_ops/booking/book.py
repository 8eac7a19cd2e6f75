"""The loop: place, reserve, and place anew where somebody was faster. One room, used by every host."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from hetero_ops.booking.view import FleetView
from hetero_ops.errors import CutFirst, ReservationConflict, StalePlacement
from hetero_ops.gap.requirement import AnyRequirement, Requirement
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import CHECKS, Owner, OwnerCheck
from hetero_ops.ledger.reaping import reap
from hetero_ops.ledger.reservation import LEASE_S, Asked, Reservation
from hetero_ops.placement.decision import GroupGrant, NoFit, Placement
from hetero_ops.placement.fleet import Fleet

if TYPE_CHECKING:
    from sqlalchemy import Connection

ATTEMPTS = 50
"""Placing anew so often is tried; each time somebody else got what this one was to have."""
# Waiting between attempts: drawn from 0 up to a bound that doubles, so that those who met do not meet again.
_FIRST_WAIT_S = 0.002
_LONGEST_WAIT_S = 0.25

# Somebody else got what this one was to have.
_FASTER = (ReservationConflict, StalePlacement)

_log = logging.getLogger(__name__)


def book(  # noqa: PLR0913 - placing has its settings, and leases have one
    fleet: Fleet | FleetView,
    requirement: AnyRequirement,
    ledger: Ledger,
    owner: Owner,
    *,
    policy: str = "aware",
    seed: int = 0,
    key: str = "",
    weights: Mapping[str, int] | None = None,
    lease_s: float = LEASE_S,
    checks: Mapping[str, OwnerCheck] = CHECKS,
    terms: Mapping[str, Any] | None = None,
) -> Reservation | NoFit:
    """Places a step beside everything that is booked, and books it.

    When nothing fits now, reservations whose owners are gone are freed first.

    Args:
        fleet: what exists. Whoever books often keeps a `FleetView` of it and passes that: a fleet is copied every time.
        requirement: what the step needs.
        ledger: where it is booked.
        owner: whose the reservation is.
        policy: as for `Fleet.place`.
        seed: as for `Fleet.place`.
        key: as for `Fleet.place`.
        weights: as for `Fleet.place`.
        lease_s: how long the owner may be silent.
        checks: whether owners are gone, by their kind.
        terms: more to remember with the reservation.

    Raises:
        InvalidRequirement: the requirement cannot be understood.
        CutFirst: a device has to be cut into partitions first.
        ReservationConflict: others were faster every time.
    """
    asked = Requirement.parse(requirement)
    view = fleet if isinstance(fleet, FleetView) else FleetView(Fleet.from_json(fleet.to_json()), ledger)

    settings = {"policy": policy, "seed": seed, "key": key, "weights": weights}
    asking = _Asking(view, asked, owner, lease_s, settings, terms or {})
    answer = _book(asking)
    if isinstance(answer, NoFit) and answer.verdict == "busy" and reap(ledger, checks, by=str(owner)).expired:
        answer = _book(asking)
    return answer


@dataclass(frozen=True, slots=True)
class _Asking:
    """A step that is to be booked."""

    view: FleetView
    requirement: Requirement
    owner: Owner
    lease_s: float
    settings: dict[str, Any]
    terms: Mapping[str, Any]

    def place(self, connection: "Connection | None" = None) -> Asked:
        """Where it goes, beside everything that is booked as this connection sees it."""
        with self.view.alone:
            self.view.follow(connection)
            placed = self.view.fleet.place(self.requirement, **self.settings)
            if isinstance(placed, NoFit):
                _log.info("%s: %s", placed.verdict, ", ".join(placed.codes), extra={"trace_id": placed.trace_id})
                raise _Refused(placed)
            asked = _asked(self.view, placed, self.requirement, self.owner, self.lease_s)
        return replace(asked, terms={**asked.terms, **self.terms})


class _Refused(Exception):  # noqa: N818
    """Nothing fits: carries the answer out of a transaction in which then nothing is booked."""

    def __init__(self, answer: NoFit) -> None:
        super().__init__()
        self.answer = answer


def _book(asking: _Asking) -> Reservation | NoFit:
    try:
        try:
            return _told(_try(asking))
        except _FASTER:
            return _told(_tries()(_try, asking))
    except _Refused as refused:
        return refused.answer


def _tries() -> Retrying:
    return Retrying(
        retry=retry_if_exception_type(_FASTER),
        wait=wait_random_exponential(multiplier=_FIRST_WAIT_S, max=_LONGEST_WAIT_S),
        stop=stop_after_attempt(ATTEMPTS),
        reraise=True,
    )


def _try(asking: _Asking) -> Reservation:
    # All who meet want the same, the best: one after the other each gets one, all at once they would meet again.
    ledger, crowd = asking.view.ledger, asking.view.crowd
    try:
        if crowd == 0:
            return ledger.reserve(asking.place())
        return ledger.reserve_alone(asking.place, across_hosts=crowd > 1)
    except _FASTER:
        asking.view.met()
        raise


def reserve(
    view: FleetView, placement: Placement, requirement: Requirement, owner: Owner, *, lease_s: float = LEASE_S
) -> Reservation:
    """Books a placement that was made on this view.

    Raises:
        CutFirst: a device has to be cut into partitions first.
        StalePlacement: the view changed since the placement was made.
        ReservationConflict: somebody else has what it would take.
    """
    return _told(view.ledger.reserve(_asked(view, placement, requirement, owner, lease_s)))


def _asked(view: FleetView, placement: Placement, requirement: Requirement, owner: Owner, lease_s: float) -> Asked:
    if placement.cut is not None:
        raise CutFirst(f"device {placement.cut.device} of {placement.cut.node} has to be cut into partitions first")
    return Asked(
        placement,
        view.holding(placement),
        owner,
        team=requirement.team,
        priority=requirement.priority,
        lease_s=lease_s,
        terms=_terms(placement, requirement),
    )


def _told(reservation: Reservation) -> Reservation:
    told = {"trace_id": reservation.trace_id, "reservation_id": reservation.id, "owner": str(reservation.owner)}
    _log.info("reserved %s on %s", reservation.terms["choice"], ", ".join(reservation.nodes), extra=told)
    return reservation


def _terms(placement: Placement, requirement: Requirement) -> dict[str, Any]:
    """What was granted and agreed to, as far as something is known of it."""
    terms = {
        "verdict": placement.verdict,
        "granted": _granted(placement),
        "precision": placement.precision,
        "quantize": placement.quantize,
        "preemptible": _may_end(requirement),
        "workload": requirement.workload,
        "checkpoint": requirement.checkpoint.dir if requirement.checkpoint else None,
        "grace_s": requirement.checkpoint.grace_s if requirement.checkpoint else None,
    }
    return {name: value for name, value in terms.items() if value is not None}


def _may_end(requirement: Requirement) -> bool | None:
    """Whether it may end for a more important step: where it does not say, whoever gives way on its own may."""
    return True if requirement.preemptible is None and requirement.degrade.may_yield else requirement.preemptible


def _granted(placement: Placement) -> list[dict[str, Any]]:
    """How much of which kind of device on which node, by what charges and budgets count; nothing for CPU alone."""
    parts: Sequence[Placement | GroupGrant] = placement.groups or [placement]
    return [
        {
            "node": node,
            "sku": part.sku,
            "model": part.model,
            "vendor": part.vendor,
            "class": part.accelerator_class,
            "partition": part.partition,
            "memory_mib": part.memory_mib,
            "device_milli": sum(device.share_milli for device in part.devices if device.node == node),
        }
        for part in parts
        for node in dict.fromkeys(device.node for device in part.devices)
    ]
