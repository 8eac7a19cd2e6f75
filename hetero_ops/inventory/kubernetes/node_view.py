"""What the readers of the vendors see of a node, and what they answer with."""

from dataclasses import dataclass, field
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import Finding, FindingCode

Device = dict[str, Any]
"""The fields of a device group of the fleet document that tell what the devices are."""


@dataclass(frozen=True, slots=True)
class Offer:
    """How many units of one resource key a node has, and how many of them pods may use."""

    capacity: int
    allocatable: int


@dataclass(frozen=True, slots=True)
class Group:
    """Devices of one kind that pods ask for by one resource key.

    Attributes:
        key: the resource key.
        count: devices, as the fleet document counts them.
        slots: units of the key that each device has; more than one where devices are shared in time.
        unhealthy: how many of the devices are not usable.
        device: what they are.
    """

    key: str
    count: int
    slots: int
    unhealthy: int
    device: Device


@dataclass(slots=True)
class NodeView:
    """A node as its labels and resources tell of it."""

    name: str
    labels: dict[str, str]
    offers: dict[str, Offer]
    catalog: Catalog
    findings: list[Finding] = field(default_factory=list)

    def find(self, code: FindingCode, message: str) -> None:
        """Note something that a person should look at."""
        self.findings.append(Finding(code, self.name, message))

    def offered(self, key: str) -> int:
        """Units of a key; 0 where the key is absent or a leftover of an earlier configuration."""
        offer = self.offers.get(key)
        return 0 if offer is None else offer.capacity

    def number(self, label: str) -> int | None:
        """Read a label that counts; `None` when it is absent or no number."""
        text = self.labels.get(label, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < len("1000000000") else None

    def group(self, key: str, device: Device, slots: int = 1) -> Group:
        """Make the group of an offered key; units that pods may not use are unhealthy devices."""
        offer = self.offers[key]
        count = -(-offer.capacity // slots)
        missing = max(offer.capacity - offer.allocatable, 0)
        unhealthy = min(-(-missing // slots), count)
        if unhealthy:
            self.find(
                "ALLOCATABLE_BELOW_CAPACITY",
                f"{key}: {offer.allocatable} of {offer.capacity} allocatable; {unhealthy} of {count} devices taken as "
                "unhealthy, those with the highest ids, since the cluster does not say which",
            )
        return Group(key, count, slots, unhealthy, device)
