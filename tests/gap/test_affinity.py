import pytest

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.requirement import Requirement

CATALOG = Catalog.builtin()
H100 = CATALOG["H100-SXM5-80GB"]


def values(sku: str, request: str, preset: str) -> dict[str, float]:
    return {term.name: term.value for term in CATALOG[sku].affinity(request, preset=preset).terms}


def changed(profile: Profile, **rates: float | None) -> Profile:
    return profile.model_copy(update={"rates": profile.rates.model_copy(update=rates)})


def test_the_reference_device_gets_one_half_of_every_rate() -> None:
    parts = values("H100-SXM5-80GB", "H100:8 >=40GB bf16", "aware")
    assert parts == {"compute": 0.5, "bandwidth": 0.5, "link": 0.5, "memory_fit": 1.0}


def test_the_classic_preset_divides_and_clamps() -> None:
    parts = values("H100-SXM5-80GB", "H100:8 >=40GB bf16", "classic")
    assert parts == {"compute": 0.3298, "bandwidth": 0.5583, "link": 1.0, "memory_fit": 1.0}
    # 40 * 989.4 / 3000 + 25 * 3.35 / 6 + 20 + 15
    assert float(H100.affinity("H100:8 >=40GB bf16", preset="classic")) == pytest.approx(62.1503, abs=1e-4)
    assert values("B300-SXM6-270GB", "gpu:8 fp4", "classic")["compute"] == 1.0


@pytest.mark.parametrize(
    ("floor", "value"), [("8GB", 1 / 3), ("24GB", 1.0), ("40GB", 1.0), ("71GB", 1.0), ("72GB", 1 / 3), ("80GB", 1 / 3)]
)
def test_memory_fits_well_between_three_and_nine_tenths(floor: str, value: float) -> None:
    for preset in ("aware", "classic"):
        assert values("H100-SXM5-80GB", f"H100 >={floor}", preset)["memory_fit"] == pytest.approx(value, abs=1e-4)


def test_a_share_is_compared_with_what_is_granted_of_the_device() -> None:
    assert values("H100-SXM5-80GB", "H100:0.25 >=10GB", "classic") == values("H100-SXM5-80GB", "H100 >=40GB", "classic")


def test_what_is_not_asked_is_left_out_and_the_rest_scaled_to_100() -> None:
    told = H100.affinity("H100", preset="classic")
    assert {term.name: term.weight for term in told.terms} == {"compute": 61.5385, "bandwidth": 38.4615}
    assert float(told) == pytest.approx((40 * 0.3298 + 25 * 3.35 / 6) * 100 / 65, abs=1e-2)


def test_the_precision_asked_is_the_one_that_counts() -> None:
    for preset in ("aware", "classic"):
        by_int8 = sorted(CATALOG, key=lambda profile: float(profile.affinity("gpu int8", preset=preset)), reverse=True)
        assert float(CATALOG["B300-SXM6-270GB"].affinity("gpu int8", preset=preset)) == 0
        rates = [p.rates.int8 for p in by_int8[:3]]
        assert min(rate for rate in rates if rate) > 1900
    assert CATALOG["B300-SXM6-270GB"].affinity("gpu int8").code == "PRECISION_UNSUPPORTED"
    (compute, *_) = H100.affinity("gpu int8 | gpu").terms
    assert compute.why == "1978.9 TFLOPS int8"


def test_an_unknown_rate_is_nothing_and_said_never_another_precision() -> None:
    unknown = changed(H100, int8=None)
    (compute, *_) = unknown.affinity("gpu int8").terms
    assert (compute.value, compute.why) == (0, "no known rate in int8")
    (compute, *_) = changed(H100, bf16=None).affinity("gpu").terms
    assert compute.why == "989.4 TFLOPS fp16"  # none is asked: fp16 where bf16 is unknown, and it says so
    nothing = H100.model_copy(update={"rates": type(H100.rates)(), "bandwidth_mbps": None})
    assert float(nothing.affinity("gpu")) == 0.1


def test_the_first_choice_that_the_device_can_serve_counts() -> None:
    told = H100.affinity("MI300X | H100 fp8 | H100")
    assert (told.choice, told.choice_index, told.code) == ("H100", 1, None)
    refused = H100.affinity("MI300X | A100,L4 | npu")
    assert (float(refused), refused.choice, refused.terms, refused.code) == (0, None, (), "MODEL_MISMATCH")


def test_parsed_requirements_and_other_catalogs_do() -> None:
    parsed = Requirement.parse("H100:8 bf16")
    assert H100.affinity(parsed, catalog=CATALOG) == H100.affinity("H100:8 bf16")


def test_what_cannot_be_understood_is_refused() -> None:
    with pytest.raises(InvalidRequirement, match='unknown policy "best"; there are "aware" and "classic"'):
        H100.affinity("gpu", preset="best")
    with pytest.raises(InvalidRequirement, match="did you mean"):
        H100.affinity("H1000")
