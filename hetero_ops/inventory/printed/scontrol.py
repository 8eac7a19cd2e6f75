"""`scontrol show node` (Slurm): nodes that name themselves, with what jobs hold of them."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from hetero_ops.document.refusal import refusal
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.draft import MOST_DEVICES
from hetero_ops.inventory.printed.gres import Gres, assign, read_gres, read_tres
from hetero_ops.inventory.printed.printed_value import known, number
from hetero_ops.inventory.printed.product import identify
from hetero_ops.inventory.printed.slurm_state import read_state

_COMMAND = "scontrol show node -d"
_SHAPE = re.compile(r"(?:^|\s)(?:NodeName=\S|CfgTRES=|AllocTRES=|Gres=gpu)")
_KEY = re.compile(r"(?:^|(?<=\s))([A-Za-z_]+)=")
# Their values are free text, with blanks and perhaps with `=` in it. Printed line by line they end with the line; under
# `--oneliner` they end where a key follows that Slurm has.
_FREE_TEXT = ("OS", "Reason", "Comment", "Extra")
_AFTER_FREE_TEXT = (
    *(
        "RealMemory",
        "AllocMem",
        "FreeMem",
        "Sockets",
        "Boards",
        "CoreSpecCount",
        "State",
        "NextState",
        "ThreadsPerCore",
    ),
    *(
        "TmpDisk",
        "Weight",
        "Owner",
        "MCS_label",
        "Partitions",
        "BootTime",
        "SlurmdStartTime",
        "LastBusyTime",
        "CfgTRES",
    ),
    *("AllocTRES", "CapWatts", "CurrentWatts", "AveWatts", "ExtSensorsJoules", "Reason", "Comment", "Extra"),
    *("ReservationName", "InstanceId", "InstanceType", "Topology"),
)
_CPU_MILLI = 1000


def recognises(text: str) -> bool:
    """Tell whether a text is output of `scontrol show node`, or a part of it."""
    return _SHAPE.search(text) is not None


def read(text: str, node: str, catalog: Catalog) -> Fragment:
    """Read nodes of Slurm; each says its own name.

    Which devices jobs hold is told by `GresUsed`, printed with `-d`, alone; from counts they are assumed, and marked.

    Args:
        text: what was printed.
        node: not used.
        catalog: the known accelerators.

    Raises:
        InvalidDocument: no node is named.
    """
    del node
    blocks = list(_blocks(text))
    if not blocks:
        raise refusal(_numbers(text), f"give the output of `{_COMMAND}`, which names the nodes")
    findings: list[Finding] = []
    nodes: dict[str, dict[str, Any]] = {}
    for values in blocks:
        name = values["NodeName"].split()[0]
        if not name.isprintable():
            raise refusal("a node name with control characters", f"give the output of `{_COMMAND}` as it was printed")
        if name in nodes:
            findings.append(Finding("TEXT_LEFT_OVER", name, "the node is printed twice; the first counts"))
        else:
            nodes[name] = _node(name, values, catalog, findings)
    return Fragment(tuple(nodes.values()), tuple(findings))


def _blocks(text: str) -> Iterator[dict[str, str]]:
    """Cut the text at `NodeName=`; what stands before the first is not of any node."""
    starts = [match.start() for match in re.finditer(r"(?:^|(?<=\s))NodeName=(?=\S)", text)]
    for start, end in pairwise([*starts, len(text)]):
        block = text[start:end].strip()
        values: dict[str, str] = {}
        lines = block.splitlines()
        for line in lines:
            for key, value in _pairs(line.strip(), is_alone=len(lines) == 1):
                values.setdefault(key, value)
        yield values


def _pairs(line: str, *, is_alone: bool) -> Iterator[tuple[str, str]]:
    keys = list(_KEY.finditer(line))
    while keys:
        key = keys.pop(0)
        if key[1] in _FREE_TEXT:
            while keys and not (is_alone and keys[0][1] in _AFTER_FREE_TEXT):
                keys.pop(0)
        yield key[1], line[key.end() : keys[0].start() if keys else len(line)].strip()


def _node(name: str, values: dict[str, str], catalog: Catalog, findings: list[Finding]) -> dict[str, Any]:
    labels = {
        "slurm/features": known(values.get("ActiveFeatures") or values.get("AvailableFeatures")),
        "slurm/partitions": known(values.get("Partitions")),
        "slurm/reservation": known(values.get("ReservationName")),
    }
    state = read_state(values.get("State", ""), name, values.get("Reason"), findings)
    cpus, memory = number(values.get("CPUTot")), number(values.get("RealMemory"))
    held = _held(name, values, findings)
    node: dict[str, Any] = {
        "name": name,
        "labels": {key: label for key, label in labels.items() if label},
        "state": state,
        "cpu_milli": cpus * _CPU_MILLI if cpus else None,
        "memory_mib": memory or None,
        "devices": _devices(name, held, catalog, findings),
    }
    node = {key: value for key, value in node.items() if value not in (None, {}, [])}
    return node | {"used": _used(name, values, held, findings)}


def _devices(name: str, held: list[Gres], catalog: Catalog, findings: list[Finding]) -> list[dict[str, Any]]:
    devices: list[dict[str, Any]] = []
    for gres in held:
        names = [gres.type] if gres.type else []
        product = identify(catalog, names, accelerator_class=gres.accelerator_class)
        if product.doubt:
            code, message = product.doubt
            findings.append(Finding(code, name, f"{gres.count} {gres.accelerator_class.upper()}s: {message}"))
        devices += [{"id": len(devices) + index, **product.fields} for index in range(gres.count)]
    return devices


def _held(name: str, values: dict[str, str], findings: list[Finding]) -> list[Gres]:
    held = read_gres(values.get("Gres"), name, findings) or read_tres(values.get("CfgTRES"))
    count = sum(gres.count for gres in held)
    if count <= MOST_DEVICES:
        return [gres for gres in held if gres.count]
    message = f"{count} devices are more than a node has (at most {MOST_DEVICES}); left out"
    findings.append(Finding("TEXT_LEFT_OVER", name, message))
    return []


def _used(name: str, values: dict[str, str], held: list[Gres], findings: list[Finding]) -> list[dict[str, Any]]:
    used = read_gres(values.get("GresUsed"), name, findings) or read_tres(values.get("AllocTRES"))
    devices, is_assumed = assign(held, used)
    wanted = sum(use.count for use in used)
    if wanted != len(devices):
        findings.append(Finding("USED_BEYOND_FREE", name, f"jobs hold {wanted} GPUs, the node has {len(devices)} such"))
    cpus, memory = number(values.get("CPUAlloc")), number(values.get("AllocMem"))
    use: dict[str, Any] = {
        "owner": "slurm",
        "devices": devices,
        "cpu_milli": cpus * _CPU_MILLI if cpus else None,
        "memory_mib": memory or None,
        "assumed": True if is_assumed and devices else None,
    }
    use = {key: value for key, value in use.items() if value not in (None, [])}
    return [use] if len(use) > 1 else []


def _numbers(text: str) -> str:
    """Say what can be read from a text without a node."""
    found = {key: value for line in text.splitlines() for key, value in _pairs(line.strip(), is_alone=False)}
    total = sum(kind.count for kind in read_gres(found.get("Gres"), "", []) or read_tres(found.get("CfgTRES")))
    held = sum(kind.count for kind in read_gres(found.get("GresUsed"), "", []) or read_tres(found.get("AllocTRES")))
    if not total:
        return "no NodeName in this text, and no GPUs"
    types = {kind.type for kind in read_gres(found.get("Gres"), "", [])} - {None}
    model = ", ".join(sorted(map(str, types))) or "unknown model"
    return f"no NodeName in this text; it tells of {total} GPUs of {model}, {held} in use, {max(total - held, 0)} free"
