"""A reading of one node in progress: what was found of it, and what a person should look at."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hetero_ops.document.refusal import refusal
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.words import Vendor
from hetero_ops.inventory.finding import Finding, FindingCode
from hetero_ops.inventory.fragment import Fragment

Device = dict[str, Any]
"""A device of the fleet document."""

MAX_DEVICES = 1024
"""As many as the core holds for a node."""

_MAX_RUNS = 16


@dataclass(slots=True)
class Reading:
    """What has been read of a node so far.

    Attributes:
        node: its name.
        vendor: whose devices they are.
        catalog: the known accelerators.
        devices: those found, in any order.
        fields: what else is known of the node, in the words of the fleet document.
    """

    node: str
    vendor: Vendor
    catalog: Catalog
    devices: list[Device] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    _notes: dict[tuple[FindingCode, str], set[int]] = field(default_factory=dict)
    _left_over: dict[str, list[int]] = field(default_factory=dict)

    def note(self, code: FindingCode, what: str, gpu: int | None = None) -> None:
        """Note something that a person should look at; the same of several GPUs becomes one finding.

        Args:
            code: what kind of thing.
            what: what was seen, and what was made of it.
            gpu: the index of the GPU that it is about.
        """
        gpus = self._notes.setdefault((code, what), set())
        if gpu is not None:
            gpus.add(gpu)

    def left_over(self, line: int, what: str) -> None:
        """Note a line that was not used."""
        self._left_over.setdefault(what, []).append(line)

    def unknown(self, **known: object) -> Device:
        """Describe a device that has no SKU by what is known of it."""
        device = {"sku": "unknown", "vendor": self.vendor, "class": "gpu"}
        return device | {key: value for key, value in known.items() if value is not None}

    def is_index(self, index: int) -> bool:
        """Tell whether a node can have a device of this index; note it when not."""
        if index >= MAX_DEVICES:
            self.note("TEXT_LEFT_OVER", "an index that no node has; left out", index)
        return index < MAX_DEVICES

    def fragment(self) -> Fragment:
        """Finish: devices in order of their ids, findings in order of their codes."""
        devices = sorted(self.devices, key=lambda device: device["id"])
        for key in ("uuid", "pci"):
            self._drop_repeated(devices, key)
        if len(devices) > MAX_DEVICES or (devices and devices[-1]["id"] >= MAX_DEVICES):
            raise refusal(f"more than {MAX_DEVICES} devices in one node", "give the output for one node")
        findings = [
            Finding(code, self.node, f"GPU {spans(gpus)}: {what}" if gpus else what)
            for (code, what), gpus in self._notes.items()
        ]
        findings += [
            Finding("TEXT_LEFT_OVER", self.node, f"{'line' if len(lines) == 1 else 'lines'} {spans(lines)}: {what}")
            for what, lines in self._left_over.items()
        ]
        node: dict[str, Any] = {"name": self.node}
        known = {**self.fields, "devices": devices}
        node |= {key: known[key] for key in ("labels", "driver", "devices", "used") if known.get(key)}
        return Fragment(
            ({key: value for key, value in node.items() if value not in ({}, [])},), tuple(sorted(findings))
        )

    def _drop_repeated(self, devices: list[Device], key: str) -> None:
        """Take away an identifier that several devices have: it names none of them. Partitions share their card's."""
        holders: dict[str, list[Device]] = {}
        for device in devices:
            if key in device and not (key == "pci" and "partition" in device):
                holders.setdefault(device[key], []).append(device)
        for value, having in sorted(holders.items()):
            if len(having) > 1:
                ids = spans(device["id"] for device in having)
                self.note("ID_REPEATED", f"{key} {value} is printed for devices {ids}; kept apart, and left out")
                for device in having:
                    del device[key]


def unreadable(tool: str, command: str) -> InvalidDocument:
    """Build the error for output of a known tool that tells of no device."""
    return refusal(
        f"this looks like output of {tool}, but no device can be read from it", f"give all that `{command}` prints"
    )


def spans(numbers: Iterable[int]) -> str:
    """Write numbers as `0-3, 7`, those of a long list up to the first few."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    written = [str(first) if first == last else f"{first}-{last}" for first, last in runs[:_MAX_RUNS]]
    return ", ".join([*written, *(["..."] if len(runs) > _MAX_RUNS else [])])
