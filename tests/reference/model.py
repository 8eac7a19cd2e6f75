"""A fleet as plain objects: a device knows all that a decision may ask of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hetero_ops.gap.catalog import Catalog

WHOLE = 1000
JSON = dict[str, Any]
RACK = ("hetero-ops/rack", "topology.kubernetes.io/rack", "rack")
ZONE = ("topology.kubernetes.io/zone", "zone")


@dataclass
class Device:
    """One device. `free` is in thousandths; an unhealthy device has nothing free."""

    id: int
    sku: str | None
    vendor: str | None
    model: str | None
    accelerator_class: str | None
    partition: str | None
    nominal_mib: int | None
    usable_mib: int | None
    profile: JSON
    numa: int | None
    is_healthy: bool
    resource_keys: frozenset[str]
    island: int | None = None
    switch: int | None = None
    nic: bool | None = None
    card: str | None = None
    free: int = WHOLE
    is_virtual: bool = False
    oversubscribe: int = WHOLE
    guard: int | None = None
    asked: list[tuple[int, int]] = field(default_factory=list)
    bound: list[tuple[str, int]] = field(default_factory=list)
    is_full: bool = False
    read_mw: int | None = None
    free_when_read: int | None = None
    may_be_cut: bool = False
    # The cluster, where pools share that.
    shared_by: str | None = None
    parts: list["Device"] = field(default_factory=list)

    @property
    def kind(self) -> tuple[object, ...]:
        """Devices of one kind are one model, one partition and one memory size."""
        what = (self.sku, self.vendor, self.model, self.accelerator_class)
        pooled = (self.usable_mib, self.oversubscribe, self.guard, self.shared_by)
        return (*what, self.partition, self.is_virtual, self.nominal_mib, *pooled)


@dataclass
class Node:
    """One node; `None` is unknown."""

    cluster: str
    name: str
    state: str
    taints: frozenset[str]
    cpu_milli: int | None
    memory_mib: int | None
    devices: list[Device]
    free_cpu_milli: int | None = None
    free_memory_mib: int | None = None
    region: str | None = None
    compliance: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()
    weight_milli: int = WHOLE
    labels: dict[str, str] = field(default_factory=dict)
    drivers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    runtime: frozenset[str] = frozenset()
    rdma: frozenset[str] = frozenset()
    prices_milli: dict[str, int] = field(default_factory=dict)
    power_budget_mw: int | None = None
    rack_budget_mw: int | None = None
    rack_nodes: list["Node"] = field(default_factory=list)

    def label(self, *keys: str) -> str | None:
        """The first of these labels that the node has."""
        return next((self.labels[key] for key in keys if key in self.labels), None)

    def domain(self, spread: str) -> tuple[str | None, ...] | None:
        """What a step may be spread over; `None` is unknown."""
        rack = self.label(*RACK)
        power = self.label("hetero-ops/power-domain", "power-domain")
        domains: dict[str, tuple[str | None, ...] | None] = {
            "node": (self.cluster, self.name),
            "rack": None if rack is None else (self.cluster, self.label(*ZONE), rack),
            "power": None if power is None else (self.cluster, power),
        }
        return domains[spread]

    def zone(self) -> tuple[str | None, ...]:
        """A rack without a zone is a zone of its own, and so is a node without both."""
        name = self.label(*ZONE)
        return (
            (self.cluster, name) if name is not None else ("none", *(self.domain("rack") or (self.cluster, self.name)))
        )

    def free_shares(self) -> dict[int, int]:
        """Free share by device id."""
        return {device.id: device.free for device in self.devices}


@dataclass(frozen=True)
class TeamUse:
    """Shares of devices that a team uses, thousandths."""

    team: str
    device: Device
    milli: int


@dataclass
class Fleet:
    """All nodes."""

    nodes: list[Node] = field(default_factory=list)
    limits: list[JSON] = field(default_factory=list)
    # By the place of a limit: thousandths of an hour that were spent of a budget.
    spent: dict[int, int] = field(default_factory=dict)
    team_uses: list[TeamUse] = field(default_factory=list)
    team_nodes: list[tuple[str, Node]] = field(default_factory=list)
    # In any cluster, those without nodes included.
    data: frozenset[str] = frozenset()
    # Clusters that pools share, by name; and of each use there: cluster, pool, device, thousandths.
    shared: dict[str, JSON] = field(default_factory=dict)
    pool_uses: list[tuple[str, str | None, Device, int]] = field(default_factory=list)

    def devices(self) -> Iterator[Device]:
        """All devices of all nodes."""
        return (device for node in self.nodes for device in node.devices)


@dataclass(frozen=True)
class Reason:
    """Why one node cannot take one choice."""

    choice_index: int
    code: str
    node: tuple[str, str]
    have: int | None
    want: int | None
    is_permanent: bool


@dataclass(frozen=True)
class Answer:
    """What the reference answers: node and devices where it fits, the reasons of every refused choice."""

    verdict: str
    reasons: frozenset[Reason]
    choice_index: int | None = None
    node: tuple[str, str] | None = None
    devices: tuple[int, ...] = ()
    parts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    score: Fraction | None = None
    cut: Any = None


def holds(locations: Iterable[str], wanted: str) -> bool:
    """Whether data is among what lies at some locations: at one of them, or below one."""
    path = wanted.rstrip("/").split("/")
    return any(path[: len(held)] == held for held in (location.rstrip("/").split("/") for location in locations))


def total(choice: JSON) -> int:
    """Devices on all nodes; a choice that is one node's part of several counts those of one."""
    return int(choice["count"]) * (int(choice.get("peers", 0)) + 1)


