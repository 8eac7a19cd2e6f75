"""`nvidia-smi`: the table that a person looks at, in the layouts of old and new drivers."""

import re
from dataclasses import dataclass, field

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.draft import NodeDraft, unreadable
from hetero_ops.inventory.printed.mig import Instance
from hetero_ops.inventory.printed.nvidia_card import Card, Process, add_cards
from hetero_ops.inventory.printed.printed_value import name, number, pci_address
from hetero_ops.inventory.printed.table_line import Line, lines_of
from hetero_ops.inventory.printed.terminal_text import shape

_SHAPE = re.compile(r"\|\s*NVIDIA-SMI\s|\|\s*GPU\s+Name\s|\|\s*GPU\s+GI\s+CI\s+MIG\s")
_VERSION = re.compile(r"(Driver|CUDA) Version:\s*([0-9]+(?:\.[0-9]+)+)")
_DRIVER_KEYS = {"Driver": "nvidia", "CUDA": "cuda"}
_SECTIONS = {
    "GPU Name": "cards",
    "MIG devices": "instances",
    "GPU GI CI MIG": "instances",
    "Processes": "processes",
    "GPU GI CI PID": "processes",
    "GPU PID": "processes",
}
# The other lines of the headings, and what stands where there is nothing.
_HEADINGS = ("NVIDIA-SMI ", "Fan Temp ", "ID ID ", "No ")
_HEADING_ENDS = ("MIG M.", "ECC")
_MEMORY = re.compile(r"([0-9]{1,9})MiB ?/ ?([0-9]{1,9})MiB")
_NUMBER = re.compile(r"[0-9]{1,9}")
# The word after the name: persistence mode on Linux, driver model on Windows.
_AFTER_NAME = ("On", "Off", "WDDM", "TCC", "MCDM", "N/A", "ERR!")
_MIG_MODES = ("Enabled", "Disabled", "N/A")
_ENGINES = ("copy", "encoder", "decoder", "ofa", "jpeg")
_PROCESS_TYPES = ("C", "G", "C+G", "M+C")


def recognises(text: str) -> bool:
    """Tell whether a text is such output."""
    return _SHAPE.search(shape(text)) is not None


def read(text: str, node: str, catalog: Catalog) -> Fragment:
    """Read the GPUs, their MIG instances, and the processes on them. This output has no UUID.

    Args:
        text: what `nvidia-smi` printed.
        node: the name of the node.
        catalog: the known accelerators.

    Raises:
        InvalidDocument: no GPU can be read.
    """
    draft = NodeDraft(node, catalog, "nvidia")
    table = _Table(draft)
    for line in lines_of(text):
        table.feed(line)
    if not table.cards:
        raise unreadable("nvidia-smi -q -x")
    table.check(has_modes="MIG M." in text)
    versions = {_DRIVER_KEYS[key]: version for key, version in reversed(_VERSION.findall(text))}
    draft.driver = dict(sorted(versions.items(), reverse=True))
    draft.sees_processes = table.section == "processes" and table.is_closed
    add_cards(draft, list(table.cards.values()))
    return draft.fragment()


