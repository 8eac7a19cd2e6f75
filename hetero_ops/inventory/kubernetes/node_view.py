"""What the readers of the vendors see of a node, and what they answer with."""

from dataclasses import dataclass, field
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import Finding, FindingCode

Device = dict[str, Any]
"""The fields of a device group of the fleet document that tell what the devices are."""

_LONGEST_COUNT = 9


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
        unhealthy: which of the devices are not usable, counted from 0 within the group.
        device: what they are.
        aliases: other keys that give out the same devices, each with its units of a device.
    """

    key: str
    count: int
    slots: int
    unhealthy: frozenset[int]
    device: Device
    aliases: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class NodeView:
    """A node as its labels, annotations and resources tell of it."""

    name: str
    labels: dict[str, str]
    offers: dict[str, Offer]
    catalog: Catalog
    annotations: dict[str, str] = field(default_factory=dict)
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
        return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_COUNT else None

    def group(
        self,
        key: str,
        device: Device,
        slots: int = 1,
        *,
        aliases: tuple[str, ...] = (),
        named_unhealthy: frozenset[int] = frozenset(),
    ) -> Group:
        """Make the group of an offered key.

        Units that pods may not use are unhealthy devices: those that the cluster names, then those with the highest
        ids.

        Args:
            key: the resource key.
            device: what the devices are.
            slots: units of the key for each device.
            aliases: other keys of the same devices.
            named_unhealthy: devices that are named as unhealthy.
        """
        offer = self.offers[key]
        count = -(-offer.capacity // slots)
        missing = min(-(-max(offer.capacity - offer.allocatable, 0) // slots), count)
        named = frozenset(index for index in named_unhealthy if index < count)
        others = [index for index in reversed(range(count)) if index not in named]
        assumed = others[: max(missing - len(named), 0)]
        if assumed:
            self.find(
                "ALLOCATABLE_BELOW_CAPACITY",
                f"{key}: {offer.allocatable} of {offer.capacity} allocatable; {len(assumed)} of {count} devices taken "
                "as unhealthy, those with the highest ids, since the cluster does not say which",
            )
        same = tuple((alias, max(-(-self.offered(alias) // count), 1)) for alias in aliases if count)
        return Group(key, count, slots, named | frozenset(assumed), device, same)
