"""What the next try of a step must not get: nodes and devices that failed it. Carried from try to try as JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

from hetero_ops._core import Fleet as CoreFleet
from hetero_ops.errors import InvalidDocument, StalePlacement
from hetero_ops.inventory.device_list import expand
from hetero_ops.placement.fleet import Fleet


class NodePlace(NamedTuple):
    """A node of a cluster."""

    cluster: str
    node: str


class DevicePlace(NamedTuple):
    """A device of a node, by its id in the fleet document."""

    cluster: str
    node: str
    device: int


@dataclass(frozen=True, slots=True)
class Excluded:
    """Nodes and devices, each once and in order.

    Attributes:
        nodes: whole nodes.
        devices: single devices.
    """

    nodes: tuple[NodePlace, ...] = ()
    devices: tuple[DevicePlace, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(sorted(set(self.nodes))))
        object.__setattr__(self, "devices", tuple(sorted(set(self.devices))))

    def __or__(self, other: "Excluded") -> "Excluded":
        """What either of them excludes."""
        return Excluded((*self.nodes, *other.nodes), (*self.devices, *other.devices))

    def __bool__(self) -> bool:
        return bool(self.nodes or self.devices)

    def __str__(self) -> str:
        """For a log, as `node nv-01, device 3 of nv-02`."""
        nodes = [f"node {place.node}" for place in self.nodes]
        return ", ".join([*nodes, *(f"device {place.device} of {place.node}" for place in self.devices)]) or "nothing"

    def to_json(self) -> str:
        """As JSON that `from_json` reads."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Reads what `to_json` wrote.

        Raises:
            InvalidDocument: this is something else.
        """
        try:
            given = json.loads(text)
            nodes = tuple(NodePlace(str(cluster), str(node)) for cluster, node in given["nodes"])
            devices = tuple(DevicePlace(str(c), str(n), int(device)) for c, n, device in given["devices"])
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidDocument(f"no list of what is excluded: {error}; pass on what `to_json` wrote") from None
        return cls(nodes, devices)


def without(fleet: Fleet, excluded: Excluded) -> Fleet:
    """The same fleet, in which excluded nodes are cordoned and excluded devices are unhealthy.

    What the document says to be in use there stays in use; nothing is placed there. What the fleet does not have is
    not looked for: it may be gone. Exclude before committing, and before a `FleetView` is made of the fleet.

    Raises:
        StalePlacement: something of what is excluded is held in this fleet.
    """
    if not excluded:
        return fleet
    snapshot = json.loads(fleet.to_json())
    for cluster in snapshot["document"]["clusters"]:
        for node in cluster.get("nodes", []):
            _mark(cluster["name"], node, excluded)
    try:
        return Fleet(CoreFleet.from_json(json.dumps(snapshot).encode()), fleet.catalog)
    except StalePlacement:
        raise StalePlacement(
            f"{excluded}: held in this fleet; exclude before you commit, or release it first"
        ) from None


def _mark(cluster: str, node: dict[str, Any], excluded: Excluded) -> None:
    if NodePlace(cluster, node["name"]) in excluded.nodes and node.get("state", "active") == "active":
        node["state"] = "cordoned"
    bad = {place.device for place in excluded.devices if place[:2] == (cluster, node["name"])}
    if bad:
        node["devices"] = expand(node.get("devices", []))
        for device in node["devices"]:
            if device["id"] in bad:
                device["health"] = "unhealthy"
