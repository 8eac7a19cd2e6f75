"""`Placement` -> the environment of a local process."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hetero_ops.errors import CutFirst, InvalidRequirement
from hetero_ops.inject.cutting import cut_first
from hetero_ops.inject.vendors import HIDING, VISIBILITY
from hetero_ops.placement.decision import Grant, Placement


@dataclass(frozen=True, slots=True)
class StepEnvironment:
    """What a step sees.

    Attributes:
        values: variables to set.
        removed: variables that must not be set, since they would fight with one that is.
    """

    values: Mapping[str, str]
    removed: tuple[str, ...] = ()

    def to_shell(self) -> str:
        """Lines that a POSIX shell can read."""
        lines = [f"unset {name}" for name in self.removed]
        lines += [f"export {name}={shlex.quote(value)}" for name, value in self.values.items()]
        return "\n".join(lines) + "\n"


def environment(placement: Placement, node: str | None = None) -> StepEnvironment:
    """The variables of a placed step: what it was granted, and the vendor's variable that shows it its devices.

    What is unknown is an empty value. Meant for processes that no device plugin or container runtime prepares: inside a
    container devices are numbered from 0 again, and the runtime shows them.

    Args:
        placement: where the step goes.
        node: the node of the process, for a step over several: it is shown the devices there, all nodes in the order
            of their ranks, and its own rank.

    Raises:
        InvalidRequirement: the step lies on several nodes and none is named, or not on the one that is.
        CutFirst: it takes a partition that does not exist yet.
    """
    if placement.cut is not None:
        raise CutFirst("\n".join(cut_first(placement)))
    here = _node_of(placement, node)
    devices = [device for device in placement.devices if device.node == here]
    values = {
        "HETERO_OPS_CHOICE": placement.choice,
        "HETERO_OPS_CHOICE_INDEX": str(placement.choice_index),
        "HETERO_OPS_VENDOR": placement.vendor or "",
        "HETERO_OPS_MODEL": placement.model or "",
        "HETERO_OPS_COUNT": str(len(devices)),
        "HETERO_OPS_MEMORY_MIB": "" if placement.memory_mib is None else str(placement.memory_mib),
        "HETERO_OPS_PRECISION": placement.precision or "",
        "HETERO_OPS_QUANTIZE": placement.quantize or "",
        "HETERO_OPS_DEGRADED": "1" if placement.verdict == "degraded" else "0",
        "HETERO_OPS_NODE": here,
        **_ranks(placement, here),
        **_groups(placement),
        "HETERO_OPS_DEVICES": ",".join(str(device.id) for device in devices),
        "HETERO_OPS_TRACE_ID": placement.trace_id,
    }
    if not devices:
        return StepEnvironment(values | dict.fromkeys(HIDING, ""))
    shown = [_shown(vendor, granted) for vendor, granted in _by_vendor(placement, here).items()]
    values |= {name: value for environment in shown for name, value in environment.values.items()}
    return StepEnvironment(values, tuple(n for environment in shown for n in environment.removed if n not in values))


def _by_vendor(placement: Placement, here: str) -> dict[tuple[str, str], list[Grant]]:
    """The devices on a node by vendor and class, in the order of their ids."""
    if not placement.groups:
        key = (placement.vendor or "", placement.accelerator_class or "")
        return {key: [device for device in placement.devices if device.node == here]}
    found: dict[tuple[str, str], list[Grant]] = {}
    for group in placement.groups:
        if group.node == here and group.devices:
            found.setdefault((group.vendor or "", group.accelerator_class or ""), []).extend(group.devices)
    return {vendor: sorted(devices, key=lambda device: device.id) for vendor, devices in found.items()}


def _shown(vendor: tuple[str, str], devices: Sequence[Grant]) -> StepEnvironment:
    """The variable by which a vendor's software sees its devices; nothing where none is known."""
    visibility = VISIBILITY.get(vendor)
    if visibility is None:
        return StepEnvironment({})
    uuids = [device.uuid for device in devices if device.uuid]
    ids = uuids if visibility.takes_uuid and len(uuids) == len(devices) else [str(device.id) for device in devices]
    return StepEnvironment(
        {visibility.variable: ",".join(dict.fromkeys(ids)), **dict(visibility.extra)}, visibility.conflicting
    )


def _groups(placement: Placement) -> dict[str, str]:
    """What each group got, as JSON; nothing for a step that asks for devices of one kind."""
    groups = [
        {"choice": group.choice, "node": group.node, "devices": [device.id for device in group.devices]}
        for group in placement.groups
    ]
    return {"HETERO_OPS_GROUPS": json.dumps(groups)} if groups else {}


def _node_of(placement: Placement, node: str | None) -> str:
    nodes = placement.nodes
    if node is None and len(nodes) > 1:
        what = f"the step lies on {len(nodes)} nodes ({', '.join(nodes)}), and one process sees the devices of one"
        raise InvalidRequirement(f"{what}; ask for nodes=1, or name the node of each process: environment(.., node=..)")
    if node is not None and node not in nodes:
        raise InvalidRequirement(f"the step does not lie on {node}, but on {', '.join(nodes)}; name one of these")
    return nodes[0] if node is None else node


def _ranks(placement: Placement, here: str) -> dict[str, str]:
    """What launchers of distributed steps ask for; nothing for a step on one node."""
    nodes = placement.nodes
    if len(nodes) == 1:
        return {}
    return {"HETERO_OPS_NODES": ",".join(nodes), "HETERO_OPS_NODE_RANK": str(nodes.index(here))}
