"""What a choice asks against what a device is: the first thing that is amiss, wherever the device stands."""

from dataclasses import dataclass
from fractions import Fraction

from tests.reference.model import JSON, WHOLE, Device, total

# Later means nearer to a fit.
CODES = (
    *(
        "NOT_OFFERED",
        "VENDOR_MISMATCH",
        "MODEL_MISMATCH",
        "IMAGE_VENDOR_MISMATCH",
        "MIG_PROFILE_MISSING",
        "SHARING_FORBIDDEN",
    ),
    *("MEMORY_TOO_LARGE", "MEMORY_TOO_SMALL", "MEMORY_TYPE", "CONFIDENTIAL_UNSUPPORTED", "PRECISION_UNSUPPORTED"),
    *("LINK_CLASS", "LINK_BANDWIDTH", "COMPUTE_TOO_LOW", "BANDWIDTH_TOO_LOW", "POWER_BUDGET", "PERF_UNKNOWN"),
    *(
        "PERF_BELOW_FLOOR",
        "QUOTA",
        "BUDGET",
        "RESERVED_POOL",
        "COST_CEILING",
        "DRIVER_TOO_OLD",
        "TAINT",
        "LOCATION",
        "COMPLIANCE",
        "DATA_LOCALITY",
        "CHECKPOINT_ELSEWHERE",
        "SPREAD",
    ),
    *("RDMA_MISSING", "RUNTIME_MISSING", "CORDONED", "BURN_IN", "UNHEALTHY", "MEMORY_NOT_FREE", "COUNT_SHORT"),
    *(
        "FRAGMENTED",
        "NIC_APART",
        "NUMA_SPLIT",
        "NOT_ONE_ISLAND",
        "CPU_SHORT",
        "HOST_MEMORY_SHORT",
        "NODES_SHORT",
        "GROUPS_APART",
        "SCORE_TOO_LOW",
    ),
)


@dataclass(frozen=True)
class Misfit:
    """A reason with the numbers that decided it."""

    code: str
    have: int | None = None
    want: int | None = None


def misfit_of_device(device: Device, choice: JSON) -> Misfit | None:
    """Why a device can never serve a choice; load, island and health apart."""
    checks = (_class, _form, _named, _toolkit, _sharing, _memory, _features, _precision, _link, _rates, _work, _power)
    return next((misfit for check in checks if (misfit := check(device, choice))), None)


def _class(device: Device, choice: JSON) -> Misfit | None:
    is_other = choice["class"] not in (None, device.accelerator_class)
    # Without a class: any accelerator, and a CPU is none.
    is_cpu = choice["class"] is None and not choice["names"] and device.accelerator_class == "cpu"
    return Misfit("NOT_OFFERED") if is_other or is_cpu else None


def _is_model(device: Device, name: JSON) -> bool:
    known = device.sku in name["skus"] if device.sku else device.model in name["models"]
    return (known or name["is_any_model"]) and name["vendor"] in (None, device.vendor)


def _is_meant(device: Device, name: JSON, choice: JSON) -> bool:
    is_any_cut = name["partition"] is None and choice.get("share_mode") == "mig"
    return _is_model(device, name) and (is_any_cut or name["partition"] == device.partition)


def _form(device: Device, choice: JSON) -> Misfit | None:
    names, is_partition = choice["names"], device.partition is not None
    if choice.get("share_mode") == "mig":
        return None if is_partition else Misfit("SHARING_FORBIDDEN")
    if any(name["partition"] and _is_model(device, name) for name in names) and not any(
        _is_meant(device, name, choice) for name in names
    ):
        return Misfit("MIG_PROFILE_MISSING")
    asked = {name["partition"] is not None for name in names} or {False}
    return None if is_partition in asked else Misfit("NOT_OFFERED")


def _named(device: Device, choice: JSON) -> Misfit | None:
    if choice["vendor"] not in (None, device.vendor):
        return Misfit("VENDOR_MISMATCH")
    is_meant = not choice["names"] or any(_is_meant(device, name, choice) for name in choice["names"])
    return None if is_meant else Misfit("MODEL_MISMATCH")


def _toolkit(device: Device, choice: JSON) -> Misfit | None:
    toolkit = choice.get("toolkit")
    home = {"cuda": "nvidia", "rocm": "amd"}.get(toolkit or "", "intel")
    is_translated = toolkit == "cuda" and device.vendor in {"amd", "intel"} and choice.get("may_translate")
    return None if not toolkit or device.vendor == home or is_translated else Misfit("IMAGE_VENDOR_MISMATCH")


def speed_left(device: Device, choice: JSON) -> Fraction:
    """Part of its speed that is left: less where code is translated, or a hypervisor is between."""
    translated = Fraction(8, 10) if choice.get("toolkit") == "cuda" and device.vendor != "nvidia" else Fraction(1)
    return translated * (Fraction(9, 10) if device.is_virtual else 1)


def _sharing(device: Device, choice: JSON) -> Misfit | None:
    lacks_daemon = choice.get("share_mode") == "mps" and not device.profile.get("supports_mps")
    is_share = choice["share_milli"] < WHOLE or choice.get("share_memory_mib") is not None
    is_split = is_share and device.profile.get("is_opaque")
    return Misfit("SHARING_FORBIDDEN") if lacks_daemon or is_split else None


