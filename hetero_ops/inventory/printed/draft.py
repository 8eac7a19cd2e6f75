"""One node as it takes shape while the output of a tool is read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hetero_ops.document.refusal import refusal
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.words import AcceleratorClass, Vendor
from hetero_ops.inventory.device_list import Device, drop_repeated
from hetero_ops.inventory.finding import Finding, FindingCode
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.process import UNATTRIBUTED, owner_of, program_of
from hetero_ops.inventory.printed.product import identify
from hetero_ops.inventory.span import spans, which

MOST_DEVICES = 1024
"""As many as the core holds for a node; ids are below it."""

# Firmware and driver of an idle device keep less than a tenth of its memory (768 of 98304 MiB on Gaudi 2, 3197 of 65536
# on Ascend 910B): a quarter is work, though the tool may not say whose.
_IDLE_PERCENT = 25


@dataclass(slots=True)
class NodeDraft:
    """Takes what a reader finds, one device at a time; what it cannot settle becomes findings.

    Attributes:
        name: the node.
        catalog: the known accelerators.
        vendor: whose tool printed the text.
        accelerator_class: what its devices are.
        driver: driver versions found.
        labels: labels of the node found.
        sees_processes: whether the text tells all processes there are.
        devices: those found, by id.
    """

    name: str
    catalog: Catalog
    vendor: Vendor
    accelerator_class: AcceleratorClass = "gpu"
    driver: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    sees_processes: bool = False
    devices: dict[int, Device] = field(default_factory=dict)
    _owners: dict[int, set[str]] = field(default_factory=dict)
    _notes: dict[tuple[FindingCode, str], set[int]] = field(default_factory=dict)
    _left_over: dict[str, list[int]] = field(default_factory=dict)

    def identify(self, index: int, names: Sequence[str | None], memory_mib: int | None) -> Device:
        """Say what a device is, by the product strings and PCI ids printed of it; see `product.identify`.

        Returns:
            The fields of the device that say what it is, without its id.
        """
        product = identify(
            self.catalog,
            [name for name in names if name],
            memory_mib,
            vendor=self.vendor,
            accelerator_class=self.accelerator_class,
        )
        if product.doubt:
            self.note(*product.doubt, index)
        return product.fields

    def add_unnamed(self, device_id: int, command: str, **facts: object) -> None:
        """Add a device of which the text tells where it is, but never what; `command` prints that."""
        what = f"this output does not name products; `{command}` does"
        self.note("PRODUCT_NOT_PRINTED", what, device_id)
        fields = {"sku": "unknown", "vendor": self.vendor, "class": self.accelerator_class}
        self.add(device_id, fields, **facts)

    def add(self, device_id: int, fields: Device, **facts: object) -> None:
        """Add a device by what it is, and what else is known; facts that are `None` are unknown, and absent."""
        if not self.is_index(device_id):
            return
        if device_id in self.devices:
            self.note("TEXT_LEFT_OVER", "printed twice; the first counts", device_id)
            return
        stated = {key: value for key, value in facts.items() if value is not None}
        self.devices[device_id] = {"id": device_id, **fields, **stated}

    def is_index(self, index: int) -> bool:
        """Tell whether a node can have a device of this number; note it when not."""
        if not 0 <= index < MOST_DEVICES:
            self.note("TEXT_LEFT_OVER", f"a number above {MOST_DEVICES - 1}, which no node has; left out", index)
        return 0 <= index < MOST_DEVICES

    def note(self, code: FindingCode, what: str, index: int | None = None) -> None:
        """Note something that a person should look at; the same of several devices becomes one finding.

        Args:
            code: what kind of thing.
            what: what was seen, and what was made of it.
            index: the number of the device that it is about, as the tool counts.
        """
        indices = self._notes.setdefault((code, what), set())
        if index is not None:
            indices.add(index)

    def left_over(self, line: int, what: str = "not understood") -> None:
        """Note a line that was not used."""
        self._left_over.setdefault(what, []).append(line)

    def end_table(self, *, is_closed: bool, has_processes: bool) -> None:
        """Note how much of a table with a list of processes below it is there."""
        self.sees_processes = is_closed and has_processes
        if not is_closed:
            self.note("TRUNCATED", "the table is not closed")
        if not has_processes:
            self.note("TRUNCATED", "without the table of processes nobody knows who uses the devices")

    def own(self, device_id: int, process: str, command: str | None) -> None:
        """Note a process on a device, by its number and its command line."""
        self._owners.setdefault(device_id, set()).add(program_of(command) or process)

    def watch(self, device_id: int, used_mib: int | None, memory_mib: int | None, busy: str = "") -> None:
        """Note how full the memory of a device is; one that is full without a process is in use all the same."""
        if self._owners.get(device_id) or not used_mib or not memory_mib:
            return
        if used_mib * 100 > memory_mib * _IDLE_PERCENT:
            self._owners[device_id] = {UNATTRIBUTED}
            what = f"{used_mib} of {memory_mib} MiB in use{busy}, but no process is listed; taken as in use"
            self.note("IN_USE_UNATTRIBUTED", what, device_id)

    def fragment(self) -> Fragment:
        """Give the node.

        Raises:
            InvalidDocument: the text does not say of which node it is.
        """
        if not self.name or not self.name.isprintable():
            raise refusal("the text does not say which node it is of", "name it: --node NAME")
        devices = [device for _, device in sorted(self.devices.items())]
        for device_id, message in drop_repeated(devices):
            self.note("ID_REPEATED", message, device_id)
        known = {"labels": self.labels, "driver": self.driver, "devices": devices}
        node: dict[str, Any] = {"name": self.name} | {key: value for key, value in known.items() if value}
        used = self._used()
        if used or self.sees_processes:
            node["used"] = used  # an empty list says that nothing is in use; without the key nobody looked
        return Fragment((node,), tuple(self._findings()))

    def _used(self) -> list[dict[str, Any]]:
        # A device where a process runs has nothing left to give: all processes on it are one owner.
        return [
            {"owner": owner_of(owners), "devices": [device_id]}
            for device_id, owners in sorted(self._owners.items())
            if device_id in self.devices
        ]

    def _findings(self) -> list[Finding]:
        unit = self.accelerator_class.upper()
        notes = [
            Finding(code, self.name, f"{unit} {spans(indices)}: {what}" if indices else what)
            for (code, what), indices in self._notes.items()
        ]
        left = [
            Finding("TEXT_LEFT_OVER", self.name, f"{which('line', lines)}: {what}")
            for what, lines in self._left_over.items()
        ]
        return sorted(notes + left)


def unreadable(command: str) -> InvalidDocument:
    """Build the error for output of a known tool that tells of no device; `command` prints one that does."""
    return refusal("no device can be read from this text", f"give all that `{command}` prints")
