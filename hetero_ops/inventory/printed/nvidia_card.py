"""NVIDIA cards as they are printed, whichever output prints them, as devices of the fleet document."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from hetero_ops.inventory.printed import identity
from hetero_ops.inventory.printed.mig import Instance, profile_name
from hetero_ops.inventory.printed.model import describe
from hetero_ops.inventory.printed.reading import Device, Reading

_WHOLE = 1000
_MAX_NAMES = 3
_COMPUTE_TYPES = ("C", "M+C")  # the second is a client of CUDA's multi-process service


@dataclass(frozen=True, slots=True)
class Process:
    """A process on a card; `gpu_instance` is the MIG instance it runs on, `None` for the whole card."""

    gpu_instance: int | None
    pid: str
    kind: str
    name: str | None


@dataclass(slots=True)
class Card:
    """A card as printed; `None` is unknown."""

    index: int
    product: str | None = None
    memory_mib: int | None = None
    pci: str | None = None
    pci_id: str | None = None
    uuid: str | None = None
    serial: str | None = None
    is_partitioned: bool = False
    instances: list[Instance] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)


def add_cards(reading: Reading, cards: Sequence[Card]) -> None:
    """Add the devices of cards, and what uses them.

    A card without MIG is a device of its index. A card with MIG on offers its instances only; they follow after the
    highest index and name the index of their card as `slot`.
    """
    next_id = max((card.index for card in cards), default=-1) + 1
    used = []
    for card in sorted(cards, key=lambda card: card.index):
        device = describe(reading, card.index, card.product, card.memory_mib, [card.pci_id])
        by_instance: dict[int | None, int] = {None: card.index}
        if card.is_partitioned or card.instances:
            by_instance = _add_instances(reading, card, device, next_id)
            next_id += len(by_instance)
        else:
            known = {"pci": card.pci, "uuid": card.uuid, "serial": card.serial}
            reading.devices.append({"id": card.index, **device, **{k: v for k, v in known.items() if v}})
        used += _used(card, by_instance)
    if used:
        reading.fields["used"] = used


def _add_instances(reading: Reading, card: Card, device: Device, next_id: int) -> dict[int | None, int]:
    """Add the instances of a card; gives the device id of each."""
    if not card.instances:
        reading.note("NOT_OFFERED", "MIG is on, but no instance is printed; nothing of the card is offered", card.index)
    profile = None if device["sku"] == "unknown" else reading.catalog[device["sku"]]
    compute_instances = Counter(instance.gpu_instance for instance in card.instances)
    by_instance: dict[int | None, int] = {}
    for instance in card.instances:
        if instance.gpu_instance in by_instance:
            continue
        by_instance[instance.gpu_instance] = next_id + len(by_instance)
        where = f"GPU instance {instance.gpu_instance}"
        if compute_instances[instance.gpu_instance] > 1:
            what = f"{where} is divided among compute instances that share its memory; taken as one device"
            reading.note("PARTITION_UNKNOWN", what, card.index)
        name = profile_name(instance, card.memory_mib, profile)
        if name is None:
            reading.note("PARTITION_UNKNOWN", f"{where}: its profile cannot be told from what is printed", card.index)
        known = {"memory_mib": instance.memory_mib, "pci": card.pci, "uuid": instance.uuid}
        reading.devices.append(
            {"id": by_instance[instance.gpu_instance]}
            | {key: value for key, value in device.items() if key != "memory_mib"}
            | {"partition": name or "mig", "slot": str(card.index)}
            | {key: value for key, value in known.items() if value}
        )
    return by_instance


def _used(card: Card, by_instance: dict[int | None, int]) -> list[dict[str, object]]:
    """Give what computes on a card: a device where a process runs has nothing left."""
    owners: dict[int, set[str]] = {}
    for process in card.processes:
        device = by_instance.get(process.gpu_instance)
        if device is not None and process.kind in _COMPUTE_TYPES:
            owners.setdefault(device, set()).add(_program(process.name) or process.pid)
    return [
        {"owner": f"process:{_few(sorted(names))}", "devices": [device], "share_milli": _WHOLE}
        for device, names in sorted(owners.items())
    ]


def _program(command: str | None) -> str | None:
    """Give the program of a command without folder and arguments, which may hold secrets."""
    path = identity.name(command)
    if path is None or path.startswith("["):  # [Insufficient Permissions], [Not Found]
        return None
    return path.rpartition("\\")[2] if "\\" in path else path.split()[0].rpartition("/")[2] or None


def _few(names: list[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
