"""What a choice asks against what a device is, and against what a node has: the first thing that is amiss."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.reference.model import JSON, WHOLE, Device, Node

# Later means nearer to a fit.
CODES = (
    *("NOT_OFFERED", "VENDOR_MISMATCH", "MODEL_MISMATCH", "MEMORY_TOO_LARGE", "MEMORY_TOO_SMALL"),
    *("PRECISION_UNSUPPORTED", "LINK_CLASS", "LINK_BANDWIDTH", "COMPUTE_TOO_LOW", "BANDWIDTH_TOO_LOW", "TAINT"),
    *("CORDONED", "BURN_IN", "UNHEALTHY", "COUNT_SHORT", "FRAGMENTED", "NOT_ONE_ISLAND", "CPU_SHORT"),
    "HOST_MEMORY_SHORT",
)
_CLOSED = {"burn-in": "BURN_IN", "quarantined": "UNHEALTHY"}


@dataclass(frozen=True)
class Misfit:
    """A reason with the numbers that decided it."""

    code: str
    have: int | None = None
    want: int | None = None


def misfit_of_device(device: Device, choice: JSON) -> Misfit | None:
    """Why a device can never serve a choice; load, island and health apart."""
    checks = (_offered, _named, _memory, _precision, _link, _rates)
    return next((misfit for check in checks if (misfit := check(device, choice))), None)


def _offered(device: Device, choice: JSON) -> Misfit | None:
    names = choice["names"]
    asked = {name["partition"] for name in names} or {None}
    is_partition = device.partition is not None
    if choice["class"] not in (None, device.accelerator_class):
        return Misfit("NOT_OFFERED")
    if choice["class"] is None and not names and device.accelerator_class == "cpu":
        return Misfit("NOT_OFFERED")  # without a class: any accelerator, and a CPU is none
    if all((partition is not None) != is_partition for partition in asked):
        return Misfit("NOT_OFFERED")
    return Misfit("VENDOR_MISMATCH") if choice["vendor"] not in (None, device.vendor) else None


def _named(device: Device, choice: JSON) -> Misfit | None:
    def is_meant(name: JSON) -> bool:
        if name["partition"] != device.partition or name["vendor"] not in (None, device.vendor):
            return False
        known = device.sku in name["skus"] if device.sku else device.model in name["models"]
        return known or name["is_any_model"]

    return None if not choice["names"] or any(map(is_meant, choice["names"])) else Misfit("MODEL_MISMATCH")


def _memory(device: Device, choice: JSON) -> Misfit | None:
    ceiling, floor, usable = choice["memory_ceiling_mib"], choice["memory_floor_mib"], choice["usable_floor_mib"]
    if ceiling is not None and (device.nominal_mib is None or device.nominal_mib > ceiling):
        return Misfit("MEMORY_TOO_LARGE", device.nominal_mib, ceiling)
    if floor is not None:
        whole = -(-floor * WHOLE // choice["share_milli"])  # the floor is on the granted share
        if device.nominal_mib is None or device.nominal_mib < whole:
            return Misfit("MEMORY_TOO_SMALL", device.nominal_mib, whole)
    if usable is not None and (device.usable_mib is None or device.usable_mib < usable):
        return Misfit("MEMORY_TOO_SMALL", device.usable_mib, usable)
    return None


def _precision(device: Device, choice: JSON) -> Misfit | None:
    support = device.profile.get("precisions", {}).get
    for need in choice["precisions"]:
        enough = {need["word"]: {"native", "degraded"} if need["path"] == "any" else {"native"}}
        if need["path"] != "native":
            enough |= {wide: {"native"} for wide in ("fp16", "bf16") if wide != need["word"]}
        if not any(support(word) in supports for word, supports in enough.items()):
            return Misfit("PRECISION_UNSUPPORTED")
    return None


def _link(device: Device, choice: JSON) -> Misfit | None:
    link = choice["link"] if choice["count"] > 1 else None  # one device has no pair to link
    brand = (link or {}).get("brand")
    is_slice = device.partition and (link or choice["link_floor_mbps"])
    if is_slice or (brand and brand != device.profile.get("interconnect")):
        return Misfit("LINK_CLASS")
    return _at_least(device.profile.get("interconnect_mbps"), choice["link_floor_mbps"], "LINK_BANDWIDTH")


def _rates(device: Device, choice: JSON) -> Misfit | None:
    word = choice["precisions"][0]["word"] if choice["precisions"] else "bf16"
    rate = device.profile.get("rates", {}).get(word)
    return _at_least(rate, choice["compute_floor_tflops"], "COMPUTE_TOO_LOW") or _at_least(
        device.profile.get("bandwidth_mbps"), choice["bandwidth_floor_mbps"], "BANDWIDTH_TOO_LOW"
    )


def _at_least(have: float | None, want: float | None, code: str) -> Misfit | None:
    if want is None or (have is not None and have >= want):
        return None
    return Misfit(code, None if have is None else int(have), int(want))


def misfit_on_node(node: Node, device: Device, choice: JSON) -> Misfit | None:
    """Why a device cannot be used where it is: a taint is tolerated by a step that uses a device of its key."""
    return misfit_of_device(device, choice) or (Misfit("TAINT") if node.taints - device.resource_keys else None)


def misfit_of_node(node: Node, choice: JSON) -> tuple[Misfit, bool] | None:
    """Why a node cannot take a choice, and whether that holds for the empty node too."""
    fitting = [device for device in node.devices if misfit_on_node(node, device, choice) is None]
    misfit = _misfit_of_empty(node, choice, fitting)
    if misfit:
        return misfit, True
    if node.state != "active":
        return Misfit(_CLOSED.get(node.state, "CORDONED")), False
    cpu, memory = node.free_cpu_milli, node.free_memory_mib
    misfit = _shortage(fitting, lambda d: d.free, cpu, memory, choice)
    if misfit is None:
        return None
    if _shortage(fitting, lambda d: d.free if d.is_healthy else WHOLE, cpu, memory, choice) is None:
        misfit = Misfit("UNHEALTHY", misfit.have, misfit.want)
    return misfit, False


def _misfit_of_empty(node: Node, choice: JSON, fitting: list[Device]) -> Misfit | None:
    if choice["count"] == 0 and node.taints:
        return Misfit("TAINT")
    if choice["count"] > 0 and not fitting:
        found = [misfit for device in node.devices if (misfit := misfit_on_node(node, device, choice))]
        return max(found, key=_nearness, default=Misfit("NOT_OFFERED"))
    return _shortage(fitting, lambda _: WHOLE, node.cpu_milli, node.memory_mib, choice)


def _nearness(misfit: Misfit) -> tuple[int, float, float]:
    have, want = (-1 if number is None else number for number in (misfit.have, misfit.want))
    return CODES.index(misfit.code), have, want


def _shortage(
    fitting: list[Device], free: Callable[[Device], int], cpu: int | None, memory: int | None, choice: JSON
) -> Misfit | None:
    usable = [device for device in fitting if free(device) >= choice["share_milli"]]
    count, is_linked = choice["count"], bool(choice["link"]) and choice["count"] > 1
    most = _largest(device.kind for device in usable)
    if is_linked and not any(device.island is not None for device in fitting):
        return Misfit("LINK_CLASS")
    island = _largest((device.kind, device.island) for device in usable if device.island is not None)
    if is_linked and most > 0 and island < count:
        return Misfit("NOT_ONE_ISLAND", island, count)
    if most < count:
        return Misfit("COUNT_SHORT", most, count)
    if choice["cpu_milli"] and (cpu is None or cpu < choice["cpu_milli"]):
        return Misfit("CPU_SHORT", cpu, choice["cpu_milli"])
    if choice["host_memory_mib"] and (memory is None or memory < choice["host_memory_mib"]):
        return Misfit("HOST_MEMORY_SHORT", memory, choice["host_memory_mib"])
    return None


def _largest(keys: Iterable[object]) -> int:
    counted = list(keys)
    return max((counted.count(key) for key in counted), default=0)
