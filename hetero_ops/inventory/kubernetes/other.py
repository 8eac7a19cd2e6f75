"""Every other accelerator that is offered by a resource key of its own: one row of the table each."""

from hetero_ops.inventory.kubernetes.labels import COMPANION_KEYS, OTHER_DOMAINS, RESOURCE_KEYS
from hetero_ops.inventory.kubernetes.model import identify
from hetero_ops.inventory.kubernetes.node_view import Group, NodeView


def read(node: NodeView) -> list[Group]:
    """Read the devices of a node that the table knows."""
    return [_devices(node, key) for key in RESOURCE_KEYS if _is_counted(node, key)]


def find_strangers(node: NodeView, owned: set[str]) -> None:
    """Note extended resources that nobody here knows: an accelerator among them would be missing."""
    for key in sorted(node.offers.keys() - owned - COMPANION_KEYS - RESOURCE_KEYS.keys()):
        domain, slash, _ = key.partition("/")
        is_own = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
        if slash and not is_own and domain not in OTHER_DOMAINS and node.offered(key):
            node.find("UNKNOWN_RESOURCE", f"{key}: {node.offered(key)} offered; not known as an accelerator, left out")


def _is_counted(node: NodeView, key: str) -> bool:
    first = RESOURCE_KEYS[key].instead_of
    return bool(node.offered(key)) and not (first and node.offered(first))


def _devices(node: NodeView, key: str) -> Group:
    row = RESOURCE_KEYS[key]
    discovered = [row.chip] if row.chip else []
    return node.group(key, identify(node, row.vendor, row.accelerator_class, key, discovered))
