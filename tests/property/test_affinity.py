"""The affinity of every device of the catalog, against the slow reference and against what must always hold."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import compile_choice
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.requirement import Requirement
from tests.reference.affinity import affinity
from tests.reference.filtering import misfit_of_device
from tests.reference.model import JSON, Device
from tests.reference.reader import read_fleet
from tests.reference.strategies import requirements

CATALOG = Catalog.builtin()
PROFILES = tuple(CATALOG)
PRESETS = ("aware", "classic")
ASKED = requirements({"clusters": []})


def device(profile: Profile) -> Device:
    group = {"sku": profile.sku, "count": 1}
    (one,) = read_fleet({"clusters": [{"name": "a", "nodes": [{"name": "n", "devices": [group]}]}]}, CATALOG).devices()
    return one


def compiled(requirement: Requirement) -> list[JSON]:
    return [compile_choice(choice, CATALOG, ()) for choice in requirement.choices]


def faster(profile: Profile, **fields: Any) -> Profile:
    return profile.model_copy(update={key: value for key, value in fields.items() if value is not None})


@given(st.sampled_from(PROFILES), ASKED, st.sampled_from(PRESETS))
def test_the_core_agrees_with_the_reference(profile: Profile, requirement: Requirement, preset: str) -> None:
    told = profile.affinity(requirement, preset=preset)
    asked, one = compiled(requirement), device(profile)
    fitting = [index for index, choice in enumerate(asked) if misfit_of_device(one, choice) is None]
    assert told.choice_index == (fitting[0] if fitting else None)
    expected = affinity(one, asked[fitting[0]], preset) if fitting else 0
    assert float(told) == pytest.approx(float(expected), abs=0.5e-4 + 1e-9)  # shown with four decimals


@given(st.sampled_from(PROFILES), ASKED, st.sampled_from(PRESETS))
def test_it_is_zero_exactly_where_the_device_can_serve_no_choice(
    profile: Profile, requirement: Requirement, preset: str
) -> None:
    told = profile.affinity(requirement, preset=preset)
    is_served = any(misfit_of_device(device(profile), choice) is None for choice in compiled(requirement))
    assert (told.value > 0) is is_served is (told.choice is not None) is (told.code is None)
    assert told.value == 0 or 0.1 <= told.value <= 100
    assert told == profile.affinity(requirement, preset=preset)


@given(st.sampled_from(PROFILES), ASKED, st.sampled_from(PRESETS), st.floats(1, 10))
def test_a_faster_device_is_never_worth_less(
    profile: Profile, requirement: Requirement, preset: str, factor: float
) -> None:
    one_choice = Requirement(choices=requirement.choices[:1])  # with several, it may come to serve an earlier one

    def value(other: Profile) -> float:
        return float(other.affinity(one_choice, preset=preset))

    before = value(profile)
    rates = {word: rate * factor for word, rate in profile.rates.model_dump().items() if rate is not None}
    assert value(faster(profile, rates=type(profile.rates)(**rates))) >= before
    for figure in ("bandwidth_mbps", "interconnect_mbps"):
        known = getattr(profile, figure)
        assert value(faster(profile, **{figure: known and int(known * factor)})) >= before


@given(st.sampled_from(PROFILES), ASKED, st.sampled_from(PRESETS))
def test_an_affinity_explains_itself(profile: Profile, requirement: Requirement, preset: str) -> None:
    told = profile.affinity(requirement, preset=preset)
    assert all(0 <= term.value <= 1 for term in told.terms)
    if told.choice is None:
        assert told.why() == f"affinity 0: it can serve no choice ({told.code})\n"
        return
    points = sum(term.points for term in told.terms)
    assert min(max(points, 0.1), 100) == pytest.approx(told.value, abs=3e-4)
    assert sum(term.weight for term in told.terms) == pytest.approx(100, abs=1e-3)
    assert len(told.why().splitlines()) == 1 + len(told.terms)
