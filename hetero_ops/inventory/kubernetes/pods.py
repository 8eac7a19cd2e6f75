"""Pods as use: what each asks of its node, and the devices it is taken to have."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from hetero_ops.document.field import Field
from hetero_ops.inventory.finding import Finding, FindingCode
from hetero_ops.inventory.kubernetes.node import ReadNode, is_device_key
from hetero_ops.inventory.kubernetes.quantity import cpu_milli, mebibytes, units

_TERMINAL_PHASES = ("Succeeded", "Failed")
_WHOLE = 1000

Amounts = Counter[str]


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that holds something on a node."""

    owner: str
    node: str
    amounts: Amounts
    since: str | None
    priority: int | None
    uses_claims: bool


def read_pod(pod: Field) -> Pod | None:
    """Read a pod; `None` for one that holds nothing: not bound to a node, or ended.

    Raises:
        InvalidDocument: a field has the wrong type.
    """
    node, phase = pod.get("spec", "nodeName").string(), pod.get("status", "phase").string()
    if not node or phase in _TERMINAL_PHASES:
        return None
    name, namespace = pod.get("metadata", "name").string(), pod.get("metadata", "namespace").string()
    if not name:
        raise pod.get("metadata", "name").refuse("a pod without metadata.name", "give the output as it was printed")
    priority = pod.get("spec", "priority").integer()
    return Pod(
        owner=f"pod {namespace or 'default'}/{name}",
        node=node,
        amounts=_amounts(pod.get("spec")),
        since=pod.get("status", "startTime").string(),
        priority=priority or None,
        uses_claims=bool(pod.get("spec", "resourceClaims").items()),
    )


def _amounts(spec: Field) -> Amounts:
    """Sum up as the scheduler does: all containers and sidecars at once, or the largest init container before them."""
    running = _sum(_requests(container.get("resources")) for container in spec.get("containers").items())
    sidecars, largest = Amounts(), Amounts()
    for container in spec.get("initContainers").items():
        asked = _requests(container.get("resources"))
        if container.get("restartPolicy").string() == "Always":
            sidecars = sidecars + asked
            largest |= sidecars
        else:
            largest |= sidecars + asked
    total = (running + sidecars) | largest
    # Resources of the pod as a whole, where given, stand for the sum.
    whole = _requests(spec.get("resources"))
    total.update({key: whole[key] - total[key] for key in whole})
    return total + _read_amounts(spec.get("overhead"))


def _sum(amounts: Iterable[Amounts]) -> Amounts:
    total = Amounts()
    for each in amounts:
        total += each
    return total


def _requests(resources: Field) -> Amounts:
    """Read the requests; where there is none, a limit stands for it."""
    limits, requests = _read_amounts(resources.get("limits")), _read_amounts(resources.get("requests"))
    return Amounts({**limits, **requests})


def _read_amounts(field: Field) -> Amounts:
    amounts = Amounts()
    for key, amount in field.fields():
        read = _reader(key)
        if read is not None:
            amounts[key] = read(amount) or 0
    return amounts


def _reader(key: str) -> Callable[[Field], int | None] | None:
    if key == "cpu":
        return cpu_milli
    if key == "memory":
        return mebibytes
    return units if "/" in key else None


@dataclass(slots=True)
class _Stock:
    """The devices behind one resource key: which units of which are taken."""

    first: int
    slots: int
    taken: list[int]

    def take(self, wanted: int) -> dict[int, int]:
        """Take units, each from the least taken device and among those from the lowest id: units by device id."""
        got: Counter[int] = Counter()
        while wanted > got.total():
            free = sorted((taken, index) for index, taken in enumerate(self.taken) if taken < self.slots)
            if not free:
                break
            for _, index in free[: wanted - got.total()]:
                self.taken[index] += 1
                got[index] += 1
        return {self.first + index: units for index, units in sorted(got.items())}


@dataclass(slots=True)
class NodeUse:
    """Books pods on one node."""

    node: ReadNode
    used: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    stocks: dict[str, _Stock] = field(init=False)

    def __post_init__(self) -> None:
        self.stocks = {}
        first = 0
        for group in self.node.groups:
            self.stocks[group.key] = _Stock(first, min(group.slots, _WHOLE), [0] * group.count)
            first += group.count

    def book(self, pod: Pod) -> None:
        """Add the use of one pod; which devices it has the cluster does not tell, so they are marked as assumed."""
        shares: dict[int, list[int]] = {}
        for key, wanted in sorted(pod.amounts.items()):
            if "/" in key and wanted > 0:
                self._take(pod, key, wanted, shares)
        if pod.uses_claims:
            self._find("CLAIM_NOT_READ", f"{pod.owner} has ResourceClaims: their devices are not seen as used")
        amounts = {"cpu_milli": pod.amounts["cpu"], "memory_mib": pod.amounts["memory"]}
        amounts = {name: amount for name, amount in amounts.items() if amount}
        more = {"since": pod.since, "priority": pod.priority}
        common = {"owner": pod.owner} | {name: value for name, value in more.items() if value}
        # A use has one share for all its devices: devices held in different shares are uses of their own.
        for share, devices in sorted(shares.items(), reverse=True):
            is_part = {} if share == _WHOLE else {"share_milli": share}
            self.used.append(common | {"devices": sorted(devices)} | is_part | amounts | {"assumed": True})
            amounts = {}
        if amounts:
            self.used.append(common | amounts)

    def _take(self, pod: Pod, key: str, wanted: int, shares: dict[int, list[int]]) -> None:
        stock = self.stocks.get(key)
        taken = {} if stock is None else stock.take(wanted)
        for device, count in taken.items():
            share = max(count * _WHOLE // stock.slots, 1) if stock else _WHOLE
            shares.setdefault(share, []).append(device)
        got = sum(taken.values())
        if got < wanted and is_device_key(key):
            self._find("USED_BEYOND_FREE", f"{pod.owner} uses {wanted} of {key}, where {got} were free")

    def _find(self, code: FindingCode, message: str) -> None:
        self.findings.append(Finding(code, self.node.name, message))
