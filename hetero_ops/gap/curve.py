"""What a device gives for its price and for its power, in one precision."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hetero_ops.gap.profile import Profile
from hetero_ops.gap.words import PrecisionWord, Support

_MILLIWATTS_PER_WATT = 1000


@dataclass(frozen=True, slots=True)
class Point:
    """One device. Rates are achieved ones in TFLOPS (TOPS for int8 and int4); `None` is unknown or not comparable.

    Watts are the nameplate (TDP), neither measured nor capped.
    """

    sku: str
    support: Support | None
    achieved_tflops: float | None
    is_measured: bool
    price_per_hour: float | None
    tflops_hours_per_price: float | None
    watts: float | None
    tflops_per_watt: float | None
    is_opaque: bool


def curve(profiles: Iterable[Profile], precision: PrecisionWord, prices: Mapping[str, float]) -> list[Point]:
    """The devices, best first: by rate for the price, those without a price by rate for the power.

    Args:
        profiles: the devices; those without a rate come last, and so do opaque ones, which nothing ranks.
        precision: of the rates.
        prices: of one device-hour, by SKU.
    """
    points = [_point(profile, precision, prices.get(profile.sku)) for profile in profiles]
    return sorted(points, key=_best_first)


def _point(profile: Profile, precision: PrecisionWord, price: float | None) -> Point:
    rate = profile.achieved_tflops(precision)
    watts = None if profile.tdp_mw is None else profile.tdp_mw / _MILLIWATTS_PER_WATT
    return Point(
        sku=profile.sku,
        support=profile.precisions.of(precision),
        achieved_tflops=None if rate is None else round(rate, 1),
        is_measured=rate is not None and profile.is_measured(precision),
        price_per_hour=price,
        tflops_hours_per_price=None if rate is None or price is None else round(rate / price, 1),
        watts=watts,
        tflops_per_watt=None if rate is None or watts is None else round(rate / watts, 3),
        is_opaque=profile.is_opaque,
    )


def _best_first(point: Point) -> tuple[bool, bool, bool, float, float, str]:
    return (
        point.is_opaque,
        point.achieved_tflops is None,
        point.tflops_hours_per_price is None,
        -(point.tflops_hours_per_price or 0),
        -(point.tflops_per_watt or 0),
        point.sku,
    )
