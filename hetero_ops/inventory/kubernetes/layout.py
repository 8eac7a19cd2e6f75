"""Where the devices of a node sit, as an annotation of the node says it.

The annotation `hetero-ops/topology` is JSON with these keys, all optional but one of the first five:

    {"islands": [[0, 1], [2, 3]], "numa": [0, 0, 1, null], "nic": [true, true, false, null], "uuids": ["GPU-..", ..],
     "pci": ["0000:17:00.0", ..], "at": "2026-11-30T08:00:00Z"}

Numbers of devices are those of the fleet document: through all devices of the node, from 0. Lists other than `islands`
have one entry for each device, `null` where it is not known. `at` is when it was looked at, RFC 3339.
"""

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ANNOTATION = "hetero-ops/topology"
_KEYS = {"islands", "numa", "nic", "uuids", "pci", "at"}
_MOST_NUMA = 2**16 - 1
_LONGEST_NAME = 128


@dataclass(frozen=True, slots=True)
class Layout:
    """What is known of each device of a node, in the order of ids; an empty tuple where nothing is.

    Attributes:
        source: who said so, for the labels of the document.
        numa: NUMA node of each device, `None` where unknown.
        nic: whether a network card is on the PCIe root of each device, `None` where unknown.
        islands: devices that reach each other over a fabric; `None` when that was not said.
        uuids: UUID of each device.
        pci: PCI address of each device.
        at: when it was looked at, RFC 3339.
    """

    source: str
    numa: tuple[int | None, ...] = ()
    nic: tuple[bool | None, ...] = ()
    islands: tuple[tuple[int, ...], ...] | None = None
    uuids: tuple[str | None, ...] = ()
    pci: tuple[str | None, ...] = ()
    at: str | None = None


def read_annotation(text: str, devices: int) -> Layout:
    """Read the annotation of a node with this many devices.

    Raises:
        ValueError: it is no such annotation, or contradicts the node; the message says why.
    """
    value = _mapping(text)
    strangers = sorted(value.keys() - _KEYS)
    if strangers:
        raise ValueError(f"it has the key {strangers[0][:60]!r}; known are {', '.join(sorted(_KEYS))}")
    layout = Layout(
        source="annotation",
        numa=_each(value, "numa", devices, _is_numa),
        nic=_each(value, "nic", devices, lambda entry: isinstance(entry, bool)),
        islands=_islands(value.get("islands"), devices),
        uuids=_each(value, "uuids", devices, _is_name),
        pci=_each(value, "pci", devices, _is_name),
        at=_time(value.get("at")),
    )
    for key, names in (("uuids", layout.uuids), ("pci", layout.pci)):
        known = [name for name in names if name is not None]
        if len(set(known)) < len(known):
            raise ValueError(f"two devices have the same entry in {key}")
    if not (layout.numa or layout.nic or layout.uuids or layout.pci) and layout.islands is None:
        raise ValueError("it says nothing of the devices")
    return layout


def _mapping(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    raise ValueError("it is no JSON object")


def _each(value: dict[str, Any], key: str, devices: int, is_good: Callable[[object], bool]) -> tuple[Any, ...]:
    entries = value.get(key)
    if entries is None:
        return ()
    if not isinstance(entries, list) or not all(entry is None or is_good(entry) for entry in entries):
        raise ValueError(f"{key} is no list of what it should be")
    if len(entries) != devices:
        raise ValueError(f"{key} has {len(entries)} entries for {devices} devices")
    return tuple(entries)


def _is_numa(entry: object) -> bool:
    return type(entry) is int and 0 <= entry <= _MOST_NUMA


def _is_name(entry: object) -> bool:
    return isinstance(entry, str) and 0 < len(entry) <= _LONGEST_NAME and entry.isprintable()


def _islands(value: object, devices: int) -> tuple[tuple[int, ...], ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(island, list) for island in value):
        raise ValueError("islands is no list of lists of devices")
    ids = [device for island in value for device in island]
    if not all(type(device) is int and 0 <= device < devices for device in ids):
        raise ValueError(f"islands names a device that is none of the {devices}")
    if len(set(ids)) < len(ids):
        raise ValueError("islands names a device twice")
    return tuple(tuple(sorted(island)) for island in value if island)


def _time(value: object) -> str | None:
    if value is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or not isinstance(value, str):
        raise ValueError("at is no time of RFC 3339 with its zone, as 2026-11-30T08:00:00Z")
    return value
