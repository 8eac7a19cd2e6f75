"""Every other accelerator that is offered by a resource key of its own: one row of the table each."""

from hetero_ops.inventory.kubernetes.model import identify
from hetero_ops.inventory.kubernetes.node_view import Device, Group, NodeView
from hetero_ops.inventory.kubernetes.resource_key import COMPANION_KEYS, OTHER_DOMAINS, RESOURCE_KEYS


def read(node: NodeView) -> list[Group]:
    """Read the devices of a node that the table knows."""
    return [_devices(node, key) for key in RESOURCE_KEYS if node.offered(key) and not _is_counted_already(node, key)]


def owns(key: str) -> bool:
    """Tell whether a resource key is read here."""
    return key in RESOURCE_KEYS


def find_strangers(node: NodeView, known: set[str]) -> None:
    """Note extended resources that nobody here knows: an accelerator among them would be missing."""
    for key in sorted(node.offers.keys() - known - COMPANION_KEYS):
        domain, slash, _ = key.partition("/")
        is_own = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
        if slash and not is_own and domain not in OTHER_DOMAINS and node.offered(key):
            node.find("UNKNOWN_RESOURCE", f"{key}: {node.offered(key)} offered; not known as an accelerator, left out")


def _is_counted_already(node: NodeView, key: str) -> bool:
    first = RESOURCE_KEYS[key].instead_of
    return first is not None and bool(node.offered(first))


def _devices(node: NodeView, key: str) -> Group:
    row = RESOURCE_KEYS[key]
    device = identify(node, row.vendor, row.accelerator_class, key, [(key, row.chip)] if row.chip else [])
    aliases = tuple(other for other in RESOURCE_KEYS if RESOURCE_KEYS[other].instead_of == key and node.offered(other))
    return node.group(key, _as_partition(device, row.partition), aliases=aliases)


def _as_partition(device: Device, partition: str | None) -> Device:
    return device | {"partition": partition} if partition else device
