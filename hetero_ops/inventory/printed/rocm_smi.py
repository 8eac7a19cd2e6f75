"""`rocm-smi --showtopo` and `rocm-smi --showtoponuma`: links between GPUs, and their NUMA nodes."""

import re

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.amd_topology import is_fabric
from hetero_ops.inventory.printed.draft import NodeDraft, unreadable
from hetero_ops.inventory.printed.link import islands_of
from hetero_ops.inventory.printed.link_table import LinkTable, read_link_table, sections_of
from hetero_ops.inventory.printed.terminal_text import numbered_lines, plain, shape

_SHAPE = re.compile(r"(?:Weight|Hops|Link Type) between two GPUs|\(Topology\) Numa|= ?Numa Nodes ?=")
_TITLE = re.compile(r"=+([^=]+)=+")
_LABEL = re.compile(r"gpu([0-9]{1,6})")
_NUMA = re.compile(r"GPU\[([0-9]{1,6})\]\s*:\s*\(Topology\) Numa (?:Node|Affinity): (-?[0-9]{1,4})")
_NUMA_NODE = "Numa Node:"
_LINK_TYPE = "Link Type between two GPUs"


def recognises(text: str) -> bool:
    """Tell whether a text is such output."""
    return _SHAPE.search(shape(text)) is not None


def read(text: str, node: str, catalog: Catalog) -> Fragment:
    """Read which GPUs XGMI joins, and the NUMA node of each; what a section does not say stays unknown.

    Args:
        text: what `rocm-smi` printed.
        node: the name of the node.
        catalog: the known accelerators.

    Raises:
        InvalidDocument: no GPU can be read.
    """
    text, draft = plain(text), NodeDraft(node, catalog, "amd")
    tables = tables_of(text)
    for number in (number for table in tables.values() for number in table.damaged):
        draft.left_over(number, "no row of the table, or a damaged one")
    numa = _numa_nodes(text, draft)
    labels = {label for table in tables.values() for label in table.columns}
    gpus = sorted({*numa, *(index for label in labels if draft.is_index(index := _index(label)))})
    if not gpus:
        raise unreadable("rocm-smi --showtopo")
    types = tables.get(_LINK_TYPE, LinkTable()).cells
    links = {
        (_index(one), _index(other)): joined
        for (one, other), word in types.items()
        if (joined := is_fabric(word)) is not None
    }
    islands = islands_of(gpus, links)
    for index in gpus:
        draft.add_unnamed(index, "amd-smi static", numa=numa.get(index), islands=islands.get(index))
    return draft.fragment()


def tables_of(text: str) -> dict[str, LinkTable]:
    """Read the tables by title, as `Link Type between two GPUs`."""
    sections = sections_of(numbered_lines(text), _TITLE)
    return {title: read_link_table(lines, _LABEL) for title, lines in sections.items() if "two GPUs" in title}


def _numa_nodes(text: str, draft: NodeDraft) -> dict[int, int | None]:
    """Give the NUMA node of each GPU that the section names; `Numa Affinity` repeats it. -1 is unknown."""
    nodes: dict[int, int | None] = {}
    for _, line in numbered_lines(text):
        match = _NUMA.fullmatch(line.strip())
        if match and draft.is_index(int(match[1])):
            node = int(match[2]) if _NUMA_NODE in line and int(match[2]) >= 0 else None
            nodes[int(match[1])] = node if nodes.get(int(match[1])) is None else nodes[int(match[1])]
    return nodes


def _index(label: str) -> int:
    match = _LABEL.fullmatch(label)
    return int(match[1]) if match else 0
