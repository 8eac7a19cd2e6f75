import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.comparison import compare
from hetero_ops.gap.curve import curve

CATALOG = Catalog.builtin()
DEVICES = [CATALOG[sku] for sku in ("H100-SXM5-80GB", "MI300X", "B200-SXM-180GB", "T4", "TPU-v5p")]


def order(prices: dict[str, float]) -> list[str]:
    return [point.sku for point in curve(DEVICES, "fp8", prices)]


def test_the_ranking_changes_with_the_prices() -> None:
    cheap_amd = {"H100-SXM5-80GB": 2.0, "MI300X": 1.5, "B200-SXM-180GB": 5.0}
    cheap_nvidia = {"H100-SXM5-80GB": 1.0, "MI300X": 3.0, "B200-SXM-180GB": 5.0}
    assert order(cheap_amd)[:3] == ["MI300X", "H100-SXM5-80GB", "B200-SXM-180GB"]
    assert order(cheap_nvidia)[:3] == ["H100-SXM5-80GB", "B200-SXM-180GB", "MI300X"]


def test_without_prices_power_ranks_and_what_has_no_rate_comes_last() -> None:
    assert order({}) == ["B200-SXM-180GB", "MI300X", "H100-SXM5-80GB", "T4", "TPU-v5p"]


def test_a_point_says_what_it_rests_on() -> None:
    points = {point.sku: point for point in curve(DEVICES, "fp8", {"H100-SXM5-80GB": 2.0, "TPU-v5p": 1.0})}
    h100, mi300x, opaque = points["H100-SXM5-80GB"], points["MI300X"], points["TPU-v5p"]
    assert (h100.achieved_tflops, h100.is_measured) == (1403.0, True)
    assert (h100.tflops_hours_per_price, h100.watts, h100.tflops_per_watt) == (701.5, 700, 2.004)
    assert (mi300x.is_measured, mi300x.price_per_hour, mi300x.tflops_hours_per_price) == (False, None, None)
    assert (opaque.is_opaque, opaque.achieved_tflops, opaque.tflops_hours_per_price) == (True, None, None)
    assert points["T4"].support == "unsupported"


@pytest.mark.parametrize(("field", "ratio"), [("memory_mib", 2.4), ("bandwidth_mbps", 1.582), ("pair_mbps", 0.142)])
def test_a_comparison_gives_ratios_to_the_first(field: str, ratio: float) -> None:
    first, second = compare([CATALOG["H100-SXM5-80GB"], CATALOG["MI300X"]])
    assert (first.figures[field].ratio, second.figures[field].ratio) == (1, ratio)


def test_peaks_mislead_and_so_both_are_given() -> None:
    _, mi300x = compare([CATALOG["H200-SXM-141GB"], CATALOG["MI300X"]])
    assert mi300x.peaks["bf16"].ratio == 1.321
    assert mi300x.achieved["bf16"].ratio == 0.848


def test_an_opaque_device_is_compared_by_memory_never_by_rates() -> None:
    _, tpu = compare([CATALOG["H100-SXM5-80GB"], CATALOG["TPU-v5p"]])
    assert tpu.figures["memory_mib"].ratio == 1.188
    assert {figure.value for figure in (*tpu.peaks.values(), *tpu.achieved.values())} == {None}
