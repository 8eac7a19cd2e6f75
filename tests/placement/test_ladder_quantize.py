"""Quantizing: by consent only, down to the least precision, with its own flag and the memory that it needs."""

from typing import Any

import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inject.environment import environment
from hetero_ops.placement.ladder_step import Fail, Run
from tests.placement.climbing import Host
from tests.placement.sample import fleet, node

A100, B300 = "A100-SXM4-80GB", "B300-SXM6-270GB"
FOOTPRINT = {"weights": "140GB@bf16", "activations": "4GB"}  # 144 GB as it is, 74 GB in int8, 39 GB in int4


def one(sku: str, **step: Any) -> Run | Fail:
    accelerators = step.pop("accelerators", "gpu:1 bf16")
    found = Host({"accelerators": accelerators, "footprint": FOOTPRINT, **step}, fleet(node("n", f"1x{sku}"))).next()
    assert isinstance(found, Run | Fail)
    return found


def test_an_int8_target_sets_the_flag_of_int8_and_nothing_of_fp8() -> None:
    step = one(A100, quantizable=["int8", "fp8"])
    assert isinstance(step, Run)
    assert (step.taken.label, step.taken.quantize, step.taken.is_derived) == ("gpu (int8)", "int8", True)
    values = environment(step.placement).values
    assert (values["HETERO_OPS_QUANTIZE"], values["HETERO_OPS_PRECISION"]) == ("int8", "int8")
    assert "fp8" not in "".join([*values, *values.values()]).lower()


def test_the_memory_is_that_of_the_quantized_weights() -> None:
    assert isinstance(one("A100-SXM4-40GB", quantizable=["int8"]), Fail)  # 74 GB do not fit
    step = one("A100-SXM4-40GB", quantizable=["int8", "int4"])
    assert isinstance(step, Run)
    assert step.taken.quantize == "int4"


@pytest.mark.parametrize(
    "step",
    [
        {},  # no consent
        {"quantizable": ["int8"], "accelerators": "gpu:1 bf16 min_precision=bf16"},
        {"quantizable": ["int4"], "accelerators": "gpu:1 bf16 min_precision=int8"},
        {"quantizable": ["int8"], "accelerators": "A100-80GB!:1 bf16"},
    ],
)
def test_without_consent_nothing_is_quantized(step) -> None:
    found = one(A100, **step)
    assert isinstance(found, Fail)
    assert found.verdict == "impossible"


def test_consent_of_one_choice_is_consent_for_that_choice() -> None:
    step = one(A100, accelerators="H100:1 | A100:1 quant=int8 where bf16")
    assert isinstance(step, Run)
    assert (step.taken.label, step.taken.quantize, step.taken.is_derived) == ("A100", "int8", False)


BARELY_INT8 = [
    profile.sku for profile in Catalog.builtin() if profile.precisions.int8 == "degraded" and profile.rates.bf16
]


def test_what_barely_has_int8_is_known() -> None:
    assert {"B300-SXM6-270GB", "GB300-279GB"} <= set(BARELY_INT8)


@pytest.mark.parametrize("sku", BARELY_INT8)
def test_what_barely_has_int8_is_never_offered_it(sku) -> None:
    there = fleet(node("n", f"2x{sku}"))
    large = {"weights": "1000GB@bf16"}  # twice too large for two of them
    for step in (
        {"accelerators": "accel:2 bf16", "quantizable": ["int8"]},
        {"accelerators": "accel:2 bf16 quant=int8"},
        {"accelerators": "accel:2 bf16 | accel:2 quant=int8", "quantizable": ["int8"]},
    ):
        found = Host({**step, "footprint": large}, there).next()
        assert isinstance(found, Fail)
        assert found.verdict == "impossible"
    found = Host({"accelerators": "accel:2 bf16", "footprint": large, "quantizable": ["int8", "fp8"]}, there).next()
    assert isinstance(found, Run)
    assert found.taken.quantize == "fp8"
