"""Generic resources of Slurm as it prints them: `gpu:h100:8(S:0-1)`, `gpu:h100:3(IDX:0,2-3)`, `gres/gpu:h100=3`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.printed.printed_value import known

_ITEM = re.compile(r"(?:[^,()]|\([^()]*\))+")
_GRES = re.compile(r"(?P<name>[^:()\s]+)(?::(?P<type>[^:()\s]+))??(?::(?P<count>\d{1,9}))?(?:\((?P<more>[^()]*)\))?")
_TRES = re.compile(r"gres/(?P<name>[^:=\s]+)(?::(?P<type>[^=\s]+))?=(?P<count>\d{1,9})")
_RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
_INDICES = "IDX:"
_CLASSES = {"gpu": "gpu", "npu": "npu"}
# Shares of GPUs that are counted under a name of their own.
_SHARES = ("shard", "mps")


@dataclass(frozen=True, slots=True)
class Gres:
    """Devices of one type.

    Attributes:
        type: the word of the site for the model, as `h100`; `None` when it has none.
        count: how many.
        accelerator_class: `gpu` or `npu`.
        indices: which of the node's, where that is printed.
    """

    type: str | None
    count: int
    accelerator_class: str = "gpu"
    indices: tuple[int, ...] = ()


def read_gres(text: str | None, node: str, findings: list[Finding]) -> list[Gres]:
    """Read the value of `Gres` or `GresUsed`; resources that are no devices go to the findings."""
    devices: list[Gres] = []
    for item in _ITEM.findall(known(text) or ""):
        match = _GRES.fullmatch(item.strip())
        if match is None:
            findings.append(Finding("TEXT_LEFT_OVER", node, f"{item.strip()[:60]!r} is no generic resource of Slurm"))
            continue
        # Without a number one is meant.
        count = int(match["count"] or 1)
        if match["name"] in _CLASSES:
            devices.append(Gres(match["type"], count, _CLASSES[match["name"]], _indices(match["more"] or "")))
        elif match["name"] in _SHARES and count:
            message = f"{count} of {match['name']}: shares of GPUs are not read, only whole ones"
            findings.append(Finding("UNKNOWN_RESOURCE", node, message))
        elif count:
            findings.append(Finding("UNKNOWN_RESOURCE", node, f"{count} of {match['name']}: left out"))
    return devices


def read_tres(text: str | None) -> list[Gres]:
    """Read the devices of `CfgTRES` or `AllocTRES`, where a count of all types may stand beside those of each."""
    totals: dict[str, int] = {}
    typed: list[Gres] = []
    for match in filter(None, map(_TRES.fullmatch, (known(text) or "").split(","))):
        name, count = match["name"], int(match["count"])
        if name in _CLASSES and match["type"]:
            typed.append(Gres(match["type"], count, _CLASSES[name]))
        elif name in _CLASSES:
            totals[name] = count
    rest = {
        name: total - sum(gres.count for gres in typed if gres.accelerator_class == _CLASSES[name])
        for name, total in totals.items()
    }
    return typed + [Gres(None, count, _CLASSES[name]) for name, count in rest.items() if count > 0]


def assign(held: Sequence[Gres], used: Sequence[Gres]) -> tuple[list[int], bool]:
    """Say which devices of a node are in use.

    Args:
        held: the devices of the node, whose ids count through them.
        used: those that jobs hold.

    Returns:
        Their ids, and whether some are assumed, since only a number is known.
    """
    types = [gres.type for gres in held for _ in range(gres.count)]
    taken: set[int] = set()
    is_assumed = False
    for use in used:
        free = [at for at, kind in enumerate(types) if at not in taken and _is_same(kind, use.type)]
        named = [index for index in use.indices if index in free]
        is_told = len(named) == use.count
        taken |= set(named if is_told else free[: use.count])
        is_assumed |= not is_told
    return sorted(taken), is_assumed


def _is_same(kind: str | None, used: str | None) -> bool:
    return kind is None or used is None or kind.lower() == used.lower()


def _indices(more: str) -> tuple[int, ...]:
    if not more.startswith(_INDICES):
        return ()
    return tuple(index for part in more.removeprefix(_INDICES).split(",") for index in _range(part))


def _range(text: str) -> Iterator[int]:
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        return iter(())
    first = int(match[1])
    return iter(range(first, int(match[2] or first) + 1))
