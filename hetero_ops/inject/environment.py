"""`Placement` -> the environment of a local process."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from hetero_ops.inject.vendors import HIDING, VISIBILITY
from hetero_ops.placement.decision import Placement


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


def environment(placement: Placement) -> StepEnvironment:
    """The variables of a placed step: what it was granted, and the vendor's variable that shows it its devices.

    What is unknown is an empty value. Meant for processes that no device plugin or container runtime prepares: inside a
    container devices are numbered from 0 again, and the runtime shows them.
    """
    devices = placement.devices
    values = {
        "HETERO_OPS_CHOICE": placement.choice,
        "HETERO_OPS_CHOICE_INDEX": str(placement.choice_index),
        "HETERO_OPS_VENDOR": placement.vendor or "",
        "HETERO_OPS_MODEL": placement.model or "",
        "HETERO_OPS_COUNT": str(len(devices)),
        "HETERO_OPS_MEMORY_MIB": "" if placement.memory_mib is None else str(placement.memory_mib),
        "HETERO_OPS_PRECISION": placement.precision or "",
        "HETERO_OPS_QUANTIZE": "",
        "HETERO_OPS_DEGRADED": "1" if placement.verdict == "degraded" else "0",
        "HETERO_OPS_NODE": ",".join(placement.nodes),
        "HETERO_OPS_DEVICES": ",".join(str(device.id) for device in devices),
        "HETERO_OPS_TRACE_ID": placement.trace_id,
    }
    if not devices:
        return StepEnvironment(values | dict.fromkeys(HIDING, ""))
    visibility = VISIBILITY.get((placement.vendor or "", placement.accelerator_class or ""))
    if visibility is None:
        return StepEnvironment(values)  # no variable is known for this vendor
    uuids = [device.uuid for device in devices if device.uuid]
    ids = uuids if visibility.takes_uuid and len(uuids) == len(devices) else [str(device.id) for device in devices]
    shown = {visibility.variable: ",".join(ids), **dict(visibility.extra)}
    return StepEnvironment(values | shown, visibility.conflicting)
