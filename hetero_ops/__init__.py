"""hetero-ops places pipeline steps on mixed accelerator fleets: one line of request in, a placement or reasons out.

from hetero_ops import Fleet
print(Fleet.load("fleet.yaml").place("H100:8 | MI300X:8 where >=80GB bf16 fabric").why())
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hetero_ops.booking.book import book
    from hetero_ops.booking.preempt import preemption
    from hetero_ops.booking.view import FleetView
    from hetero_ops.errors import (
        CheckpointUnusable,
        CutFirst,
        HeteroOpsError,
        InvalidDocument,
        InvalidRequirement,
        LedgerUnusable,
        ReservationConflict,
        StalePlacement,
        UnexpectedAnswer,
        UnknownDevice,
        UnknownHold,
        UnknownReservation,
    )
    from hetero_ops.gap.affinity import Affinity
    from hetero_ops.gap.catalog import Catalog
    from hetero_ops.gap.choice import Choice
    from hetero_ops.gap.contract import Checkpoint
    from hetero_ops.gap.profile import Profile
    from hetero_ops.gap.requirement import Requirement
    from hetero_ops.inventory.reading import Reading
    from hetero_ops.ledger.ledger import Ledger
    from hetero_ops.ledger.owner import Owner
    from hetero_ops.ledger.reaping import reap
    from hetero_ops.ledger.reservation import Reservation
    from hetero_ops.placement.batch import Plan, Step
    from hetero_ops.placement.decision import Cut, Decision, Grant, GroupGrant, NoFit, Placement
    from hetero_ops.placement.fleet import Fleet
    from hetero_ops.placement.pipeline import PipelineStep
    from hetero_ops.placement.pipeline_plan import PipelinePlan
    from hetero_ops.placement.resolve import next_step

# Where each public name lives. Loaded on first use: hosts import this package at every start.
_HOMES = {
    "Affinity": "gap.affinity",
    "Catalog": "gap.catalog",
    "Checkpoint": "gap.contract",
    "CheckpointUnusable": "errors",
    "Choice": "gap.choice",
    "Cut": "placement.decision",
    "CutFirst": "errors",
    "Decision": "placement.decision",
    "Fleet": "placement.fleet",
    "FleetView": "booking.view",
    "Grant": "placement.decision",
    "GroupGrant": "placement.decision",
    "HeteroOpsError": "errors",
    "InvalidDocument": "errors",
    "InvalidRequirement": "errors",
    "Ledger": "ledger.ledger",
    "LedgerUnusable": "errors",
    "NoFit": "placement.decision",
    "Owner": "ledger.owner",
    "PipelinePlan": "placement.pipeline_plan",
    "PipelineStep": "placement.pipeline",
    "Placement": "placement.decision",
    "Plan": "placement.batch",
    "Profile": "gap.profile",
    "Reading": "inventory.reading",
    "Requirement": "gap.requirement",
    "Reservation": "ledger.reservation",
    "ReservationConflict": "errors",
    "StalePlacement": "errors",
    "Step": "placement.batch",
    "UnexpectedAnswer": "errors",
    "UnknownDevice": "errors",
    "UnknownHold": "errors",
    "UnknownReservation": "errors",
    "book": "booking.book",
    "next_step": "placement.resolve",
    "preemption": "booking.preempt",
    "reap": "ledger.reaping",
}

__all__ = [
    "Affinity",
    "Catalog",
    "Checkpoint",
    "CheckpointUnusable",
    "Choice",
    "Cut",
    "CutFirst",
    "Decision",
    "Fleet",
    "FleetView",
    "Grant",
    "GroupGrant",
    "HeteroOpsError",
    "InvalidDocument",
    "InvalidRequirement",
    "Ledger",
    "LedgerUnusable",
    "NoFit",
    "Owner",
    "PipelinePlan",
    "PipelineStep",
    "Placement",
    "Plan",
    "Profile",
    "Reading",
    "Requirement",
    "Reservation",
    "ReservationConflict",
    "StalePlacement",
    "Step",
    "UnexpectedAnswer",
    "UnknownDevice",
    "UnknownHold",
    "UnknownReservation",
    "book",
    "next_step",
    "preemption",
    "reap",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module has attributes of any type
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{home}"), name)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}._core":
            raise
        message = "the Rust core of hetero_ops is not built here; run `make demo`, or install the wheel"
        raise ModuleNotFoundError(message, name=error.name) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
