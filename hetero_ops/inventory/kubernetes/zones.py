"""NodeResourceTopology: how the resources of a node are spread over its NUMA nodes.

Source: node-feature-discovery, topology updater; scheduler-plugins for the names of the older policies. An object may
lag behind its node by a minute, and only what pods of class Guaranteed hold is subtracted from `available`.
"""

import re
from dataclasses import dataclass

from hetero_ops.document.field import Field
from hetero_ops.inventory.kubernetes.quantity import cpu_milli, mebibytes, units

_NUMBER = re.compile(r".*?(\d{1,4})")
_READERS = {"cpu": cpu_milli, "memory": mebibytes}
# `topologyPolicies` of v1alpha1 (still written by some publishers) in the words of the kubelet: policy and scope.
_POLICIES: dict[str, tuple[str, str | None]] = {
    "None": ("none", None),
    "BestEffort": ("best-effort", None),
    "BestEffortContainerLevel": ("best-effort", "container"),
    "BestEffortPodLevel": ("best-effort", "pod"),
    "Restricted": ("restricted", None),
    "RestrictedContainerLevel": ("restricted", "container"),
    "RestrictedPodLevel": ("restricted", "pod"),
    "SingleNUMANodeContainerLevel": ("single-numa-node", "container"),
    "SingleNUMANodePodLevel": ("single-numa-node", "pod"),
}


@dataclass(frozen=True, slots=True)
class Amount:
    """A resource of one zone: CPU in thousandths, memory in MiB, anything else in units."""

    capacity: int
    allocatable: int
    available: int


@dataclass(frozen=True, slots=True)
class Zone:
    """A NUMA node.

    Attributes:
        name: as published, `node-0`.
        number: the NUMA number in it; `None` when the name has none.
        resources: by resource key.
        distances: to other zones by name; 10 is the zone itself.
    """

    name: str
    number: int | None
    resources: dict[str, Amount]
    distances: dict[str, int]


@dataclass(frozen=True, slots=True)
class Zones:
    """A NodeResourceTopology as read.

    Attributes:
        node: the node it is of.
        zones: its NUMA nodes in the order of their numbers, then names.
        policy: the topology policy of the kubelet, as `single-numa-node`; `None` when not said.
        scope: `container` or `pod`; `None` when not said.
    """

    node: str
    zones: tuple[Zone, ...]
    policy: str | None
    scope: str | None

    def total(self, key: str) -> Amount | None:
        """Sum up a resource over the zones; `None` where no zone has it."""
        found = [zone.resources[key] for zone in self.zones if key in zone.resources]
        if not found:
            return None
        return Amount(
            sum(each.capacity for each in found),
            sum(each.allocatable for each in found),
            sum(each.available for each in found),
        )

    def numa(self, key: str, offered: int, slots: int) -> list[int] | None:
        """Give the NUMA node of each device behind a resource key, in the order of the zones.

        Args:
            key: the resource key.
            offered: units of the key that the node itself offers.
            slots: units of each device.

        Returns:
            `None` where no zone has the key.

        Raises:
            ValueError: the zones contradict the node; the message says why.
        """
        here = [(zone, zone.resources[key].capacity) for zone in self.zones if key in zone.resources]
        if not here:
            return None
        if any(zone.number is None for zone, _ in here):
            raise ValueError("a zone has no number in its name")
        if sum(count for _, count in here) != offered:
            raise ValueError(f"its zones have {sum(count for _, count in here)} of {key}, the node {offered}")
        if any(count % slots for _, count in here):
            raise ValueError(f"a device of {key} is in two zones")
        return [zone.number for zone, count in here for _ in range(count // slots) if zone.number is not None]


def read_zones(item: Field) -> Zones:
    """Read one NodeResourceTopology; of its zones those of type Node.

    Raises:
        InvalidDocument: a field has the wrong type, or the object has no name.
    """
    name = item.get("metadata", "name").string()
    if not name:
        raise item.get("metadata", "name").refuse("a NodeResourceTopology without a name", "give the whole object")
    zones = [_zone(zone) for zone in item.get("zones").items() if zone.get("type").string() == "Node"]
    zones.sort(key=lambda zone: (zone.number is None, zone.number, zone.name))
    policy, scope = _policy(item)
    return Zones(name, tuple(zones), policy, scope)


def _policy(item: Field) -> tuple[str | None, str | None]:
    said = {entry.get("name").string(): entry.get("value").string() for entry in item.get("attributes").items()}
    old = [entry.string() or "" for entry in item.get("topologyPolicies").items()]
    policy, scope = next((_POLICIES[name] for name in old if name in _POLICIES), (None, None))
    return said.get("topologyManagerPolicy") or policy, said.get("topologyManagerScope") or scope


def _zone(zone: Field) -> Zone:
    name = zone.get("name").string() or ""
    match = _NUMBER.fullmatch(name)
    resources: dict[str, Amount] = {}
    for resource in zone.get("resources").items():
        key = resource.get("name").string()
        read = _READERS.get(key or "", units)
        amounts = [read(resource.get(part)) for part in ("capacity", "allocatable", "available")]
        known = [amount for amount in amounts if amount is not None]
        if key and known:
            # Where one is missing, the next that is known stands for it.
            capacity, allocatable, available = (known[0] if amount is None else amount for amount in amounts)
            resources[key] = Amount(capacity, allocatable, available)
    distances = {
        to: value
        for cost in zone.get("costs").items()
        if (to := cost.get("name").string()) and (value := units(cost.get("value"))) is not None
    }
    return Zone(name, int(match[1]) if match else None, resources, distances)
