"""Where a step of a table goes."""

from hetero_ops.placement.decision import NoFit, Placement


def where(decision: Placement | NoFit) -> tuple[str, str]:
    """The choice and the devices that a step is given, in words; else why it is given none."""
    if isinstance(decision, NoFit):
        return "-", ", ".join(decision.codes) or "-"
    ids = [
        f"{node}: {', '.join(str(grant.id) for grant in decision.devices if grant.node == node)}".removesuffix(": ")
        for node in decision.nodes
    ]
    return decision.choice, "; ".join(ids)
