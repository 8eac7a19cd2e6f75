"""The devices of a fleet document as rows: what is searched, shown and written one by one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hetero_ops.inventory.device_list import Device, expand


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A device with the node and the cluster that it is in; `device` is empty for a node without any."""

    cluster: str
    node: dict[str, Any]
    device: Device

    @property
    def name(self) -> str:
        """Name of the device for a person: its SKU, or what else is known."""
        sku = self.device.get("sku", "")
        return str(self.device.get("model", sku)) if sku == "unknown" else str(sku)


def rows_of(document: dict[str, Any]) -> Iterator[DeviceRow]:
    """Walk the devices of a valid document, in its order; a node without devices has one row."""
    for cluster in document["clusters"]:
        for node in cluster.get("nodes", []):
            for device in expand(node.get("devices", [])) or [{}]:
                yield DeviceRow(cluster["name"], node, device)
