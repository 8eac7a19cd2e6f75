"""One node as it takes shape while the output of a tool is read."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from hetero_ops.document.refusal import refusal, shown
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_list import Device, drop_repeated
from hetero_ops.inventory.finding import Finding, FindingCode
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.product import identify
from hetero_ops.inventory.printed.table_line import Line

MOST_DEVICES = 1024
"""As many as the core holds for a node; ids are below it."""

# Firmware and driver of an idle device keep less than a tenth of its memory (768 of 98304 MiB on Gaudi 2, 3197 of 65536
# on Ascend 910B): a quarter is work, though the tool may not say whose.
_IDLE_PERCENT = 25
_MOST_NAMES = 3
UNATTRIBUTED = "unattributed"
"""Owner of devices that are in use by nobody knows whom."""


@dataclass(slots=True)
class NodeDraft:
    """Takes what a reader finds, one device at a time; what it cannot settle becomes findings.

    Attributes:
        name: the node.
        catalog: the known accelerators.
        vendor: whose tool printed the text.
        accelerator_class: what its devices are.
        driver: driver versions found.
        sees_processes: whether the text tells which processes there are.
    """

    name: str
    catalog: Catalog
    vendor: str
    accelerator_class: str
    driver: dict[str, str] = field(default_factory=dict)
    sees_processes: bool = False
    _devices: dict[int, Device] = field(default_factory=dict)
    _owners: dict[int, list[str]] = field(default_factory=dict)
    _doubts: defaultdict[tuple[FindingCode, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    _left: list[tuple[int, str]] = field(default_factory=list)
    _cuts: list[str] = field(default_factory=list)

    def add(self, device_id: int, names: list[str], memory_mib: int | None, **facts: str | None) -> None:
        """Add a device by the product strings printed of it; facts that are `None` are unknown, and absent."""
        if not 0 <= device_id < MOST_DEVICES:
            self.doubt(device_id, "TEXT_LEFT_OVER", f"an id above {MOST_DEVICES - 1}; left out")
            return
        if device_id in self._devices:
            self.doubt(device_id, "TEXT_LEFT_OVER", "printed twice; the first counts")
            return
        product = identify(
            self.catalog, names, memory_mib, vendor=self.vendor, accelerator_class=self.accelerator_class
        )
        if product.doubt:
            self.doubt(device_id, *product.doubt)
        stated = {key: value for key, value in facts.items() if value is not None}
        self._devices[device_id] = {"id": device_id, **product.fields, **stated}

    def sku_of(self, device_id: int) -> str | None:
        """Give the SKU of a device; `None` when it is unknown, or there is no such device."""
        sku = self._devices.get(device_id, {}).get("sku", "unknown")
        return None if sku == "unknown" else str(sku)

    def doubt(self, device_id: int, code: FindingCode, message: str) -> None:
        """Note something about one device; devices with the same note share a finding."""
        self._doubts[code, message].append(device_id)

    def own(self, device_id: int, process: str, name: str) -> None:
        """Note a process on a device."""
        # A command line may hold secrets: the program is enough.
        program = name.split(maxsplit=1)[0].rpartition("/")[2] if name.split() else ""
        owners = self._owners.setdefault(device_id, [])
        if (program or process) not in owners:
            owners.append(program or process)

    def watch(self, device_id: int, used_mib: int | None, memory_mib: int | None, busy: str = "") -> None:
        """Note how full the memory of a device is; one that is full without a process is in use all the same."""
        if self._owners.get(device_id) or not used_mib or not memory_mib:
            return
        if used_mib * 100 > memory_mib * _IDLE_PERCENT:
            self._owners[device_id] = [UNATTRIBUTED]
            message = f"{used_mib} of {memory_mib} MiB in use{busy}, but no process is listed; taken as in use"
            self.doubt(device_id, "IN_USE_UNATTRIBUTED", message)

    def leave(self, line: Line) -> None:
        """Note a line that says nothing to this reader."""
        self._left.append((line.number, line.text))

    def cut(self, why: str) -> None:
        """Note that the text ends too early."""
        self._cuts.append(why)

    def fragment(self, command: str) -> Fragment:
        """Give the node.

        Args:
            command: what prints the whole text.

        Raises:
            InvalidDocument: no device was read, or the text does not say of which node it is.
        """
        if not self._devices:
            raise refusal("no device can be read from this text", f"give the whole output of `{command}`", self.name)
        if not self.name or not self.name.isprintable():
            raise refusal("the text does not say which node it is of", "name it: --node NAME")
        devices = [device for _, device in sorted(self._devices.items())]
        for device_id, message in drop_repeated(devices):
            self.doubt(device_id, "ID_REPEATED", message)
        node: dict[str, Any] = {"name": self.name}
        if self.driver:
            node["driver"] = self.driver
        node["devices"] = devices
        used = self._used()
        if used or self.sees_processes:
            node["used"] = used  # an empty list says that nothing is in use; without the key nobody looked
        return Fragment((node,), tuple(self._findings(command)))

    def _used(self) -> list[dict[str, Any]]:
        # A device where a process runs has nothing left to give: all processes on it are one owner.
        return [
            {"owner": _owner(owners), "devices": [device_id]}
            for device_id, owners in sorted(self._owners.items())
            if device_id in self._devices
        ]

    def _findings(self, command: str) -> list[Finding]:
        findings = [
            Finding(code, self.name, f"{_ids(ids)}: {message}") for (code, message), ids in self._doubts.items()
        ]
        if self._cuts:
            message = f"the text is cut: {'; '.join(self._cuts)}; `{command}` prints all"
            findings.append(Finding("TRUNCATED", self.name, message))
        if self._left:
            number, text = self._left[0]
            message = f"{len(self._left)} lines were not read, the first is line {number}: {shown(text)}"
            findings.append(Finding("TEXT_LEFT_OVER", self.name, message))
        return findings


def _owner(owners: list[str]) -> str:
    if owners == [UNATTRIBUTED]:
        return UNATTRIBUTED
    more = len(owners) - _MOST_NAMES
    return f"process:{', '.join(sorted(owners)[:_MOST_NAMES])}{f' and {more} more' if more > 0 else ''}"


def _ids(ids: list[int]) -> str:
    return f"device{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"