@dataclass(slots=True)
class _Table:
    """The table as far as it was read. A card has up to three rows, and `current` is the one whose rows these are."""

    draft: NodeDraft
    cards: dict[int, Card] = field(default_factory=dict)
    rows: set[tuple[int, str]] = field(default_factory=set)
    section: str = "cards"
    current: Card | None = None
    is_closed: bool = False

    def feed(self, line: Line) -> None:
        """Read one line; what stands around the table is no part of it."""
        cells = list(line.cells)
        if line.is_border:
            self.current = None
        if line.is_border or cells:
            self.is_closed = line.is_border
        if not cells:
            return
        section = next((name for title, name in _SECTIONS.items() if cells[0].startswith(title)), None)
        if section:
            self.section = section
        elif not self._is_heading(cells) and not (line.is_closed and self._is_read(cells)):
            self.draft.left_over(line.number)

    def check(self, *, has_modes: bool) -> None:
        """Name what the rows of a card should say and do not."""
        for card in self.cards.values():
            for row in ("name", "memory", *(["MIG mode"] if has_modes else [])):
                if (card.index, row) not in self.rows:
                    self.draft.note("TRUNCATED", f"the row with its {row} is missing or damaged", card.index)

    @staticmethod
    def _is_heading(cells: list[str]) -> bool:
        return cells[0].startswith(_HEADINGS) or (not any(cells[:-1]) and cells[-1] in _HEADING_ENDS)

    def _is_read(self, cells: list[str]) -> bool:
        if not any(cells):
            return True
        if self.section == "processes":
            return self._read_process(" ".join(cells).split())
        if self.section == "instances":
            return self._read_instance(cells)
        return self._read_card(cells)

    def _read_card(self, cells: list[str]) -> bool:
        words = cells[0].split()
        if len(words) > 1 and _NUMBER.fullmatch(words[0]) and words[-1] in _AFTER_NAME:
            return self._begin_card(int(words[0]), " ".join(words[1:-1]), cells[1:])
        card = self.current
        if card is None:
            return False
        mode = cells[-1].removesuffix("*")
        if not cells[0] and mode in _MIG_MODES and self._is_first(card, "MIG mode"):
            card.is_partitioned = mode == "Enabled"
            self.current = None  # its last row
            return True
        if len(cells) > 1 and cells[0] and self._is_first(card, "memory"):
            card.used_mib, card.memory_mib = _amounts(cells[1])
            return True
        return False

    def _begin_card(self, index: int, product: str, cells: list[str]) -> bool:
        self.current = None
        if index in self.cards or not self.draft.is_index(index):
            return False
        bus = cells[0].split() if cells else []
        pci = pci_address(bus[0]) if bus else None
        self.current = self.cards[index] = Card(index, product=name(product), pci=pci)
        return self._is_first(self.current, "name")

    def _is_first(self, card: Card, row: str) -> bool:
        """Note that a row of a card was read; tell whether it is the first of its kind, as it must be."""
        is_first = (card.index, row) not in self.rows
        self.rows.add((card.index, row))
        return is_first

    def _read_instance(self, cells: list[str]) -> bool:
        words = cells[0].split()
        if not words:
            return True  # the second row of an instance tells of its address window
        if len(words) != len(("GPU", "GI", "CI", "Dev")) or not all(map(_NUMBER.fullmatch, words)):
            return False
        index, gpu_instance = int(words[0]), int(words[1])
        if not self.draft.is_index(index):
            return True
        counts = cells[-1].split()
        is_whole = len(counts) == len(_ENGINES) and all(map(_NUMBER.fullmatch, counts))
        engines = dict(zip(_ENGINES, map(int, counts), strict=True)) if is_whole else {}
        used_mib, memory_mib = _amounts(cells[1]) if len(cells) > 1 else (None, None)
        instance = Instance(gpu_instance, memory_mib, engines, used_mib=used_mib)
        self.cards.setdefault(index, Card(index)).instances.append(instance)
        return True

    def _read_process(self, words: list[str]) -> bool:
        """Read `GPU GI CI PID type name memory`; old drivers print no GI and CI."""
        at = next((at for at in (4, 2) if len(words) > at and words[at] in _PROCESS_TYPES), None)
        if at is None or not (_NUMBER.fullmatch(words[0]) and _NUMBER.fullmatch(words[at - 1])):
            return False
        has_instance = at > len(("GPU", "PID")) and _NUMBER.fullmatch(words[1])
        instance = int(words[1]) if has_instance else None
        card = self.cards.get(int(words[0]))
        if card is not None:
            card.processes.append(Process(instance, words[at - 1], words[at], " ".join(words[at + 1 : -1])))
        return card is not None


def _amounts(cell: str) -> tuple[int | None, int | None]:
    """Read `0MiB / 15109MiB`: how much is in use, and the total."""
    match = _MEMORY.fullmatch(cell)
    return (number(match[1]), number(match[2]) or None) if match else (None, None)
