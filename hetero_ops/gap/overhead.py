"""What running in a roundabout way leaves of a device's speed: the rows of `data/overheads.toml`."""

import functools
import tomllib
from importlib.resources import files
from typing import Any, NamedTuple

_MILLI = 1000


class Overheads(NamedTuple):
    """Factors in thousandths: by toolkit and vendor, 1000 where code is at home; and of virtual GPUs."""

    toolkits: dict[str, dict[str, int]]
    virtual_milli: int
    sources: tuple[str, ...]

    def for_core(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"toolkits": self.toolkits, "virtual_milli": self.virtual_milli}


@functools.cache
def overheads() -> Overheads:
    """The table that comes with the package, read once, on first use."""
    table = tomllib.loads((files("hetero_ops.gap") / "data" / "overheads.toml").read_text(encoding="utf-8"))
    toolkits = {row["name"]: dict.fromkeys(row["vendors"], _MILLI) for row in table["toolkit"]}
    for row in table["translation"]:
        toolkits[row["toolkit"]] |= dict.fromkeys(row["vendors"], round(row["factor"] * _MILLI))
    sources = (*(row["source"] for row in table["translation"]), table["vgpu"]["source"])
    return Overheads(toolkits, round(table["vgpu"]["factor"] * _MILLI), sources)
