"""The readers of all vendors, asked as one: a vendor that is absent never disturbs another."""

from typing import Protocol

from hetero_ops.inventory.kubernetes import amd, cambricon, huawei, intel, nvidia, other
from hetero_ops.inventory.kubernetes.node_view import Group, NodeView


class _Reader(Protocol):
    """What each vendor's module has."""

    def read(self, node: NodeView) -> list[Group]: ...

    def owns(self, key: str) -> bool: ...


# In the order of device ids on a node of several vendors.
_READERS: tuple[_Reader, ...] = (nvidia, amd, intel, huawei, cambricon, other)
_WITH_DRIVER = (nvidia, amd, huawei, cambricon)
_WITH_COMPANIONS = (huawei, cambricon)
_WITH_COUNTS = (nvidia, amd, intel)


def read_groups(node: NodeView) -> list[Group]:
    """Read the devices of a node, vendor by vendor."""
    return [group for reader in _READERS for group in reader.read(node)]


def is_device_key(key: str) -> bool:
    """Tell whether the units of a resource key are devices."""
    return any(reader.owns(key) for reader in _READERS)


def drivers(labels: dict[str, str], groups: list[Group]) -> dict[str, str]:
    """Read the driver versions of the vendors whose devices are there."""
    versions: dict[str, str] = {}
    for reader in _WITH_DRIVER:
        if any(reader.owns(group.key) for group in groups):
            versions |= reader.driver(labels)
    return versions


def offers_of_labels(node: NodeView) -> dict[str, int]:
    """Give the units by resource key that labels alone tell of."""
    return {key: count for reader in _WITH_COUNTS for key, count in reader.label_offers(node).items()}


def find_strangers(node: NodeView) -> None:
    """Note extended resources that nobody here knows."""
    known = {key for key in node.offers if is_device_key(key)}
    known |= {key for key in node.offers if any(reader.is_companion(key) for reader in _WITH_COMPANIONS)}
    other.find_strangers(node, known)
