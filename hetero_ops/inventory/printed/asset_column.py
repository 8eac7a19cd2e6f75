"""Columns of an asset table: what each says, and which headers are taken for it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hetero_ops.document.refusal import refusal

# Headers that need no map, lower case with one blank between words. Those of `fleet export` are among them.
HEADERS: dict[str, tuple[str, ...]] = {
    "cluster": ("cluster",),
    "node": ("node", "host", "hostname", "host name", "node name", "nodename", "server", "machine"),
    "pool": ("pool", "node pool", "partition name"),
    "project": ("project", "department", "cost center", "cost centre"),
    "state": ("state",),
    "id": ("id", "device", "device id", "index", "gpu index"),
    "sku": ("sku",),
    "vendor": ("vendor", "manufacturer"),
    "class": ("class",),
    "model": ("model", "gpu model", "accelerator", "accelerator model", "gpu", "gpu type"),
    "product": ("product", "product name"),
    "partition": ("partition",),
    "count": ("count", "qty", "quantity", "gpu count", "gpus"),
    "memory": ("memory", "memory mib", "memory gb", "memory gib", "gpu memory", "vram", "gpu memory gb", "vram gb"),
    "serial": ("serial", "serial number", "serial no", "s/n", "sn"),
    "uuid": ("uuid", "gpu uuid"),
    "pci": ("pci", "pci address", "bus id", "pci bus id", "bdf"),
    "slot": ("slot", "pci slot", "physical slot"),
    "firmware": ("firmware", "firmware version", "vbios", "vbios version"),
    "driver": ("driver", "driver version"),
    "numa": ("numa", "numa node"),
    "switch": ("switch", "pcie switch"),
    "island": ("island",),
    "health": ("health",),
    "rdma": ("rdma",),
    "runtime": ("runtime",),
    "cpu": ("cpu milli",),
    "node_memory": ("node memory mib",),
    "node_power": ("power budget mw",),
    "labels": ("labels",),
    "taints": ("taints",),
    "used": ("used",),
}
_DEVICE_COLUMNS = ("model", "product", "sku")
_SEPARATORS = re.compile(r"[\s_-]+")
_UNIT = re.compile(r"\b(mib|mb|gib|gb)\b")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table that is read: its place, its header, and the unit that the header names."""

    place: int
    header: str
    unit: str | None


def find_columns(header: Sequence[str], asked: Mapping[str, str] | None, source: str) -> dict[str, Column]:
    """Find what is read in a header.

    Args:
        header: the first line of the table.
        asked: by what a column says the header that the table has for it; others are found by their usual names.
        source: the file, for the errors.

    Raises:
        InvalidDocument: a column that was asked for is not there, or a name is none of ours.
    """
    columns = usual_columns(header)
    for name, wanted in (asked or {}).items():
        if name not in HEADERS:
            what = f"a table has no column for {name!r}"
            raise refusal(what, f"write --columns with {', '.join(HEADERS)}", source, 1)
        place = next((at for at, cell in enumerate(header) if _plain(cell) == _plain(wanted)), None)
        if place is None:
            raise refusal(f"no column {wanted!r}", f"the columns are {', '.join(header)}", source, 1)
        columns = {key: column for key, column in columns.items() if column.place != place}
        columns[name] = Column(place, header[place], _unit(wanted))
    return columns


def usual_columns(header: Sequence[str]) -> dict[str, Column]:
    """Find the columns that need no map; of two for the same the first counts."""
    columns: dict[str, Column] = {}
    for place, cell in enumerate(header):
        plain = _plain(cell)
        name = next((name for name, headers in HEADERS.items() if plain in headers), None)
        if name is not None:
            columns.setdefault(name, Column(place, cell, _unit(cell)))
    return columns


def is_asset_table(columns: Mapping[str, Column]) -> bool:
    """Tell whether these columns say which node has which devices."""
    return "node" in columns and any(name in columns for name in _DEVICE_COLUMNS)


def _plain(header: str) -> str:
    return _SEPARATORS.sub(" ", re.sub(r"[()\[\]]", " ", header)).strip().lower()


def _unit(header: str) -> str | None:
    match = _UNIT.search(_plain(header))
    return None if match is None else match[1]
