"""NVIDIA cards as they are printed, whichever output prints them, as devices of the fleet document."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from hetero_ops.inventory.device_list import Device
from hetero_ops.inventory.printed.draft import NodeDraft
from hetero_ops.inventory.printed.mig import Instance, profile_name

_COMPUTE_TYPES = ("C", "M+C")  # the second is a client of CUDA's multi-process service


@dataclass(frozen=True, slots=True)
class Process:
    """A process on a card; `gpu_instance` is the MIG instance it runs on, `None` for the whole card."""

    gpu_instance: int | None
    pid: str
    kind: str
    command: str | None


@dataclass(slots=True)
class Card:
    """A card as printed; `None` is unknown."""

    index: int
    product: str | None = None
    memory_mib: int | None = None
    used_mib: int | None = None
    pci: str | None = None
    pci_id: str | None = None
    uuid: str | None = None
    serial: str | None = None
    is_partitioned: bool = False
    instances: list[Instance] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)


def add_cards(draft: NodeDraft, cards: Sequence[Card]) -> None:
    """Add the devices of cards, and what uses them.

    A card without MIG is a device of its index. A card with MIG on offers its instances only; they follow after the
    highest index and name the index of their card as `slot`.
    """
    next_id = max((card.index for card in cards), default=-1) + 1
    for card in sorted(cards, key=lambda card: card.index):
        device = draft.identify(card.index, [card.product, card.pci_id], card.memory_mib)
        if card.is_partitioned and not card.instances:
            # Steps can run on it only once it is cut, so it is there, but not usable.
            draft.note(
                "NOT_OFFERED", "MIG is on, but no instance is printed; the card is taken as unhealthy", card.index
            )
            draft.add(card.index, device, health="unhealthy", pci=card.pci, uuid=card.uuid, serial=card.serial)
            by_instance = {}
        elif card.instances:
            by_instance = _add_instances(draft, card, device, next_id)
            next_id += len(by_instance)
        else:
            draft.add(card.index, device, pci=card.pci, uuid=card.uuid, serial=card.serial)
            by_instance = {None: card.index}
        _use(draft, card, by_instance)


def _add_instances(draft: NodeDraft, card: Card, device: Device, next_id: int) -> dict[int | None, int]:
    """Add the instances of a card; gives the device id of each."""
    profile = None if device["sku"] == "unknown" else draft.catalog[device["sku"]]
    compute_instances = Counter(instance.gpu_instance for instance in card.instances)
    by_instance: dict[int | None, int] = {}
    for instance in card.instances:
        if instance.gpu_instance in by_instance:
            continue
        by_instance[instance.gpu_instance] = next_id + len(by_instance)
        where = f"GPU instance {instance.gpu_instance}"
        if compute_instances[instance.gpu_instance] > 1:
            what = f"{where} is divided among compute instances that share its memory; taken as one device"
            draft.note("PARTITION_UNKNOWN", what, card.index)
        name = profile_name(instance, card.memory_mib, profile)
        if name is None:
            draft.note("PARTITION_UNKNOWN", f"{where}: its profile cannot be told from what is printed", card.index)
        draft.add(
            by_instance[instance.gpu_instance],
            {key: value for key, value in device.items() if key != "memory_mib"},
            partition=name or "mig",
            slot=str(card.index),
            memory_mib=instance.memory_mib,
            pci=card.pci,
            uuid=instance.uuid,
        )
    return by_instance


def _use(draft: NodeDraft, card: Card, by_instance: dict[int | None, int]) -> None:
    """Note what computes on a card. One whose memory is full though only programs draw on it is not taken for busy."""
    for process in card.processes:
        device_id = by_instance.get(process.gpu_instance)
        if device_id is not None and process.kind in _COMPUTE_TYPES:
            draft.own(device_id, process.pid, process.command)
    if not card.processes and None in by_instance:
        draft.watch(card.index, card.used_mib, card.memory_mib)
    for instance in card.instances:
        draft.watch(by_instance[instance.gpu_instance], instance.used_mib, instance.memory_mib)
