"""`nvidia-smi topo -m`: the matrix of links between GPUs and NICs, with the NUMA node of each GPU."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.draft import NodeDraft, unreadable
from hetero_ops.inventory.printed.link import islands_of
from hetero_ops.inventory.printed.terminal_text import numbered_lines, plain, shape

_SHAPE = re.compile(r"^[ \t]*GPU[0-9]+[ \t][^\n]*\bCPU[ \t]+Affinity", re.MULTILINE)
_GPU = re.compile(r"GPU([0-9]{1,6})")
_NVLINK = re.compile(r"NV[0-9]{1,3}")
_PCIE = ("SYS", "SOC", "NODE", "PHB", "PXB", "PIX")  # SOC is what old drivers call SYS
_SELF = "X"
_ONE_BRIDGE = "PIX"
_SAME_ROOT = ("PIX", "PXB", "PHB")  # ways that stay below one PCIe host bridge
_COLUMNS_AFTER = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")
_NUMA = re.compile(r"[0-9]{1,4}")


def recognises(text: str) -> bool:
    """Tell whether a text is such output."""
    return _SHAPE.search(shape(text)) is not None


def read(text: str, node: str, catalog: Catalog) -> Fragment:
    """Read which GPUs NVLink joins, and the NUMA node, PCIe switch and near network card of each.

    Products and memory it does not print.

    Args:
        text: what `nvidia-smi topo -m` printed.
        node: the name of the node.
        catalog: the known accelerators.

    Raises:
        InvalidDocument: there is no matrix.
    """
    draft = NodeDraft(node, catalog, "nvidia")
    matrix = read_matrix(text, draft)
    labels = {int(match[1]): label for label in matrix.labels() if (match := _GPU.fullmatch(label))}
    gpus = {index: label for index, label in labels.items() if draft.is_index(index)}
    if not gpus:
        raise unreadable("nvidia-smi topo -m")
    links = {
        (one, other): is_nvlink
        for one in gpus
        for other in gpus
        if (is_nvlink := _is_nvlink(matrix.links(gpus[one]).get(gpus[other]))) is not None
    }
    islands = islands_of(list(gpus), links)
    switches = _switches({(one, other): matrix.links(gpus[one]).get(gpus[other]) for one in gpus for other in gpus})
    for index, label in gpus.items():
        if label not in matrix.rows:
            draft.note("TRUNCATED", "its row is missing or damaged", index)
        numa = _numa(matrix.rows.get(label))
        place: dict[str, object] = {"numa": numa, "islands": islands.get(index), "switch": switches.get(index)}
        draft.add_unnamed(index, "nvidia-smi -q -x", **place, nic=_is_near_nic(matrix, label))
    return draft.fragment()


def _switches(links: Mapping[tuple[int, int], str | None]) -> dict[int, int]:
    """Number the PCIe switches that several GPUs share: those whose way to each other crosses one bridge at most."""
    joined = islands_of(sorted({one for one, _ in links}), {pair: link == _ONE_BRIDGE for pair, link in links.items()})
    shared = [group for groups in joined.values() for group in groups]
    return {index: number for number, group in enumerate(shared) for index in group}


def _is_near_nic(matrix: "Matrix", gpu: str) -> bool | None:
    """Tell whether a network card is on the PCIe root of a GPU; `None` where none is printed, or its cell was lost."""
    links, nics = matrix.links(gpu), [label for label in matrix.columns if not _GPU.fullmatch(label)]
    if any(links.get(nic) in _SAME_ROOT for nic in nics):
        return True
    return False if nics and all(nic in links for nic in nics) else None


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one row: links by column, and what stands after them, as `CPU Affinity`."""

    links: dict[str, str]
    after: dict[str, str]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The matrix as printed: the devices of its heading, and its rows by device. NICs are among them."""

    columns: tuple[str, ...]
    rows: dict[str, Row]

    def labels(self) -> list[str]:
        """Give all devices that the heading or a row names, each once."""
        return list(dict.fromkeys((*self.columns, *self.rows)))

    def links(self, label: str) -> dict[str, str]:
        """Give the links of a device by the other one."""
        return self.rows[label].links if label in self.rows else {}


def read_matrix(text: str, draft: NodeDraft) -> Matrix:
    """Read the first matrix of a text; lines that are not of it are noted when they begin like a row."""
    heading: list[str] | None = None
    after: list[str] = []
    rows: dict[str, Row] = {}
    for line, row in numbered_lines(plain(text)):
        label = row.split()[0]
        if heading is None:
            heading, after = _heading(row)
        elif label in heading or _GPU.fullmatch(label):
            found = None if label in rows else _row(row, heading, after)
            if found is None:
                draft.left_over(line, "no row of the matrix, a damaged one, or one that was read before")
            else:
                rows[label] = found
    return Matrix(tuple(dict.fromkeys(heading or ())), rows)


def _heading(line: str) -> tuple[list[str] | None, list[str]]:
    """Read the heading: names of devices, then those of the columns after them."""
    words = line.split()
    end = words.index("CPU") if "CPU" in words else len(words)
    names, rest = words[:end], " ".join(words[end:])
    if not names or not _GPU.fullmatch(names[0]) or any(_is_link(name) for name in names):
        return None, []
    return names, [column for column in _COLUMNS_AFTER if column in rest]


def _row(line: str, heading: list[str], after: list[str]) -> Row | None:
    """Read a row. One that was cut has fewer cells; one whose own cell is not X has lost its place."""
    cells = [cell.strip() for cell in line.split("\t")]
    is_tabbed = len(cells) > 1 and all(_is_link(cell) for cell in cells[1 : 1 + len(heading)])
    if not is_tabbed:
        cells = line.split()
    links = dict(zip(heading, cells[1:], strict=False))
    if not all(_is_link(link) for link in links.values()) or links.get(cells[0], _SELF) != _SELF:
        return None
    values = cells[1 + len(heading) :]
    if any(map(_is_link, values)):
        return None  # it is longer than a heading that was cut
    # With blanks for tabs an empty cell cannot be seen: then only a full row tells which is which.
    is_placed = is_tabbed or len(values) == len(after)
    return Row(links, dict(zip(after, values, strict=False)) if is_placed else {})


def _is_link(cell: str) -> bool:
    return cell == _SELF or cell in _PCIE or _NVLINK.fullmatch(cell) is not None


def _is_nvlink(link: str | None) -> bool | None:
    """Tell whether a link is NVLink; `None` where its cell was lost."""
    return None if link is None else _NVLINK.fullmatch(link) is not None


def _numa(row: Row | None) -> int | None:
    """Give the NUMA node of a GPU; a range of them, or N/A, says of no single one."""
    numa = row.after.get("NUMA Affinity", "") if row else ""
    return int(numa) if _NUMA.fullmatch(numa) else None
