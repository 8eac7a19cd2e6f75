"""Layouts of partitions: legal ones only, and the ones that serve a workload evenly."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.layout import Class, Layout, layouts, suggest
from hetero_ops.gap.partition_fit import fits_together
from hetero_ops.gap.requirement import Requirement

CATALOG = Catalog.builtin()
A100 = CATALOG["A100-SXM4-80GB"]


def mix(*entries: tuple[str, str]) -> list[Class]:
    return [Class(request, Requirement.parse(request).choices[0], Fraction(weight)) for request, weight in entries]


@pytest.mark.parametrize(
    "sku", ["A100-SXM4-40GB", "A100-SXM4-80GB", "A30", "H100-SXM5-80GB", "H200-SXM-141GB", "MI300X"]
)
def test_every_layout_is_legal_and_none_is_there_twice(sku: str) -> None:
    found = layouts(CATALOG[sku])
    assert found[0] == ()
    assert len({tuple(sorted(layout)) for layout in found}) == len(found)
    assert all(fits_together(CATALOG[sku], layout) for layout in found if layout)


def test_the_largest_layouts_of_a_card_of_seven_slices_are_there() -> None:
    found = set(layouts(A100))
    assert {("1g.10gb",) * 7, ("3g.40gb", "3g.40gb"), ("4g.40gb", "3g.40gb"), ("7g.80gb",)} <= found
    assert ("4g.40gb", "4g.40gb") not in found


def suggested(number: int, *entries: tuple[str, str]) -> list[Layout]:
    return [layout for layout, _ in suggest([A100] * number, mix(*entries), CATALOG)]


def test_a_layout_serves_what_is_expected() -> None:
    assert suggested(1, ("A100/1g.10gb:1", "1")) == [("1g.10gb",) * 7]
    assert suggested(1, ("A100/3g.40gb:1", "1")) == [("3g.40gb",) * 2]
    assert suggested(1, ("A100:1", "1")) == [()]


def test_classes_are_served_by_their_weight() -> None:
    found = suggest([A100] * 2, mix(("A100/3g.40gb:1", "1"), ("A100:1", "1")), CATALOG)
    assert sorted(layout for layout, _ in found) == [(), ("3g.40gb", "3g.40gb")]


def test_what_no_single_device_serves_is_left_out() -> None:
    wanted = mix(("A100:8", "1"), ("gpu:0.25 >=4GB", "1"), ("A100/1g.10gb:1", "1"))
    assert [one.is_judged for one in wanted] == [False, False, True]
    ((layout, counts),) = suggest([A100], wanted, CATALOG)
    assert (layout, counts) == (("1g.10gb",) * 7, (0, 0, 7))


REQUESTS = ["A100/1g.10gb:1", "A100/2g.20gb:1", "A100/3g.40gb:1", "A100:1", "gpu:0.25 share=mig", "H100/1g.10gb:1"]


@given(st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=4, unique=True), st.integers(1, 4))
def test_what_is_suggested_is_legal_and_serves_no_more_than_it_has(requests: list[str], number: int) -> None:
    found = suggest([A100] * number, mix(*((request, "1") for request in requests)), CATALOG)
    assert len(found) == number
    for layout, counts in found:
        assert not layout or fits_together(A100, layout)
        assert sum(counts) <= max(len(layout), 1)
