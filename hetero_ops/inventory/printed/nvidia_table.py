"""`nvidia-smi`: the table that a person looks at, in the layouts of old and new drivers."""

import re
from dataclasses import dataclass, field

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed import identity
from hetero_ops.inventory.printed.mig import Instance
from hetero_ops.inventory.printed.nvidia_card import Card, Process, add_cards
from hetero_ops.inventory.printed.reading import Reading, unreadable
from hetero_ops.inventory.printed.terminal_text import numbered_lines, plain, shape

_SHAPE = re.compile(r"\|\s*NVIDIA-SMI\s|\|\s*GPU\s+Name\s|\|\s*GPU\s+GI\s+CI\s+MIG\s")
_VERSION = re.compile(r"(Driver|CUDA) Version:\s*([0-9]+(?:\.[0-9]+)+)")
_DRIVER_KEYS = {"Driver": "nvidia", "CUDA": "cuda"}
_BORDER = re.compile(r"[+|][-=+|\s]*")
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
_MEMORY = re.compile(r"[0-9]{1,9}MiB ?/ ?([0-9]{1,9})MiB")
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
    text, reading = plain(text), Reading(node, "nvidia", catalog)
    table = _Table(reading)
    for line, row in numbered_lines(text):
        table.feed(line, row.strip())
    if not table.cards:
        raise unreadable("nvidia-smi", "nvidia-smi -q -x")
    table.check(has_modes="MIG M." in text)
    versions = {_DRIVER_KEYS[key]: version for key, version in reversed(_VERSION.findall(text))}
    reading.fields["driver"] = dict(sorted(versions.items(), reverse=True))
    add_cards(reading, list(table.cards.values()))
    return reading.fragment()


@dataclass(slots=True)
class _Table:
    """The table as far as it was read. A card has up to three rows, and `current` is the one whose rows these are."""

    reading: Reading
    cards: dict[int, Card] = field(default_factory=dict)
    rows: set[tuple[int, str]] = field(default_factory=set)
    section: str = "cards"
    current: Card | None = None

    def feed(self, line: int, row: str) -> None:
        """Read one line."""
        if _BORDER.fullmatch(row):
            self.current = None
        if _BORDER.fullmatch(row) or not row.startswith("|"):
            return
        cells = [" ".join(cell.split()) for cell in row[1:].removesuffix("|").split("|")]
        section = next((name for title, name in _SECTIONS.items() if cells[0].startswith(title)), None)
        if section:
            self.section = section
        elif not self._is_heading(cells) and not self._is_read(cells):
            self.reading.left_over(line, "not understood")

    def check(self, *, has_modes: bool) -> None:
        """Name what the rows of a card should say and do not."""
        for card in self.cards.values():
            for row in ("name", "memory", *(["MIG mode"] if has_modes else [])):
                if (card.index, row) not in self.rows:
                    self.reading.note("TRUNCATED", f"the row with its {row} is missing or damaged", card.index)

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
            card.memory_mib = _total(cells[1])
            return True
        return False

    def _begin_card(self, index: int, product: str, cells: list[str]) -> bool:
        self.current = None
        if index in self.cards or not self.reading.is_index(index):
            return False
        bus = cells[0].split() if cells else []
        pci = identity.pci_address(bus[0]) if bus else None
        self.current = self.cards[index] = Card(index, product=identity.name(product), pci=pci)
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
        if not self.reading.is_index(index):
            return True
        counts = cells[-1].split()
        is_whole = len(counts) == len(_ENGINES) and all(map(_NUMBER.fullmatch, counts))
        engines = dict(zip(_ENGINES, map(int, counts), strict=True)) if is_whole else {}
        instance = Instance(gpu_instance, _total(cells[1]) if len(cells) > 1 else None, engines)
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


def _total(cell: str) -> int | None:
    """Read the total of `0MiB / 15109MiB`."""
    match = _MEMORY.fullmatch(cell)
    return int(match[1]) or None if match else None