def share_of(choice: JSON, nominal_mib: int | None) -> int:
    """The share of a device that a choice takes: as stated, or as much as holds the memory that is wanted."""
    wanted = choice.get("share_memory_mib")
    if wanted is None:
        return int(choice["share_milli"])
    return min(max(-(-wanted * WHOLE // nominal_mib), 1), WHOLE) if nominal_mib else WHOLE


def booked(choice: JSON, device: Device) -> int:
    """The share of a device that a choice books: less where compute is oversubscribed, but enough for its memory."""
    asked = share_of(choice, device.nominal_mib)
    if asked == WHOLE or choice.get("share_memory_mib") is not None or device.oversubscribe == WHOLE:
        return asked
    part = -(-asked * WHOLE // device.oversubscribe)
    if device.oversubscribe % asked == 0:  # so many equal shares fit, and no more
        equal = device.oversubscribe // asked
        part = min(part, max(WHOLE // equal, WHOLE // (equal + 1) + 1))
    for_memory = 0
    if choice["memory_floor_mib"] is not None and device.nominal_mib:
        for_memory = -(-choice["memory_floor_mib"] * WHOLE // device.nominal_mib)
    return min(max(part, for_memory, 1), asked)


def alike(choice: JSON, chosen: Iterable[Device]) -> int:
    """What shares that are bound by the same as a choice have of devices, thousandths."""
    return sum(milli for device in chosen for bound, milli in device.bound if bound == choice.get("bound"))


def without_nic(choice: JSON, chosen: Iterable[Device]) -> int:
    """Devices without a network card on their PCIe root, where a choice prefers them with one."""
    return sum(not device.nic for device in chosen) if choice.get("prefers_nic") else 0


def room(choice: JSON, device: Device) -> int:
    """What is free of a device as far as a choice can use it: nothing where memory is short for a share."""
    share, wanted, usable = booked(choice, device), choice.get("share_memory_mib"), device.usable_mib
    if share == WHOLE:
        return device.free
    if device.is_full:
        return 0
    if usable is None or (wanted is None and not device.asked):
        return device.free
    fractions = max(WHOLE - device.free - sum(milli for _, milli in device.asked), 0)
    in_use = Fraction(fractions * usable, WHOLE) + sum(mib for mib, _ in device.asked)
    more = Fraction(share * usable, WHOLE) if wanted is None else Fraction(min(wanted, usable))
    return device.free if in_use + more <= usable else 0


def nominal_size(usable_mib: int, catalog: Catalog) -> int:
    """The smallest size on the market that is at most 7 % above what a device reports; else that itself."""
    sizes = sorted({profile.memory_mib for profile in catalog if profile.memory_mib})
    return next((size for size in sizes if usable_mib <= size and size * 93 <= usable_mib * 100), usable_mib)
