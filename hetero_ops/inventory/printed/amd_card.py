"""AMD cards as `amd-smi static` and `amd-smi list` print them, whole or in partitions."""

import re
from collections.abc import Sequence

from hetero_ops.gap.profile import Profile
from hetero_ops.inventory.device_list import Device
from hetero_ops.inventory.printed.amd_record import Record
from hetero_ops.inventory.printed.draft import NodeDraft
from hetero_ops.inventory.printed.printed_value import card_address, identifier, name, pci_address, pci_id, uuid
from hetero_ops.inventory.printed.product import is_fitting

_MEMORY = re.compile(r"([0-9]{1,9}) ?(?:MB|MiB)")
_NUMA = re.compile(r"[0-9]{1,4}")
_COMPUTE_MODE = re.compile(r"spx|dpx|tpx|qpx|cpx")
_MEMORY_MODE = re.compile(r"nps[0-9]")
_PARTS = {"spx": 1, "dpx": 2, "tpx": 3, "qpx": 4}
_FIRST_PARTITION = "0"
_VENDOR_ID = "1002"


def add_cards(draft: NodeDraft, records: Sequence[Record]) -> None:
    """Add the devices of the cards that records tell of.

    In a partition mode `amd-smi` counts partitions as GPUs, at the PCI address of their card or at another function of
    it. Where it shows the card alone, its partitions are added after the highest index; `slot` is that of the card.
    """
    cards: dict[str, list[Record]] = {}
    for record in records:
        address = _address(record)
        cards.setdefault(card_address(address) if address else f"GPU {record.gpu}", []).append(record)
    counts_partitions = any(_partition_id(record) != _FIRST_PARTITION for record in records)
    next_id = max(record.gpu for record in records) + 1
    for card in cards.values():
        mode = _mode(card)
        is_alone = len(card) == 1 and _address(card[0]) is not None and not counts_partitions
        memory_mib = _memory(card[0]) if mode is None else None
        device = _describe(draft, card[0], memory_mib)
        profile = None if device["sku"] == "unknown" else draft.catalog[device["sku"]]
        if mode is None:
            _add_whole(draft, card, device)
            continue
        parts = _parts(mode, profile)
        if is_alone and parts is not None:
            known = {"partition": mode, "slot": str(card[0].gpu)}
            each = _known(card[0], draft, profile, parts) | known
            each.pop("uuid", None)  # that of the card
            for part in range(parts):
                draft.add(next_id + part, device | each)
            next_id += parts
            continue
        if parts is None or len(card) < parts:
            what = f"mode {mode}: {len(card)} of {parts or 'an unknown number of'} partitions are printed"
            draft.note("PARTITION_UNKNOWN", what, card[0].gpu)
        for record in card:
            known = {"partition": mode} | _known(record, draft, profile, parts)
            draft.add(record.gpu, device | known)
    _add_driver(draft, records)


def _describe(draft: NodeDraft, record: Record, memory_mib: int | None) -> Device:
    market, board = (name(record.get(key)) for key in ("asic.market_name", "board.product_name"))
    return draft.identify(record.gpu, [market, board, pci_id(_VENDOR_ID, record.get("asic.device_id"))], memory_mib)


def _add_whole(draft: NodeDraft, card: Sequence[Record], device: Device) -> None:
    """Add a card; several records of one are partitions of a mode that is not printed."""
    if len(card) > 1:
        what = f"{len(card)} GPUs at one PCI device, and no partition mode printed; taken as devices of their own"
        draft.note("PARTITION_UNKNOWN", what, card[0].gpu)
    for record in card:
        draft.add(record.gpu, device | _known(record, draft, None, None))


def _known(record: Record, draft: NodeDraft, profile: Profile | None, parts: int | None) -> Device:
    """Give what is known of one device besides its model."""
    numa = record.get("numa.node")
    known = {
        "uuid": uuid(record.get("uuid", "asic.uuid")),
        "pci": _address(record),
        "serial": identifier(record.get("asic.asic_serial")),
        "numa": int(numa) if _NUMA.fullmatch(numa) else None,
        "memory_mib": _share(record, draft, profile, parts) if profile and parts else None,
    }
    return {key: value for key, value in known.items() if value is not None}


def _share(record: Record, draft: NodeDraft, profile: Profile, parts: int) -> int | None:
    """Give the memory of a partition: what is printed, or its part of it where the whole card's is printed."""
    memory_mib = _memory(record)
    if memory_mib is None or profile.memory_mib is None:
        return memory_mib
    if is_fitting(profile, memory_mib * parts):
        return memory_mib
    if is_fitting(profile, memory_mib):
        return memory_mib // parts
    what = f"{memory_mib} MiB printed, but a {profile.sku} has {profile.memory_mib} in {parts} parts; kept as printed"
    draft.note("MEMORY_CONTRADICTS", what, record.gpu)
    return memory_mib


def _parts(mode: str, profile: Profile | None) -> int | None:
    """Give the partitions of a card in a mode; `cpx` makes as many as the model has compute dies."""
    return _PARTS.get(mode[:3]) or (profile.max_partitions if profile else None)


def _mode(card: Sequence[Record]) -> str | None:
    """Give the partition mode, as `cpx_nps1`; `None` for a whole card, or where no mode is printed.

    Partitions after the first print N/A instead of the mode of their card.
    """
    for record in card:
        compute = record.get("partition.accelerator_partition", "partition.compute_partition").lower()
        memory = record.get("partition.memory_partition").lower()
        if _COMPUTE_MODE.fullmatch(compute):
            is_whole = _PARTS.get(compute) == 1
            return None if is_whole else "_".join([compute, *([memory] if _MEMORY_MODE.fullmatch(memory) else [])])
    return None


def _partition_id(record: Record) -> str:
    return record.get("partition.partition_id", "partition_id") or _FIRST_PARTITION


def _address(record: Record) -> str | None:
    return pci_address(record.get("bus.bdf", "bdf"))


def _memory(record: Record) -> int | None:
    match = _MEMORY.fullmatch(record.get("vram.size"))
    return int(match[1]) or None if match else None


def _add_driver(draft: NodeDraft, records: Sequence[Record]) -> None:
    versions = {version for record in records if (version := name(record.get("driver.version")))}
    if len(versions) == 1:
        draft.driver = {draft.vendor: versions.pop()}
