"""Which reader a printed text is for."""

from typing import Protocol

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed import (
    amd_smi,
    asset_table,
    hl_smi,
    npu_smi,
    nvidia_table,
    nvidia_topo,
    nvidia_xml,
    rocm_smi,
    scontrol,
    xpu_smi,
)


class Reader(Protocol):
    """A module of this package that reads what one tool prints."""

    def recognises(self, text: str) -> bool:
        """Tell by its shape whether a text is for this reader."""
        ...

    def read(self, text: str, node: str, catalog: Catalog) -> Fragment:
        """Read it; `node` is the name of the node that it is of, where the text does not say."""
        ...


# In the order in which they are asked: a header of a table is a weaker sign than the drawing of a tool.
READERS: tuple[Reader, ...] = (
    nvidia_xml,
    nvidia_table,
    nvidia_topo,
    amd_smi,
    rocm_smi,
    npu_smi,
    hl_smi,
    xpu_smi,
    scontrol,
    asset_table,
)


def find_reader(text: str) -> Reader | None:
    """Give the reader of a text; `None` when no tool that is known prints such."""
    return next((reader for reader in READERS if reader.recognises(text)), None)
