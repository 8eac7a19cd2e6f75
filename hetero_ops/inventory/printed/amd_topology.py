"""`amd-smi topology`: which GPUs XGMI joins; as tables by PCI address, or as JSON."""

import re
from collections.abc import Sequence

from hetero_ops.inventory.printed.amd_record import Record
from hetero_ops.inventory.printed.draft import NodeDraft
from hetero_ops.inventory.printed.link import islands_of
from hetero_ops.inventory.printed.link_table import LinkTable, read_link_table, sections_of
from hetero_ops.inventory.printed.printed_value import pci_address
from hetero_ops.inventory.printed.terminal_text import numbered_lines

TITLE = re.compile(r"([A-Z][A-Z -]{1,30}) TABLE:")
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_OLD_LINK = re.compile(r"link_type\.gpu_([0-9]{1,6})")
_INDEX = re.compile(r"[0-9]{1,6}")
_FABRIC = {"xgmi": True, "pcie": False, "self": False, "0": False}
"""By the word for a link: whether it is a fabric. Other words say nothing, as `n/a`; the last two are of itself."""


def is_fabric(word: str | None) -> bool | None:
    """Tell whether a link is XGMI; `None` where the word does not say."""
    return _FABRIC.get((word or "").lower())


def tables_of(text: str) -> dict[str, LinkTable]:
    """Read the tables by title, as `LINK TYPE`; one with the title of an earlier one is left out."""
    sections = sections_of(numbered_lines(text), TITLE)
    return {title: read_link_table(lines, _ADDRESS) for title, lines in sections.items()}


def add_tables(draft: NodeDraft, tables: dict[str, LinkTable]) -> None:
    """Add the GPUs of the tables. Their index is their place in the heading."""
    columns = max((table.columns for table in tables.values()), key=len, default=[])
    for number in (number for table in tables.values() for number in table.damaged):
        draft.left_over(number, "no row of the table, or a damaged one")
    types = tables.get("LINK TYPE", LinkTable()).cells
    links = {
        (i, j): joined
        for i, one in enumerate(columns)
        for j, other in enumerate(columns)
        if (joined := is_fabric(types.get((one, other)))) is not None
    }
    _add(draft, {index: pci_address(address) for index, address in enumerate(columns)}, links)


def add_records(draft: NodeDraft, records: Sequence[Record]) -> None:
    """Add the GPUs of the JSON form, new (`links`) or old (`link_type` with `gpu_1` and so on)."""
    links: dict[tuple[int, int], bool] = {}
    gpus = {record.gpu: pci_address(record.get("bdf")) for record in records}
    for record in records:
        for other, (word, bdf) in _others(record).items():
            joined = is_fabric(word)
            if joined is not None and draft.is_index(other):
                links[record.gpu, other] = joined
                gpus.setdefault(other, pci_address(bdf))
    _add(draft, gpus, links)


def _others(record: Record) -> dict[int, tuple[str, str]]:
    """Give the GPUs that an entry names, itself among them, with the word for the link and the address."""
    others: dict[int, tuple[str, str]] = {}
    for key, value in record.values.items():
        old = _OLD_LINK.fullmatch(key)
        if old:
            others[int(old[1])] = (value, "")
        elif key.startswith("links.") and key.endswith(".gpu") and _INDEX.fullmatch(value):
            link = key.removesuffix(".gpu")
            others[int(value)] = (record.get(f"{link}.link_type"), record.get(f"{link}.bdf"))
    return others


def _add(draft: NodeDraft, gpus: dict[int, str | None], links: dict[tuple[int, int], bool]) -> None:
    islands = islands_of(list(gpus), links)
    for index, address in gpus.items():
        draft.add_unnamed(index, "amd-smi static", pci=address, islands=islands.get(index))
