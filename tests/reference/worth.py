"""What the free capacity of a node is worth to the mix, class by class, without any grouping.

Counts are integers; the factors are floats that are rounded down once, computed in the order of the core.
"""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from tests.reference.fragmentation import Mix, free_total, sets_of
from tests.reference.model import JSON, Device, Fleet, Node, booked

_SCALE = 2.0**24
_MOST_TIMES = 256.0
Shares = tuple[tuple[object, int], ...]
# Classes that ask the same of devices and CPU count as one.
Key = tuple[int, bool, Shares, int]


class Worth:
    """The worth of nodes of a fleet in its present state."""

    def __init__(self, fleet: Fleet, mix: Mix) -> None:
        self._classes: dict[Key, JSON] = {}
        self._weights: defaultdict[Key, int] = defaultdict(int)
        cpu = devices = 0
        for choice, weight in mix:
            shares = _shares(fleet, choice)
            if choice["count"] == 0 or shares:
                cpu += weight * choice["cpu_milli"]
            if choice["count"] and shares:
                smallest = min(share for _, share in shares)
                devices += weight * choice["count"] * smallest
                key = (choice["count"], choice["count"] > 1 and bool(choice["link"]), shares, choice["cpu_milli"])
                self._classes[key] = choice
                self._weights[key] += weight * 1_000_000 // smallest
        self._cpu_per_milli = cpu / devices if cpu and devices else None
        self._settle(fleet)

    def _settle(self, fleet: Fleet) -> None:
        open_nodes = [(node, node.free_shares(), node.free_cpu_milli) for node in fleet.nodes if node.state == "active"]
        free, weights = float(free_total(fleet)), sum(self._weights.values())
        fed = float(sum(self._fed(milli, cpu) for _, milli, cpu in open_nodes))
        self._factors = {}
        for key, choice in self._classes.items():
            scale = _SCALE * (self._weights[key] / weights)
            usable = _times(free, sum(_usable(*node, choice) for node in open_nodes))
            fillable = _times(fed, sum(_fillable(*node, choice) for node in open_nodes))
            self._factors[key] = (int(2.0 * scale * usable), int(1.0 * scale * (fillable * fillable)))
        self._fed_factor = int(2.0 * _SCALE * (_times(free, fed) * _times(free, fed)))

    def of(self, node: Node, free: Mapping[int, int], cpu_milli: int | None) -> int:
        """In units of 2^-24 fifths of a thousandth of a device."""
        total = self._fed_factor * self._fed(free, cpu_milli)
        for key, choice in self._classes.items():
            usable, fillable = self._factors[key]
            total += usable * _usable(node, free, cpu_milli, choice) + fillable * _fillable(
                node, free, cpu_milli, choice
            )
        return total

    def lost_milli(self, node: Node, chosen: tuple[Device, ...], choice: JSON) -> Fraction:
        """What a step on these devices costs, thousandths of a device that every step of the mix could use."""
        free, cpu = node.free_shares(), node.free_cpu_milli
        before = self.of(node, free, cpu)
        for device in chosen:
            free[device.id] -= booked(choice, device)
        after = self.of(node, free, None if cpu is None else cpu - choice["cpu_milli"])
        return Fraction(max(before - after, 0), 5 * int(_SCALE))

    def _fed(self, free: Mapping[int, int], cpu_milli: int | None) -> int:
        shares = sum(free.values())
        if self._cpu_per_milli is None or cpu_milli is None:
            return shares
        return min(shares, int(cpu_milli / self._cpu_per_milli))


def _shares(fleet: Fleet, choice: JSON) -> Shares:
    """The share that a class takes of every kind of device that can serve it."""
    serving = (devices for node in fleet.nodes for devices in sets_of(node, _WholeDevices(), choice | {"link": None}))
    kinds = {devices[0].kind: booked(choice, devices[0]) for devices in serving}
    return tuple(sorted(kinds.items(), key=repr))


class _WholeDevices(dict[int, int]):
    def __missing__(self, _: int) -> int:
        return 1000


def _times(free: float, good: float) -> float:
    return min(free / good, _MOST_TIMES) if good else 0.0


def _has_room(free: Mapping[int, int], devices: list[Device], choice: JSON) -> list[int]:
    """What each of the steps that fit on these devices together would take, whatever their CPU."""
    share, count = booked(choice, devices[0]), choice["count"]
    slots = sum(free[device.id] // share for device in devices) if count == 1 else len(devices) // count
    return [share * count] * slots


def _usable(node: Node, free: Mapping[int, int], cpu_milli: int | None, choice: JSON) -> int:
    if cpu_milli is not None and cpu_milli < choice["cpu_milli"]:
        return 0
    sets = sets_of(node, free, choice)
    return sum(free[device.id] for devices in sets if len(devices) >= choice["count"] for device in devices)


def _fillable(node: Node, free: Mapping[int, int], cpu_milli: int | None, choice: JSON) -> int:
    steps = [step for devices in sets_of(node, free, choice) for step in _has_room(free, devices, choice)]
    if cpu_milli is None or choice["cpu_milli"] == 0 or not steps:
        return sum(steps)
    return min(sum(steps), cpu_milli // choice["cpu_milli"] * max(steps))
