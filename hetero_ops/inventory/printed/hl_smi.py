"""`hl-smi` (Intel Gaudi): two rows a card, then the processes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.draft import NodeDraft, unreadable
from hetero_ops.inventory.printed.printed_value import name, number, pci_address
from hetero_ops.inventory.printed.table_line import Line, lines_of
from hetero_ops.inventory.printed.terminal_text import shape

_COMMAND = "hl-smi"
_SHAPE = re.compile(r"HL-SMI Version|\|\s*AIP\s+Name\s")
_VERSIONS = {
    "Driver Version": "gaudi",
    "Nic Driver Version": "gaudi-nic",
    "HL-SMI Version": "hl-smi",
}
_VERSION = re.compile(r"(Driver Version|Nic Driver Version|HL-SMI Version):\s*(\S+)")
_FIRST = re.compile(r"(\d{1,4})\s+(\S.*?)\s+\S+")
_BUS = re.compile(r"(\S+)\s+\S+")
_POWER = re.compile(r".*?/\s*(\d{1,6})W")
_MEMORY = re.compile(r"(\d+)MiB\s*/\s*(\d+)MiB")
_PROCESS = re.compile(r"(\d{1,4})\s+(\S+)\s+\S+\s+(\S.*?)\s+\S+")
_CARD_CELLS = 3
_MW_PER_W = 1000


@dataclass(slots=True)
class Card:
    """One card as printed; `events` are uncorrected errors since the driver was loaded."""

    index: int
    name: str | None
    bus: str | None
    events: int | None
    power_cap_w: int | None = None
    used_mib: int | None = None
    memory_mib: int | None = None
    is_whole: bool = False


@dataclass(slots=True)
class Printout:
    """What was printed, row by row."""

    versions: dict[str, str] = field(default_factory=dict)
    cards: list[Card] = field(default_factory=list)
    processes: list[tuple[int, str, str]] = field(default_factory=list)
    has_processes: bool = False
    is_closed: bool = False
    left: list[Line] = field(default_factory=list)


def recognises(text: str) -> bool:
    """Tell whether a text is, or contains, the table of `hl-smi`."""
    return _SHAPE.search(shape(text)) is not None


def read(text: str, node: str, catalog: Catalog) -> Fragment:
    """Read `hl-smi` of one node.

    Raises:
        InvalidDocument: no card can be read.
    """
    printout = parse(text)
    draft = NodeDraft(node, catalog, "intel", "npu", printout.versions)
    indices = {card.index for card in printout.cards}
    for index, process, command in printout.processes:
        draft.own(index, process, command)
        if index not in indices:
            draft.note("TRUNCATED", f"process {process} runs on card {index}, which is not in the table")
    for card in printout.cards:
        draft.add(card.index, draft.identify(card.index, [card.name], card.memory_mib), pci=pci_address(card.bus))
        draft.watch(card.index, card.used_mib, card.memory_mib)
        if card.events:
            draft.note("DEVICE_WARNING", f"{card.events} uncorrected events; taken as usable", card.index)
        _compare_power(draft, card)
    for line in printout.left:
        draft.left_over(line.number)
    if printout.cards and not printout.cards[-1].is_whole:
        draft.note("TRUNCATED", "the second row of the last card is missing")
    draft.end_table(is_closed=printout.is_closed, has_processes=printout.has_processes)
    if not draft.devices:
        raise unreadable(_COMMAND)
    return draft.fragment()


def parse(text: str) -> Printout:
    """Read the rows."""
    printout = Printout()
    for line in lines_of(text):
        if line.is_border:
            printout.is_closed = True
            continue
        printout.is_closed = False
        if not _read_row(printout, line):
            printout.left.append(line)
    return printout


def _read_row(printout: Printout, line: Line) -> bool:
    """Read a row; false when it says nothing here."""
    cells = line.cells
    if not cells or not line.is_closed:
        return False
    version = _VERSION.fullmatch(cells[0])
    if version:
        printout.versions[_VERSIONS[version[1]]] = version[2]
        return True
    if cells[0].startswith("Compute Processes"):
        printout.has_processes = True
        return True
    if cells[0].split()[:1] in (["AIP"], ["Fan"]):
        return True
    if printout.has_processes:
        return _read_process(printout, cells)
    return len(cells) == _CARD_CELLS and _read_card(printout, cells)


def _read_card(printout: Printout, cells: Sequence[str]) -> bool:
    first, bus = _FIRST.fullmatch(cells[0]), _BUS.fullmatch(cells[1])
    memory, power = _MEMORY.fullmatch(cells[1]), _POWER.fullmatch(cells[0])
    if memory and printout.cards and not printout.cards[-1].is_whole:
        card = printout.cards[-1]
        card.used_mib, card.memory_mib = number(memory[1]), number(memory[2]) or None
        card.power_cap_w, card.is_whole = number(power[1]) if power else None, True
        return True
    if first is None or bus is None or memory:
        return False
    printout.cards.append(Card(int(first[1]), name(first[2]), bus[1], number(cells[2])))
    return True


def _read_process(printout: Printout, cells: Sequence[str]) -> bool:
    match = _PROCESS.fullmatch(cells[0])
    if match is None:
        return False
    if number(match[2]) is not None:  # a card without a process has a row of N/A
        printout.processes.append((int(match[1]), match[2], match[3]))
    return True


def _compare_power(draft: NodeDraft, card: Card) -> None:
    sku = str(draft.devices.get(card.index, {}).get("sku"))
    limit_mw = draft.catalog[sku].tdp_mw if sku in draft.catalog else None
    if limit_mw and card.power_cap_w and card.power_cap_w * _MW_PER_W < limit_mw:
        message = f"its power is capped at {card.power_cap_w} W, below the {limit_mw // _MW_PER_W} W of the catalog"
        draft.note("DEVICE_WARNING", message, card.index)
