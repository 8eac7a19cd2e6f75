"""A node as one source shows it, and the differences between two such views."""

from dataclasses import dataclass, field
from typing import Any

from hetero_ops.document.refusal import shown
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.span import which


@dataclass(frozen=True, slots=True)
class Sight:
    """A node of a fleet document as one source shows it.

    Attributes:
        source: what a person calls the source, as the name of a file.
        node: the node. An empty `used` says that nothing is in use; without the key nobody looked.
    """

    source: str
    node: dict[str, Any]


@dataclass(slots=True)
class Differences:
    """What two views of a node say differently; the first one counts."""

    node: str
    first: str
    second: str
    _values: dict[tuple[str, str, str, str], list[int]] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def note(self, what: str, ours: object, theirs: object, device_id: int | None = None, *, kept: str = "") -> None:
        """Note a value that differs; `kept` says which source counts, when it is not the first."""
        devices = self._values.setdefault((what, shown(_text(ours)), shown(_text(theirs)), kept or self.first), [])
        if device_id is not None:
            devices.append(device_id)

    def say(self, message: str) -> None:
        """Note anything else."""
        self._notes.append(message)

    def findings(self) -> list[Finding]:
        """Give them; devices that differ in the same way share one."""
        lines = [
            f"{_where(devices)}{what} is {ours} in {self.first} and {theirs} in {self.second}; {kept} counts"
            for (what, ours, theirs, kept), devices in self._values.items()
        ]
        return [Finding("SOURCES_DIFFER", self.node, line) for line in [*lines, *self._notes]]


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def _where(devices: list[int]) -> str:
    return f"{which('device', devices)}: " if devices else ""
