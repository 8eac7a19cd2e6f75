"""Steps and the little fleet on which they are booked."""

from hetero_ops import Fleet
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import LEASE_S, Asked
from tests.ledger import fleets

STRANGER = Owner("stranger", "of whom nobody knows")


def small_fleet(nodes: int = 2, devices: int = 2) -> Fleet:
    return Fleet.from_document(fleets.document(nodes, devices))


def asked(fleet: Fleet, requirement: str = "gpu:1", owner: Owner = STRANGER, lease_s: float = LEASE_S) -> Asked:
    placement = fleet.place(requirement)
    assert placement.ok, placement
    return Asked(placement, fleet.holding(placement), owner, lease_s=lease_s)
