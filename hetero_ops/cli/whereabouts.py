"""Where a step of a table goes."""

from collections.abc import Sequence

from hetero_ops.cli.output import note
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet


def where(decision: Placement | NoFit) -> tuple[str, str]:
    """The choice and the devices that a step is given, in words; else why it is given none."""
    if isinstance(decision, NoFit):
        return "-", ", ".join(decision.codes) or "-"
    ids = [
        f"{node}: {', '.join(str(grant.id) for grant in decision.devices if grant.node == node)}".removesuffix(": ")
        for node in decision.nodes
    ]
    return decision.choice, "; ".join(ids)


def note_uncut(fleet: Fleet, decisions: Sequence[Placement | NoFit]) -> None:
    """Notes that plans of many steps cut no device, where one might be cut for a step that waits."""
    refused = [decision for decision in decisions if isinstance(decision, NoFit)] if fleet.may_be_cut else []
    asked = [Requirement.parse(decision.requirement).choices for decision in refused]
    if number := sum(any(choice.takes_partition for choice in choices) for choices in asked):
        steps = "1 step that asks" if number == 1 else f"{number} steps that ask"
        what = "many steps at once are planned on partitions that exist"
        note(f"hetero-ops: {steps} for a partition without a place; {what}, place one alone to have an idle device cut")
