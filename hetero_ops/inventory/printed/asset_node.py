"""A node as the rows of an asset table tell of it, one after the other."""

from collections import defaultdict
from typing import Any

from hetero_ops.document.refusal import refusal, shown
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_list import Device, drop_repeated, set_islands
from hetero_ops.inventory.finding import Finding, FindingCode
from hetero_ops.inventory.printed.asset_cell import Row
from hetero_ops.inventory.printed.asset_device import describe
from hetero_ops.inventory.printed.draft import MOST_DEVICES
from hetero_ops.inventory.span import which

_STATES = ("active", "cordoned", "draining", "maintenance", "burn-in", "quarantined")
_OF_ONE = ("id", "serial", "uuid", "pci", "slot")
_OF_A_DEVICE = ("sku", "model", "product", "count", "memory", "partition", *_OF_ONE)
_NO_ISLAND = "none"
_LARGEST = 2**53


class AssetNode:
    """Takes rows; gives the node of the fleet document."""

    def __init__(self, name: str, catalog: Catalog, source: str) -> None:
        self._name = name
        self._source = source
        self._catalog = catalog
        self._facts: dict[str, Any] = {}
        self._driver: dict[str, str] = {}
        self._lines: dict[str, int] = {}
        self._devices: dict[int, Device] = {}
        self._islands: defaultdict[str, list[int]] = defaultdict(list)
        self._doubts: defaultdict[tuple[FindingCode, str], list[int]] = defaultdict(list)

    def add(self, row: Row) -> None:
        """Take a row: facts of the node, and devices where it tells of some.

        Raises:
            InvalidDocument: a cell cannot be read, or contradicts a row above.
        """
        # A node without devices has a row too: its count is 0, or nothing in it is of a device.
        has_devices = any(row.text(name) is not None for name in _OF_A_DEVICE) or row.cell("sku") is not None
        vendor = self._add_devices(row) if has_devices and row.number("count", MOST_DEVICES) != 0 else None
        facts = {
            "pool": row.name("pool"),
            "labels": row.json("labels", dict),
            "taints": row.json("taints", list),
            "state": row.word("state", _STATES),
            "cpu": row.number("cpu", _LARGEST),
            "node_memory": row.number("node_memory", _LARGEST),
            "node_power": row.number("node_power", _LARGEST),
            "runtime": row.words("runtime") or None,
            "rdma": row.words("rdma") or None,
            "project": row.name("project"),
            "used": _uses(row),
        }
        for column, value in facts.items():
            self._state(self._facts, column, column, value, row)
        for key, version in row.driver(vendor).items():
            self._state(self._driver, key, "driver", version, row)

    def document(self) -> dict[str, Any]:
        """Give the node, and note what in it tells no device apart.

        Raises:
            InvalidDocument: devices are in use that the node does not have.
        """
        used = {at for use in self._facts.get("used", []) for at in use.get("devices", [])}
        if not used <= self._devices.keys():
            what = f"devices {sorted(used - self._devices.keys())} of {self._name} are in use, but are not in the table"
            raise refusal(what, "give their rows, or leave `used` empty", self._source, self._lines["used used"])
        names = {"cpu": "cpu_milli", "node_memory": "memory_mib", "node_power": "power_budget_mw"}
        devices = [device for _, device in sorted(self._devices.items())]
        set_islands(devices, list(self._islands.values()))
        for device_id, message in drop_repeated(devices):
            self._doubts["ID_REPEATED", message].append(device_id)
        facts = {names.get(column, column): value for column, value in self._facts.items()}
        node = {"name": self._name, **facts, "driver": self._driver, "devices": devices}
        return {key: value for key, value in node.items() if value not in ({}, [])}

    def findings(self) -> list[Finding]:
        """Give what could not be settled; to be asked after `document`."""
        return [
            Finding(code, self._name, f"{which('device', ids)}: {message}")
            for (code, message), ids in self._doubts.items()
        ]

    def _state(self, facts: dict[str, Any], key: str, column: str, value: Any, row: Row) -> None:  # noqa: ANN401
        if value is None:
            return
        known = facts.setdefault(key, value)
        line = self._lines.setdefault(f"{column} {key}", row.line)
        if known != value:
            what = f"{shown(str(value))}, but line {line} says {shown(str(known))} of the same node"
            raise row.refuse(column, what, "make them equal, or leave one empty")

    def _add_devices(self, row: Row) -> str | None:
        """Add the devices of a row; gives their vendor."""
        count = row.number("count", MOST_DEVICES) or 1
        single = next((name for name in _OF_ONE if count > 1 and row.text(name) is not None), None)
        if single is not None:
            raise row.refuse(single, f"one {single} for {count} devices", "write a row for each device")
        product = describe(row, self._catalog)
        asked = row.number("id", MOST_DEVICES - 1)
        first = max(self._devices, default=-1) + 1 if asked is None else asked
        if first in self._devices:
            raise row.refuse("id", f"the node has a device {first} already", "give each device an id of its own")
        if first + count > MOST_DEVICES:
            raise row.refuse("count", f"more than {MOST_DEVICES} devices on one node", "check the count")
        for device_id in range(first, first + count):
            self._add_device({"id": device_id, **product.fields}, row.cell("island"))
            if product.doubt:
                self._doubts[product.doubt].append(device_id)
        sku = product.fields["sku"]
        return self._catalog[sku].vendor if sku in self._catalog else product.fields.get("vendor")

    def _add_device(self, device: Device, island: str | None) -> None:
        self._devices[device["id"]] = device
        if island == _NO_ISLAND:
            device["islands"] = []
        elif island is not None:
            self._islands[island].append(device["id"])


def _uses(row: Row) -> list[dict[str, Any]] | None:
    """Read what is in use; the fields that are not looked at here are checked with the document."""
    uses: list[dict[str, Any]] | None = row.json("used", list)
    for use in uses or []:
        devices = use.get("devices", []) if isinstance(use, dict) else None
        is_list = isinstance(devices, list) and all(type(device) is int for device in devices)
        if not is_list or not isinstance(use.get("owner"), str):
            raise row.refuse(
                "used", f"{shown(str(use))} is no use of devices", 'write {"owner": "...", "devices": [0]}'
            )
    return uses
