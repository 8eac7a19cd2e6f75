"""Speed of a choice relative to the first: count x share x peak x efficiency, each choice in its own precision."""

from collections.abc import Iterator, Sequence

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.throughput import Throughput
from tests.reference import measured
from tests.reference.device_fit import Misfit, computed_precision, devices_for, part_milli, speed_left
from tests.reference.model import JSON, WHOLE, Device, share_of, total

_FREE = ("bf16", "fp16")


def misfit_of_speed(device: Device, choice: JSON, first: JSON | None, rows: Sequence[Throughput]) -> Misfit | None:
    """Why a device is too slow for a later choice; `first` is `None` for the first choice, the yardstick itself.

    Where it was tried and did not run it is too slow for any choice.
    """
    floor = None if first is None else choice.get("performance_floor_milli")
    if measured.speed(rows, (device.sku, device.model, device.partition), choice) == 0:
        return Misfit("PERF_BELOW_FLOOR", 0, floor or 1)
    if not floor or first is None:
        return None
    by_table = measured.ratio(rows, device, choice, first)
    ratio = None if device.profile.get("is_opaque") else _ratio(device, choice, first)
    if by_table is not None:
        ratio = float(by_table * speed_left(device, choice))
    if ratio is None:
        return Misfit("PERF_UNKNOWN", None, floor) if choice.get("rejects_unknown_performance") else None
    milli = int(ratio * 1000 + 0.5)
    return Misfit("PERF_BELOW_FLOOR", milli, floor) if milli < floor else None


def _ratio(device: Device, choice: JSON, first: JSON) -> float | None:
    for free in _FREE:
        yardstick = max(
            _yardsticks(first, first["precisions"][0]["word"] if first["precisions"] else free), default=None
        )
        word = computed_precision(device, choice) if choice["precisions"] else free
        reached = _achieved(device.profile, word)
        if yardstick is not None and reached is not None and _is_known_part(device):
            mine = reached * part_milli(device) / WHOLE * _amount(choice, device.nominal_mib)
            return mine / yardstick * float(speed_left(device, choice))
    return None


def _is_known_part(device: Device) -> bool:
    if device.partition is None:
        return True
    return any(cut["name"] == device.partition and cut["compute_milli"] for cut in device.profile["partitions"])


def _amount(choice: JSON, nominal_mib: int | None) -> int:
    return total(choice) * share_of(choice, nominal_mib)


def _yardsticks(first: JSON, word: str) -> Iterator[float]:
    """What each model that the first choice names reaches; a partition its part of it."""
    for name in first["names"]:
        for sku in name["skus"]:
            profile: JSON = Catalog.builtin()[sku].for_core()
            rate = None if profile["is_opaque"] else _achieved(profile, word)
            cuts = [cut for cut in profile["partitions"] if cut["name"] == name["partition"]]
            part = WHOLE if name["partition"] is None else (cuts[0]["compute_milli"] if cuts else None)
            units = first.get("units_milli")
            count = total(first) if units is None else devices_for(profile, name["partition"], units)
            if rate is not None and part is not None and count is not None:
                yield rate * part / WHOLE * count * share_of(first, profile["memory_mib"])


def _achieved(profile: JSON, word: str) -> float | None:
    peak = profile.get("rates", {}).get(word)
    efficiency = profile.get("efficiency", {}).get(word, profile.get("default_efficiency"))
    return None if peak is None or efficiency is None else float(peak) * float(efficiency)
