"""`amd-smi list`, `amd-smi static` and `amd-smi topology`, as text and with `--json`."""

import re

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed import amd_card, amd_topology
from hetero_ops.inventory.printed.amd_record import Record, records_of_json, records_of_text
from hetero_ops.inventory.printed.draft import NodeDraft, unreadable
from hetero_ops.inventory.printed.terminal_text import line_at, plain, shape

_TABLE = re.compile(r"^[ \t]*(?:ACCESS|WEIGHT|HOPS|LINK TYPE|NUMA BW) TABLE:", re.MULTILINE)
_BLOCK = re.compile(r"^[ \t]*GPU:[ \t]*[0-9]+[ \t]*$", re.MULTILINE)
_BLOCK_KEY = re.compile(r"^[ \t]*(?:BDF:|ASIC:|BUS:|PARTITION:|VRAM:|KFD_ID:)", re.MULTILINE)
_JSON_GPU = re.compile(r'"gpu"\s*:\s*"?[0-9]')
_JSON_KEY = re.compile(r'"(?:bdf|asic|bus|partition|vram|link_type|links)"\s*:')


def recognises(text: str) -> bool:
    """Tell whether a text is such output."""
    text = shape(text)
    if _is_json(text):
        return _JSON_GPU.search(text) is not None and _JSON_KEY.search(text) is not None
    is_blocks = _BLOCK.search(text) is not None and _BLOCK_KEY.search(text) is not None
    return is_blocks or _TABLE.search(text) is not None


def read(text: str, node: str, catalog: Catalog) -> Fragment:
    """Read the GPUs of one node, and what the command prints of them.

    `static` names models, memory, NUMA nodes and partition modes; `list` names addresses; `topology` names links.
    Numbers of KFD nodes are no NUMA nodes.

    Args:
        text: what `amd-smi` printed.
        node: the name of the node.
        catalog: the known accelerators.

    Raises:
        InvalidDocument: no GPU can be read, or JSON is broken.
    """
    text, draft = plain(text), NodeDraft(node, catalog, "amd")
    if _is_json(text):
        _add_records(draft, records_of_json(text, draft))
    elif _TABLE.search(text):
        amd_topology.add_tables(draft, amd_topology.tables_of(text))
        if block := _BLOCK.search(text):
            draft.left_over(line_at(text, block.start()), "output of another command; give it as a file of its own")
    else:
        _add_records(draft, records_of_text(text, draft))
    if not draft.devices:
        raise unreadable("amd-smi static")
    return draft.fragment()


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def _add_records(draft: NodeDraft, records: list[Record]) -> None:
    if any(key.startswith(("links.", "link_type.")) for record in records for key in record.values):
        amd_topology.add_records(draft, records)
    elif records:
        amd_card.add_cards(draft, records)
