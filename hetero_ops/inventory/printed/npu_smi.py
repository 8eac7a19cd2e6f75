"""`npu-smi info` (Huawei Ascend): two rows a chip, then the processes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.draft import NodeDraft, unreadable
from hetero_ops.inventory.printed.printed_value import name, number, pci_address
from hetero_ops.inventory.printed.table_line import Line, lines_of
from hetero_ops.inventory.printed.terminal_text import shape

_COMMAND = "npu-smi info"
_SHAPE = re.compile(r"\|\s*npu-smi\s+\S|\|\s*NPU\s+Name\s*\|\s*Health|\|\s*NPU\s+Chip\s*\|\s*Process id")
_VERSION = re.compile(r"npu-smi\s+(\S+)\s+Version:\s*(\S+)")
_FIRST = re.compile(r"(\d{1,4})\s+(\S.*)")
_SECOND = re.compile(r"(\d{1,4})(?:\s+(\d{1,4}))?")
_AMOUNTS = re.compile(r"(\d+)\s*/\s*(\d+)")
_CHIP_CELLS = 3
_PROCESS_CELLS = 4
_IDLE = "No running processes found"
# Words of the Health column; anything else is kept as a doubt.
_UNHEALTHY = ("alarm", "critical", "fault")


@dataclass(slots=True)
class Chip:
    """One chip as printed: `memory_mib` is its HBM, or its DDR where it has no HBM."""

    npu: int
    name: str | None
    health: str | None
    chip: int = 0
    device: int | None = None
    bus: str | None = None
    busy_percent: int | None = None
    used_mib: int | None = None
    memory_mib: int | None = None
    is_whole: bool = False


@dataclass(slots=True)
class Printout:
    """What was printed, row by row."""

    versions: tuple[str, str] | None = None
    chips: list[Chip] = field(default_factory=list)
    processes: list[tuple[int, int | None, str, str]] = field(default_factory=list)
    has_processes: bool = False
    is_closed: bool = False
    left: list[Line] = field(default_factory=list)


def recognises(text: str) -> bool:
    """Tell whether a text is, or contains, the table of `npu-smi info`."""
    return _SHAPE.search(shape(text)) is not None


def read(text: str, node: str, catalog: Catalog) -> Fragment:
    """Read `npu-smi info` of one node.

    Raises:
        InvalidDocument: no chip can be read.
    """
    printout = parse(text)
    draft = NodeDraft(node, catalog, "huawei", "npu")
    if printout.versions:
        tool, driver = printout.versions
        draft.driver = {"huawei": driver, "npu-smi": tool}
    ids = _ids(printout.chips)
    for npu, chip, process, command in printout.processes:
        on = [at for at, row in enumerate(printout.chips) if row.npu == npu and chip in (None, row.chip)]
        for at in on:
            draft.own(ids[at], process, command)
        if not on:
            draft.note("TRUNCATED", f"process {process} runs on NPU {npu}, which is not in the table")
    for device_id, row in zip(ids, printout.chips, strict=True):
        draft.add(
            device_id,
            draft.identify(device_id, [row.name], row.memory_mib),
            pci=pci_address(row.bus),
            health=_health(draft, device_id, row.health),
        )
        busy = "" if row.busy_percent is None else f" (AICore {row.busy_percent} %)"
        draft.watch(device_id, row.used_mib, row.memory_mib, busy)
    for line in printout.left:
        draft.left_over(line.number)
    if printout.chips and not printout.chips[-1].is_whole:
        draft.note("TRUNCATED", "the second row of the last chip is missing")
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
        version = _VERSION.search(line.text)
        if version:
            printout.versions = (version[1], version[2])
        elif not _read_row(printout, line):
            printout.left.append(line)
    return printout


def _read_row(printout: Printout, line: Line) -> bool:
    """Read a row; false when it says nothing here."""
    cells = line.cells
    if not cells or not line.is_closed:
        return False
    if cells[0].split()[:1] in (["NPU"], ["Chip"]):
        printout.has_processes |= any("Process" in cell for cell in cells)
        return True
    if cells[0].startswith(_IDLE):
        return True
    if printout.has_processes:
        return len(cells) == _PROCESS_CELLS and _read_process(printout, cells)
    return len(cells) == _CHIP_CELLS and _read_chip(printout, cells)


def _read_chip(printout: Printout, cells: Sequence[str]) -> bool:
    if printout.chips and not printout.chips[-1].is_whole and _read_second(printout.chips[-1], cells):
        return True
    first = _FIRST.fullmatch(cells[0])
    if first is not None:
        printout.chips.append(Chip(int(first[1]), name(first[2]), name(cells[1])))
    return first is not None


def _read_second(chip: Chip, cells: Sequence[str]) -> bool:
    match = _SECOND.fullmatch(cells[0])
    if match is None:
        return False
    chip.chip, chip.device, chip.bus, chip.is_whole = int(match[1]), number(match[2]), cells[1], True
    chip.busy_percent = number((cells[2].split() or [""])[0])
    # Where there is HBM it comes last, and DDR before it may be `0 / 0`; cards without HBM print one pair only.
    amounts = [(number(used), number(total)) for used, total in _AMOUNTS.findall(cells[2])]
    chip.used_mib, chip.memory_mib = next((pair for pair in reversed(amounts) if pair[1]), (None, None))
    return True


def _read_process(printout: Printout, cells: Sequence[str]) -> bool:
    match = _SECOND.fullmatch(cells[0])
    if match is None or number(cells[1]) is None:
        return False
    printout.processes.append((int(match[1]), number(match[2]), cells[1], cells[2]))
    return True


def _ids(chips: Sequence[Chip]) -> list[int]:
    """Give the ids that a program sees: the printed physical ids, else NPU numbers, else places in the table."""
    for ids in ([chip.device for chip in chips], [chip.npu for chip in chips]):
        numbers = [number for number in ids if number is not None]
        if len(set(numbers)) == len(chips):
            return numbers
    return list(range(len(chips)))


def _health(draft: NodeDraft, device_id: int, health: str | None) -> str | None:
    if health is None or health.upper() == "OK":
        return None
    is_unhealthy = health.lower() in _UNHEALTHY
    taken = "taken as unhealthy" if is_unhealthy else "taken as usable"
    draft.note("DEVICE_WARNING", f"npu-smi prints its health as {health!r}; {taken}", device_id)
    return "unhealthy" if is_unhealthy else None
