"""The choices that follow from what a step agreed to, and what becomes of them on a fleet."""

import json
from typing import Any

import pytest

from hetero_ops import NoFit, Placement, Requirement
from hetero_ops.gap.rung import rungs
from hetero_ops.inject.environment import environment
from tests.placement.sample import H100, fleet, node


def labels(written: Any) -> list[str]:
    return [rung.label for rung in rungs(Requirement.parse(written))]


def test_what_agrees_to_nothing_stays_as_it_is() -> None:
    assert labels("H100:8 | MI300X:8 where bf16") == ["H100", "MI300X"]
    assert labels({"models": "H100", "quantizable": ["int8"]}) == ["H100"]  # nothing is known to become smaller


@pytest.mark.parametrize(
    ("least", "found"),
    [
        ("", ["H100", "H100 (fp8)", "H100 (int8)", "H100 (int4)"]),
        (" min_precision=int8", ["H100", "H100 (fp8)", "H100 (int8)"]),
        (" min_precision=bf16", ["H100"]),
    ],
)
def test_precisions_go_down_to_the_least_one(least: str, found: list[str]) -> None:
    written = {"accelerators": f"H100:2 bf16{least}", "quantizable": ["int4", "int8", "fp8", "bf16"]}
    assert labels(written) == found


def test_every_written_choice_goes_before_all_that_are_derived() -> None:
    written = {"accelerators": "H100:4 bf16 batch=scale | A100:4 bf16", "quantizable": ["int8"]}
    assert labels(written) == ["H100", "A100", "H100 (smaller batch)", "H100 (int8)", "A100 (int8)"]


def test_a_tensor_group_is_halved_as_far_as_allowed() -> None:
    choice = {"models": "H100", "parallel": {"tp": 8, "pp": 1, "dp": 2, "least_tp": 2}}
    found = rungs(Requirement.parse(choice))
    assert [rung.label for rung in found] == ["H100", "H100 (tp 4)", "H100 (tp 2)"]
    assert [rung.choice.count for rung in found] == [16, 8, 4]


def test_a_batch_shrinks_by_data_parallel_ranks() -> None:
    choice = {"models": "H100", "batch": "scale", "parallel": {"tp": 2, "dp": 3}}
    assert [(rung.label, rung.choice.count) for rung in rungs(Requirement.parse(choice))] == [
        ("H100", 6),
        ("H100 (dp 2)", 4),
        ("H100 (dp 1)", 2),
    ]


def test_a_derived_choice_is_degraded_and_says_what_it_is() -> None:
    small = fleet(node("a", f"8x{H100}", used=(0, 1, 2)))
    decision = small.place("H100:8 batch=scale")
    assert isinstance(decision, Placement)
    assert (decision.verdict, decision.choice, len(decision.devices)) == ("degraded", "H100 (smaller batch)", 5)
    assert small.place("H100:8").verdict == "busy"
    assert small.place("H100:5 batch=scale").verdict == "placed"


def test_a_quantized_step_is_told_so() -> None:
    old = fleet(node("a", "4xA100-SXM4-80GB"))  # which has no fp8
    step: dict[str, Any] = {"accelerators": "gpu:4 fp8", "quantizable": ["int4", "int8"]}
    decision = old.place(step)
    assert isinstance(decision, Placement)
    assert (decision.choice, decision.quantize) == ("gpu (int8)", "int8")
    assert isinstance(old.place("gpu:4 fp8"), NoFit)
    large: dict[str, Any] = {
        "accelerators": {"class": "gpu", "count": 1, "precision": "bf16"},
        "footprint": {"weights": "140GB@bf16"},
        "quantizable": ["int8"],
    }
    decision = old.place(large)
    assert isinstance(decision, Placement)
    assert (decision.verdict, decision.choice, decision.precision) == ("degraded", "gpu (int8)", "int8")
    assert decision.quantize == "int8"
    assert environment(decision).values["HETERO_OPS_QUANTIZE"] == "int8"
    assert json.loads(decision.to_json())["choice_index"] == 1


def test_what_was_written_counts_as_quantized_too() -> None:
    decision = fleet(node("a", f"1x{H100}")).place("H100:1 quant=int8")
    assert isinstance(decision, Placement)
    assert decision.quantize == "int8"
    plain = fleet(node("a", f"1x{H100}")).place("H100:1 int8")
    assert isinstance(plain, Placement)
    assert plain.quantize is None


def test_a_group_cannot_narrow_to_more_than_it_is() -> None:
    with pytest.raises(ValueError, match="least_tp 8 is not below tp 8"):
        Requirement.parse({"models": "H100", "parallel": {"tp": 8, "least_tp": 8}})


def test_a_model_and_no_other_is_never_quantized() -> None:
    written = {"accelerators": "H100!:2 bf16 | A100:2 bf16", "quantizable": ["int8"]}
    assert labels(written) == ["H100!", "A100", "A100 (int8)"]