def _memory(device: Device, choice: JSON) -> Misfit | None:
    ceiling, usable = choice["memory_ceiling_mib"], choice["usable_floor_mib"]
    if ceiling is not None and (device.nominal_mib is None or device.nominal_mib > ceiling):
        return Misfit("MEMORY_TOO_LARGE", device.nominal_mib, ceiling)
    floors = []
    stated = stated_floor_mib(choice)
    if stated is not None:
        floors.append(-(-stated * WHOLE // choice["share_milli"]))  # of the granted share
    if choice.get("share_memory_mib") is not None:
        floors.append(choice["share_memory_mib"])
    part, whole = choice.get("partition_floor_milli"), device.profile.get("memory_mib")
    if part and whole:
        floors.append(-(-whole * part // WHOLE))
    for floor in floors:
        if device.nominal_mib is None or device.nominal_mib < floor:
            return Misfit("MEMORY_TOO_SMALL", device.nominal_mib, floor)
    if usable is not None and (device.usable_mib is None or device.usable_mib < usable):
        return Misfit("MEMORY_TOO_SMALL", device.usable_mib, usable)
    return None


def stated_floor_mib(choice: JSON) -> int | None:
    """Memory that is asked of each device, or of its share; the memory of a whole job lies evenly over its devices."""
    job, floor = choice.get("job_memory_mib"), choice["memory_floor_mib"]
    return floor if job is None or choice["class"] == "cpu" else -(-job // total(choice))


def _features(device: Device, choice: JSON) -> Misfit | None:
    asked = choice.get("memory_kind")
    if asked and not (device.profile.get("memory_type") or "").lower().startswith(asked):
        return Misfit("MEMORY_TYPE")
    lacks = choice.get("is_confidential") and device.profile.get("is_confidential_capable") is not True
    return Misfit("CONFIDENTIAL_UNSUPPORTED") if lacks else None


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
    link = choice["link"]
    brand = (link or {}).get("brand")
    is_slice = device.partition and (link or choice["link_floor_mbps"])
    if is_slice or (brand and brand != device.profile.get("interconnect")):
        return Misfit("LINK_CLASS")
    return _at_least(device.profile.get("interconnect_mbps"), choice["link_floor_mbps"], "LINK_BANDWIDTH")


def _work(device: Device, choice: JSON) -> Misfit | None:
    """Of compute units each kind needs a count of its own."""
    units = choice.get("units_milli")
    if units is None:
        return None
    count = devices_for(device.profile, device.partition, units)
    if count is None:
        return Misfit("COMPUTE_TOO_LOW")
    nodes = choice.get("peers", 0) + 1
    return Misfit("NOT_OFFERED") if -(-count // nodes) != choice["count"] else None


def devices_for(profile: JSON, partition: str | None, units_milli: int) -> int | None:
    """Devices, or partitions, that do so much work per hour; `None` where nothing is known of the rate."""
    whole = profile.get("unit_milli")
    parts = [cut["compute_milli"] for cut in profile.get("partitions", []) if cut["name"] == partition]
    part = (parts[0] if parts else None) if partition else WHOLE
    if not whole or not part or profile.get("is_opaque") or whole * part < WHOLE:
        return None
    return max(1, -(-units_milli // (whole * part // WHOLE)))


def _rates(device: Device, choice: JSON) -> Misfit | None:
    rate = part_of(device, device.profile.get("rates", {}).get(computed_precision(device, choice)), "compute_milli")
    bandwidth = part_of(device, device.profile.get("bandwidth_mbps"), "bandwidth_milli")
    return _at_least(rate, choice["compute_floor_tflops"], "COMPUTE_TOO_LOW") or _at_least(
        None if bandwidth is None else int(bandwidth), choice["bandwidth_floor_mbps"], "BANDWIDTH_TOO_LOW"
    )


def computed_precision(device: Device, choice: JSON) -> str:
    """The precision that a device computes in: weights that are only stored in one are widened."""
    if not choice["precisions"]:
        return "bf16"
    need, rates = choice["precisions"][0], device.profile.get("rates", {})
    if need["path"] == "native" or part_of(device, rates.get(need["word"]), "compute_milli") is not None:
        return str(need["word"])
    return "bf16" if part_of(device, rates.get("bf16"), "compute_milli") is not None else "fp16"


def part_milli(device: Device) -> int:
    """Part of a device that a partition is, by compute; the whole where that is not known."""
    part = part_of(device, 1.0, "compute_milli") if device.partition else 1.0
    return WHOLE if part is None else round(part * WHOLE)


def part_of(device: Device, figure: float | None, part: str) -> float | None:
    """A figure of a device; of a partition, its part of it, unless that is not known."""
    if device.partition is None or figure is None:
        return figure
    cuts = [cut for cut in device.profile["partitions"] if cut["name"] == device.partition]
    return None if not cuts or cuts[0][part] is None else figure * cuts[0][part] / WHOLE


def _at_least(have: float | None, want: float | None, code: str) -> Misfit | None:
    if want is None or (have is not None and have >= want):
        return None
    return Misfit(code, None if have is None else int(have), int(want))


def _power(device: Device, choice: JSON) -> Misfit | None:
    ceiling, board = choice.get("power_ceiling_mw"), device.profile.get("tdp_mw")
    if not ceiling:
        return None
    draw = None if board is None else -(-board * choice["count"] * part_milli(device) // WHOLE)
    return Misfit("POWER_BUDGET", draw, ceiling) if draw is None or draw > ceiling else None
