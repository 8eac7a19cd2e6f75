"""A fleet document as a table of assets: a row for each device, in columns that `fleet import` reads back."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hetero_ops.inventory.device_list import Device, islands_of
from hetero_ops.inventory.device_row import DeviceRow, rows_of

Cell = Callable[[DeviceRow], Any]


def _node(key: str) -> Cell:
    return lambda row: row.node.get(key)


def _device(key: str) -> Cell:
    return lambda row: row.device.get(key)


def _driver(row: DeviceRow) -> str:
    return ";".join(f"{key}={version}" for key, version in row.node.get("driver", {}).items())


def _list(key: str) -> Cell:
    return lambda row: ";".join(row.node.get(key, []))


_COLUMNS: dict[str, Cell] = {
    "cluster": lambda row: row.cluster,
    "node": _node("name"),
    "pool": _node("pool"),
    "project": _node("project"),
    "state": _node("state"),
    "id": _device("id"),
    "sku": _device("sku"),
    "vendor": _device("vendor"),
    "class": _device("class"),
    "model": _device("model"),
    "product": _device("product"),
    "partition": _device("partition"),
    "memory_mib": _device("memory_mib"),
    "serial": _device("serial"),
    "uuid": _device("uuid"),
    "pci": _device("pci"),
    "slot": _device("slot"),
    "firmware": _device("firmware"),
    "numa": _device("numa"),
    "switch": _device("switch"),
    "health": _device("health"),
    "driver": _driver,
    "rdma": _list("rdma"),
    "runtime": _list("runtime"),
    "cpu_milli": _node("cpu_milli"),
    "node_memory_mib": _node("memory_mib"),
    "power_budget_mw": _node("power_budget_mw"),
}
# Said once for a node, on its first row: they are long, and the same for all its devices.
_AS_JSON = ("labels", "taints", "used")
_ISLAND = "island"
# What makes a document one, and what rows are made of.
_ALWAYS = ("apiVersion", "kind", "generated", "clusters", "name", "nodes")
# It names a pool, and pools are left out.
_CHARGED = "charged"


def to_table(document: dict[str, Any]) -> str:
    """Write a valid document as CSV; `left_out` says what a table has no place for."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_COLUMNS, _ISLAND, *_AS_JSON])
    for rows in _by_node(document):
        islands = _islands([row.device for row in rows])
        for row in rows:
            cells = ["" if (value := cell(row)) is None else value for cell in _COLUMNS.values()]
            objects = [_json(_stated(row.node, key)) if row is rows[0] else "" for key in _AS_JSON]
            writer.writerow([*cells, islands.get(row.device.get("id"), ""), *objects])
    return text.getvalue()


def left_out(document: dict[str, Any]) -> list[str]:
    """Name what a document says that a table has no place for."""
    clusters = document["clusters"]
    stated = [key for part in (document, *clusters) for key, value in part.items() if value and key not in _ALWAYS]
    uses = [use for cluster in clusters for node in cluster.get("nodes", []) for use in node.get("used", [])]
    return [*dict.fromkeys(stated), *([_CHARGED] if any(_CHARGED in use for use in uses) else [])]


def _stated(node: dict[str, Any], key: str) -> Any:  # noqa: ANN401 - labels, taints or uses
    if key != "used":
        return node.get(key)
    return [{name: value for name, value in use.items() if name != _CHARGED} for use in node.get("used", [])]


def _by_node(document: dict[str, Any]) -> Iterator[list[DeviceRow]]:
    rows: list[DeviceRow] = []
    for row in rows_of(document):
        if rows and row.node is not rows[0].node:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _islands(devices: Sequence[Device]) -> dict[int | None, str]:
    """Give the cell of each device that states an island, or that it is in none."""
    stated = islands_of(devices)
    order = sorted({tuple(island) for island in stated.values()})
    cells: dict[int | None, str] = {device["id"]: "none" for device in devices if "islands" in device}
    return cells | {device_id: str(order.index(tuple(island))) for device_id, island in stated.items()}


def _json(value: Any) -> str:  # noqa: ANN401 - labels, taints or uses
    return json.dumps(value, ensure_ascii=False) if value else ""
