"""How well a device suits a choice, in exact fractions: compute 40, bandwidth 25, link 20, memory fit 15."""

from fractions import Fraction

from tests.reference.device_fit import computed_precision, misfit_of_device, part_of, stated_floor_mib
from tests.reference.model import JSON, Device, total

_LEAST = Fraction(1, 10)
_CLASSIC = {"compute": 3000, "bandwidth": 6_000_000, "link": 900_000}
_H100_SXM = {"compute": Fraction("989.4"), "bandwidth": 3_350_000, "link": 900_000}


def affinity(device: Device, choice: JSON, preset: str) -> Fraction:
    """0 exactly where the device cannot serve the choice, else 0.1 to 100; parts that do not apply are left out."""
    if misfit_of_device(device, choice) is not None:
        return Fraction(0)
    rate = _of_classic if preset == "classic" else _of_reference_device
    bandwidth = part_of(device, device.profile.get("bandwidth_mbps"), "bandwidth_milli")
    parts = {"bandwidth": (25, rate("bandwidth", None if bandwidth is None else int(bandwidth)))}
    if not device.profile.get("is_opaque"):
        parts["compute"] = (40, rate("compute", _tflops(device, choice)))
    if total(choice) > 1:
        parts["link"] = (20, rate("link", None if device.partition else device.profile.get("interconnect_mbps")))
    ratio = _memory_ratio(device, choice)
    if ratio is not None:
        parts["memory_fit"] = (15, _fit(ratio))
    points = sum((weight * value for weight, value in parts.values()), Fraction(0))
    return max(points * 100 / sum(weight for weight, _ in parts.values()), _LEAST)


def _of_classic(part: str, figure: float | None) -> Fraction:
    return min(Fraction(figure or 0) / _CLASSIC[part], Fraction(1))


def _of_reference_device(part: str, figure: float | None) -> Fraction:
    known = Fraction(figure or 0)
    return known / (known + _H100_SXM[part])


def _tflops(device: Device, choice: JSON) -> float | None:
    """The first precision asked, and no other (but weights are widened); bf16, else fp16, where none is asked."""
    asked = [computed_precision(device, choice)] if choice["precisions"] else ["bf16", "fp16"]
    rates = [part_of(device, device.profile.get("rates", {}).get(word), "compute_milli") for word in asked]
    return next((tflops for tflops in rates if tflops is not None), None)


def _memory_ratio(device: Device, choice: JSON) -> Fraction | None:
    if choice.get("share_memory_mib") is not None:
        return Fraction(choice["share_memory_mib"], device.nominal_mib or 1)
    stated = stated_floor_mib(choice)
    if stated is not None:
        whole = -(-stated * 1000 // choice["share_milli"])
        return Fraction(whole, device.nominal_mib or 1)
    if choice["usable_floor_mib"] is not None:
        return Fraction(choice["usable_floor_mib"], device.usable_mib or 1)
    return None


def _fit(ratio: Fraction) -> Fraction:
    if ratio >= Fraction(9, 10):
        return Fraction(5, 15)
    return Fraction(1) if ratio > Fraction(3, 10) else ratio / Fraction(3, 10)
