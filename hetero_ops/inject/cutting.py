"""What has to be done before a step can start on a partition that does not exist yet."""

import shlex

from hetero_ops.inject.vendors import CUTTING
from hetero_ops.placement.decision import Cut, Placement


def cut_first(placement: Placement) -> tuple[str, ...]:
    """Lines that say how to cut the device that a placement needs cut; none where all its devices are there.

    The first one says what in words. Where the vendor's tool is known its commands follow, indented, for the node.
    """
    cut = placement.cut
    if cut is None:
        return ()
    words = next(text for code, text in placement.notes if code == "CUT_FIRST")
    commands = _commands(cut, placement.vendor)
    on_node = f", on {cut.node}:" if commands else ""
    then = "then read the fleet anew and place the step again"
    return (f"{words}{on_node}", *(f"    {command}" for command in commands), then)


def _commands(cut: Cut, vendor: str | None) -> list[str]:
    """The commands of the vendor's tool; none where it is not known."""
    is_sliced = all(part.start is not None for part in cut.parts)
    tool = CUTTING.get((vendor or "", is_sliced))
    if tool is None:
        return []
    words = {
        "device": shlex.quote(cut.uuid or str(cut.device)),
        "slices": ",".join(f"{part.partition}:{part.start}" for part in cut.parts),
        "mode": cut.parts[0].partition.split("_")[0].upper(),
    }
    return [command.format(**words) for command in tool]
