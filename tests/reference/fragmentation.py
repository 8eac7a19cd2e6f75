"""Free capacity that the expected workload cannot use, after Weng et al. (USENIX ATC 2023), in exact fractions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import compile_choice
from hetero_ops.gap.requirement import Requirement
from tests.reference.filtering import misfit_of_device
from tests.reference.model import JSON, Device, Fleet, Node, booked

Mix = list[tuple[JSON, int]]


def stated_mix(entries: Sequence[JSON], catalog: Catalog, models: Sequence[str]) -> Mix:
    """The mix of a document: choices and weights."""
    weights = [max(1, round(entry["weight"] * 1_000_000)) for entry in entries]
    choices = [Requirement.parse(entry["request"]).choices[0] for entry in entries]
    compiled = [compile_choice(choice, catalog, models) for choice in choices]
    return list(zip(compiled, weights, strict=True))


def default_mix(fleet: Fleet, blank: JSON) -> Mix:
    """Steps of 1, 2, 4, ... devices up to the largest island of each kind, whose weight is its number of devices."""
    weights: Counter[tuple[str, int | None, int]] = Counter()
    kinds = Counter(device.kind for device in fleet.devices())
    samples = {device.kind: device for device in fleet.devices()}
    for kind, devices in kinds.items():
        sample = samples[kind]
        if sample.accelerator_class is None or sample.partition is not None:
            continue
        sizes = [1]
        while sizes[-1] * 2 <= _largest_island(fleet, kind):
            sizes.append(sizes[-1] * 2)
        for size in sizes:
            weights[sample.accelerator_class, sample.nominal_mib, size] += devices * 27720 // len(sizes)
    return [(_default_choice(blank, *key), weight) for key, weight in weights.items()]


def _default_choice(blank: JSON, accelerator_class: str, floor_mib: int | None, size: int) -> JSON:
    link = {"kind": "fabric"} if size > 1 else None
    return blank | {"class": accelerator_class, "memory_floor_mib": floor_mib, "count": size, "link": link}


def _largest_island(fleet: Fleet, kind: object) -> int:
    islands = Counter(
        (node.cluster, node.name, device.island)
        for node in fleet.nodes
        for device in node.devices
        if device.kind == kind and device.island is not None
    )
    return max(islands.values(), default=1)


def unusable(node: Node, free: Mapping[int, int], cpu_milli: int | None, mix: Mix) -> Fraction:
    """Free thousandths of a device of a node that the mix cannot use."""
    everything = sum(free.values())
    weighted = sum(weight * (everything - _usable(node, free, cpu_milli, choice)) for choice, weight in mix)
    return Fraction(weighted, sum(weight for _, weight in mix) or 1)


def _usable(node: Node, free: Mapping[int, int], cpu_milli: int | None, choice: JSON) -> int:
    """Free shares that steps of one class can use; unknown CPU counts as enough."""
    if choice["count"] == 0 or (cpu_milli is not None and cpu_milli < choice["cpu_milli"]):
        return 0
    sets = sets_of(node, free, choice)
    return sum(free[device.id] for devices in sets if len(devices) >= choice["count"] for device in devices)


def sets_of(node: Node, free: Mapping[int, int], choice: JSON) -> list[list[Device]]:
    """The devices with enough free for a class, by kind, and by island where it asks for a link."""
    by_island = bool(choice["link"]) and choice["count"] > 1
    sets: dict[object, list[Device]] = {}
    for device in node.devices:
        is_large_enough = free[device.id] >= booked(choice, device)
        if is_large_enough and not (by_island and device.island is None) and misfit_of_device(device, choice) is None:
            sets.setdefault((device.kind, device.island if by_island else None), []).append(device)
    return list(sets.values())


def total(fleet: Fleet, mix: Mix) -> Fraction:
    """Fragmentation of a fleet: of the nodes that take work."""
    open_nodes = [node for node in fleet.nodes if node.state == "active"]
    return sum((unusable(node, node.free_shares(), node.free_cpu_milli, mix) for node in open_nodes), Fraction(0))


def free_total(fleet: Fleet) -> int:
    """Free thousandths of the nodes that take work."""
    return sum(device.free for node in fleet.nodes if node.state == "active" for device in node.devices)
