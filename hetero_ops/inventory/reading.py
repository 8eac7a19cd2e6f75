"""`Reading`: what was read of one device at one time, by whom. Unknown is `None`, never 0."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read of one device.

    Attributes:
        node: name of its node.
        device: its id within the node, as in the fleet document.
        cluster: where several clusters have a node of this name.
        at: when, RFC 3339.
        source: by whom, as `nvml`.
        power_mw: power that it draws, milliwatt.
        temperature_c: temperature, degrees Celsius.
        memory_used_mib: memory in use, MiB.
        utilization_milli: part of the time that it computes, thousandths.
    """

    node: str
    device: int
    cluster: str | None = None
    at: str | None = None
    source: str | None = None
    power_mw: int | None = None
    temperature_c: int | None = None
    memory_used_mib: int | None = None
    utilization_milli: int | None = None

    def for_core(self) -> dict[str, Any]:
        """What is known of it, as plain JSON values."""
        return {key: value for key, value in asdict(self).items() if value is not None}
