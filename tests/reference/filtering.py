"""What a choice asks against what a node has: the first thing that is amiss, now and on the empty node."""

from collections.abc import Callable, Iterable

from tests.reference import power
from tests.reference.device_fit import CODES, Misfit, misfit_of_device, part_milli
from tests.reference.model import JSON, WHOLE, Device, Node, booked, holds, room, total

_CLOSED = {"burn-in": "BURN_IN", "quarantined": "UNHEALTHY"}


def misfit_on_node(node: Node, device: Device, choice: JSON) -> Misfit | None:
    """Why a device cannot be used where it is, if it were idle."""
    return misfit_but_power(node, device, choice) or power.misfit_alone(node, device, choice)


def misfit_but_power(node: Node, device: Device, choice: JSON) -> Misfit | None:
    """The same without power: what it is, its price there, its driver, or a taint that is not on its key."""
    verdict, is_never = choice.get("verdicts", {}).get(device.kind, (None, False))
    misfit = misfit_of_device(device, choice) or (verdict if is_never else None)
    misfit = misfit or _price(node, device, choice) or _driver(node, device, choice)
    return misfit or (Misfit("TAINT") if node.taints - device.resource_keys else None)


def _price(node: Node, device: Device, choice: JSON) -> Misfit | None:
    ceiling, price = choice.get("cost_ceiling_milli"), node.prices_milli.get(device.sku or "")
    if not ceiling:
        return None
    milli = total(choice) * booked(choice, device) * part_milli(device)
    cost = None if price is None else -(-price * milli // WHOLE**2)
    return Misfit("COST_CEILING", cost, ceiling) if cost is None or cost > ceiling else None


def _driver(node: Node, device: Device, choice: JSON) -> Misfit | None:
    asked, has = choice.get("driver_floor"), node.drivers.get(device.vendor or "")
    if not asked or (has is not None and has >= tuple(asked)):
        return None
    is_told_by_major = not has or has[0] != asked[0]
    return Misfit("DRIVER_TOO_OLD", has[0] if has else None, asked[0]) if is_told_by_major else Misfit("DRIVER_TOO_OLD")


def misfit_of_place(node: Node, choice: JSON) -> tuple[Misfit, bool] | None:
    """What is wrong with the place of a node, and whether that stays so when the team's steps end."""
    misfit = _tags(node, choice)
    if misfit:
        return misfit, True
    spread = choice.get("place", {}).get("spread")
    domain = node.domain(spread) if spread else ()
    if domain is None:
        return Misfit("SPREAD"), True
    return (Misfit("SPREAD"), False) if domain in choice.get("taken", ()) else None


def _tags(node: Node, choice: JSON) -> Misfit | None:
    place = choice.get("place", {})
    is_here = node.cluster in place.get("clusters", [node.cluster])
    is_here &= node.region in place.get("regions", [node.region])
    is_here &= all(node.labels.get(key) == value for key, value in place.get("labels", {}).items())
    if not is_here:
        return Misfit("LOCATION")
    if set(place.get("compliance", ())) - node.compliance:
        return Misfit("COMPLIANCE")
    if not all(holds(node.data, location) for location in place.get("data", ())):
        return Misfit("DATA_LOCALITY")
    is_far = "checkpoint" in place and not holds(node.data, place["checkpoint"])
    return Misfit("CHECKPOINT_ELSEWHERE") if is_far else None


def _host(node: Node, choice: JSON) -> Misfit | None:
    rdma = choice.get("rdma")
    if rdma and rdma not in node.rdma and not (rdma == "rdma" and node.rdma & {"ib", "roce"}):
        return Misfit("RDMA_MISSING")
    lacks = any(not set(need) & node.runtime for need in choice.get("runtimes", ()))
    return Misfit("RUNTIME_MISSING") if lacks else None


def misfit_of_node(node: Node, choice: JSON) -> tuple[Misfit, bool] | None:
    """Why a node cannot take a choice, and whether that holds for the empty node too."""
    here, place = _misfit_in_place(node, choice), misfit_of_place(node, choice)
    if place is None:
        return here
    is_nearer = here and here[1] and CODES.index(here[0].code) < CODES.index(place[0].code)
    return here if is_nearer or (here and here[1] and not place[1]) else place


def _misfit_in_place(node: Node, choice: JSON) -> tuple[Misfit, bool] | None:
    fitting = [device for device in node.devices if misfit_on_node(node, device, choice) is None]
    misfit = _misfit_of_empty(node, choice, fitting)
    if misfit:
        return misfit, True
    fitting, passing = _now(node, fitting, choice)
    if passing and not fitting and choice["count"] > 0:
        return max(passing, key=_nearness), False
    if node.state != "active":
        return Misfit(_CLOSED.get(node.state, "CORDONED")), False
    cpu, memory = node.free_cpu_milli, node.free_memory_mib
    misfit = _shortage(fitting, lambda d: room(choice, d), cpu, memory, choice)
    if misfit is None:
        return None
    if _shortage(fitting, lambda d: room(choice, d) if d.is_healthy else WHOLE, cpu, memory, choice) is None:
        misfit = Misfit("UNHEALTHY", misfit.have, misfit.want)
    is_share = choice["share_milli"] < WHOLE or choice.get("share_memory_mib") is not None
    if misfit.code == "COUNT_SHORT" and is_share and any(d.free >= booked(choice, d) for d in fitting):
        misfit = Misfit("MEMORY_NOT_FREE")
    return misfit, False


def _now(node: Node, fitting: list[Device], choice: JSON) -> tuple[list[Device], list[Misfit]]:
    """The devices that may be used now, and why the others may not."""
    found = [(device, misfit_now(node, device, choice)) for device in fitting]
    return [device for device, misfit in found if misfit is None], [misfit for _, misfit in found if misfit]


def misfit_now(node: Node, device: Device, choice: JSON) -> Misfit | None:
    """Why the team may not use one more request of devices like this one now, or their node may not draw so much."""
    verdict, _ = choice.get("verdicts", {}).get(device.kind, (None, False))
    return verdict or power.misfit_now(node, device, choice)


def _misfit_of_empty(node: Node, choice: JSON, fitting: list[Device]) -> Misfit | None:
    if choice["count"] == 0 and node.taints:
        return Misfit("TAINT")
    if choice["count"] > 0 and not fitting:
        found = [misfit for device in node.devices if (misfit := misfit_on_node(node, device, choice))]
        return max(found, key=_nearness, default=Misfit("NOT_OFFERED"))
    return _host(node, choice) or _shortage(fitting, lambda _: WHOLE, node.cpu_milli, node.memory_mib, choice)


def _nearness(misfit: Misfit) -> tuple[int, float, float]:
    have, want = (-1 if number is None else number for number in (misfit.have, misfit.want))
    return CODES.index(misfit.code), have, want


def _shortage(
    fitting: list[Device], free: Callable[[Device], int], cpu: int | None, memory: int | None, choice: JSON
) -> Misfit | None:
    usable = [device for device in fitting if free(device) >= booked(choice, device)]
    count, is_linked = choice["count"], bool(choice["link"]) and choice["count"] > 1
    most = _largest(device.kind for device in usable)
    has_islands = any(device.island is not None for device in fitting)
    if (is_linked or (choice.get("tensor_ranks") or 1) > 1) and not has_islands:
        return Misfit("LINK_CLASS")
    island = _largest((device.kind, device.island) for device in usable if device.island is not None)
    if is_linked and most > 0 and island < count:
        return Misfit("NOT_ONE_ISLAND", island, count)
    if most < count:
        return Misfit("COUNT_SHORT", most, count)
    offered = _offered(fitting, usable, count)
    if _largest(device.kind for device in offered) < count:
        return Misfit("SHARING_FORBIDDEN", _largest(device.kind for device in fitting), count)
    island = _largest((device.kind, device.island) for device in offered if device.island is not None)
    if is_linked and island < count:
        return Misfit("NOT_ONE_ISLAND", island, count)
    near = [device for device in offered if device.nic or not choice.get("near_nic")]
    return (
        _nic_apart(near, choice)
        or _one_numa_node(near, choice)
        or _tensor_groups(near, choice)
        or _host_shortage(cpu, memory, choice)
    )


def _host_shortage(cpu: int | None, memory: int | None, choice: JSON) -> Misfit | None:
    if choice["cpu_milli"] and (cpu is None or cpu < choice["cpu_milli"]):
        return Misfit("CPU_SHORT", cpu, choice["cpu_milli"])
    if choice["host_memory_mib"] and (memory is None or memory < choice["host_memory_mib"]):
        return Misfit("HOST_MEMORY_SHORT", memory, choice["host_memory_mib"])
    return None


def _offered(fitting: list[Device], usable: list[Device], count: int) -> list[Device]:
    """Usable devices; those that are handed out by whole nodes only where all of a kind are asked and usable."""

    def is_whole(kind: object) -> bool:
        free, all_of_it = (sum(device.kind == kind for device in devices) for devices in (usable, fitting))
        return free == all_of_it == count

    return [device for device in usable if not device.profile.get("is_opaque") or is_whole(device.kind)]


def _nic_apart(near: list[Device], choice: JSON) -> Misfit | None:
    """Enough devices near network cards, of one kind, and in one island where a link is asked."""
    is_linked = bool(choice["link"]) and choice["count"] > 1
    known = [d for d in near if not (is_linked and d.island is None)]
    together = _largest((d.kind, d.island if is_linked else None) for d in known)
    return Misfit("NIC_APART", together, choice["count"]) if together < choice["count"] else None


def _one_numa_node(usable: list[Device], choice: JSON) -> Misfit | None:
    if not choice.get("one_numa_node"):
        return None
    is_linked = bool(choice["link"]) and choice["count"] > 1
    known = [d for d in usable if d.numa is not None and not (is_linked and d.island is None)]
    together = _largest((d.kind, d.numa, d.island if is_linked else None) for d in known)
    return Misfit("NUMA_SPLIT", together, choice["count"]) if together < choice["count"] else None


def _tensor_groups(usable: list[Device], choice: JSON) -> Misfit | None:
    """Each group in one island, and all on one NUMA node where that is asked."""
    ranks, numa = choice.get("tensor_ranks") or 1, choice.get("one_numa_node")
    if ranks == 1:
        return None
    known = [d for d in usable if d.island is not None and not (numa and d.numa is None)]
    together: dict[object, int] = {}
    for kind, place, island in {(d.kind, d.numa if numa else None, d.island) for d in known}:
        here = [d for d in known if (d.kind, d.numa if numa else None, d.island) == (kind, place, island)]
        together[kind, place] = together.get((kind, place), 0) + len(here) // ranks * ranks
    have = max(together.values(), default=0)
    return Misfit("NOT_ONE_ISLAND", have, choice["count"]) if have < choice["count"] else None


def _largest(keys: Iterable[object]) -> int:
    counted = list(keys)
    return max((counted.count(key) for key in counted), default=0)
