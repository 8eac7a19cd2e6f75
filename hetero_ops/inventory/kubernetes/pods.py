"""Pods as use: what each asks of its node, and the devices it is taken to have."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hetero_ops.document.field import Field
from hetero_ops.inventory.finding import Finding, FindingCode
from hetero_ops.inventory.kubernetes.node import ReadNode
from hetero_ops.inventory.kubernetes.quantity import cpu_milli, mebibytes, units
from hetero_ops.inventory.kubernetes.vendors import is_device_key

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
    metadata, spec, status = pod.get("metadata"), pod.get("spec"), pod.get("status")
    node = spec.get("nodeName").string()
    if not node or status.get("phase").string() in _TERMINAL_PHASES:
        return None
    name, namespace = metadata.get("name").string(), metadata.get("namespace").string()
    if not name:
        raise metadata.get("name").refuse("a pod without metadata.name", "give the output as it was printed")
    return Pod(
        owner=f"pod {namespace or 'default'}/{name}",
        node=node,
        amounts=_amounts(spec),
        since=status.get("startTime").string(),
        priority=spec.get("priority").integer() or None,
        uses_claims=bool(spec.get("resourceClaims").items()),
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
    """The devices of one group, and how much of each is taken, whatever key it was asked for by."""

    first: int
    unhealthy: frozenset[int]
    taken: list[Fraction]

    def take(self, wanted: int, slots: int) -> dict[int, int]:
        """Take units of which a device has `slots`; give the units by device id.

        Each comes from the least taken device, of those from the lowest id, and from an unhealthy one last.
        """
        got: Counter[int] = Counter()
        unit = Fraction(1, slots)
        while wanted > got.total():
            free = sorted(
                (index in self.unhealthy, taken, index) for index, taken in enumerate(self.taken) if taken + unit <= 1
            )
            if not free:
                break
            for _, _, index in free[: wanted - got.total()]:
                self.taken[index] += unit
                got[index] += 1
        return {self.first + index: units for index, units in sorted(got.items())}


@dataclass(slots=True)
class NodeUse:
    """Books pods on one node."""

    node: ReadNode
    used: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    stocks: dict[str, tuple[_Stock, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.stocks = {}
        first = 0
        for group in self.node.groups:
            stock = _Stock(first, group.unhealthy, [Fraction()] * group.count)
            for key, slots in ((group.key, group.slots), *group.aliases):
                self.stocks[key] = (stock, min(slots, _WHOLE))
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
        stock, slots = self.stocks.get(key, (None, 1))
        taken = {} if stock is None else stock.take(wanted, slots)
        for device, count in taken.items():
            shares.setdefault(max(count * _WHOLE // slots, 1), []).append(device)
        got = sum(taken.values())
        if got < wanted and is_device_key(key):
            self._find("USED_BEYOND_FREE", f"{pod.owner} uses {wanted} of {key}, where {got} were free")

    def _find(self, code: FindingCode, message: str) -> None:
        self.findings.append(Finding(code, self.node.name, message))
