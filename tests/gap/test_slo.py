"""Targets are relaxed by what was stated, exactly, and by nothing else."""

import pytest

from hetero_ops.gap.choice import Choice
from hetero_ops.gap.contract import Degrade
from hetero_ops.gap.slo import relaxed_slo

PLAIN, RELAXED = Degrade(), Degrade(slo_relax={"latency": "1.05", "throughput": "1.25"})


@pytest.mark.parametrize(
    ("words", "degrade", "is_degraded", "expected"),
    [
        # nothing stated, nothing relaxed: neither by being degraded nor by a constant
        ({}, PLAIN, True, {"latency": 200_000, "throughput": 50_000_000}),
        ({}, RELAXED, False, {"latency": 200_000, "throughput": 50_000_000}),
        ({"impact": "10%"}, PLAIN, True, {"latency": 220_000, "throughput": 45_000_000}),
        ({"impact": "10%"}, PLAIN, False, {"latency": 220_000, "throughput": 45_000_000}),
        ({"impact": "0.5%"}, PLAIN, True, {"latency": 201_000, "throughput": 49_750_000}),
        ({}, RELAXED, True, {"latency": 210_000, "throughput": 40_000_000}),
        ({"impact": "10%"}, RELAXED, True, {"latency": 231_000, "throughput": 36_000_000}),
        ({"impact": "10%"}, RELAXED, False, {"latency": 220_000, "throughput": 45_000_000}),
    ],
)
def test_by_what_was_stated(words, degrade, is_degraded, expected) -> None:
    choice = Choice("H100", slo="latency:200ms,throughput:50", **words)
    assert dict(relaxed_slo(choice, degrade, is_degraded=is_degraded)) == expected


@pytest.mark.parametrize(("latency", "expected"), [("5ms", 5_500), ("1ms", 1_100), ("7ms", 7_700)])
def test_an_impact_needs_no_rounding(latency, expected) -> None:
    choice = Choice("H100", slo=f"latency:{latency}", impact="10%")
    assert relaxed_slo(choice, PLAIN, is_degraded=True) == (("latency", expected),)


def test_a_factor_rounds_to_the_looser_side() -> None:
    choice = Choice("H100", slo="latency:1ms,throughput:0.001", impact="0.1%")
    degrade = Degrade(slo_relax={"latency": "1.001", "throughput": "1.001"})
    # 1.002001 ms and 0.000998001.. a second
    assert dict(relaxed_slo(choice, degrade, is_degraded=True)) == {"latency": 1_003, "throughput": 998}


def test_without_targets_there_is_nothing_to_keep() -> None:
    assert relaxed_slo(Choice("H100", impact="10%"), RELAXED, is_degraded=True) == ()
