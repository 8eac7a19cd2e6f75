"""Devices that lie further apart never score better: one island, one NUMA node, one node."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.placement.sample import JSON, fleet, node

PLACES = st.lists(st.integers(0, 2), min_size=2, max_size=6)


def topology(numa: list[int], islands: list[list[int]]) -> float:
    """The value of all devices of a node together."""
    devices = {"sku": "H100-SXM5-80GB", "count": len(numa), "numa": numa, "islands": islands}
    answer: JSON = json.loads(fleet(node("a", devices)).place(f"H100:{len(numa)}").to_json())
    return float(next(term["value"] for term in answer["terms"] if term["name"] == "topology"))


@given(PLACES, st.data())
def test_a_device_moved_to_a_numa_node_of_its_own_never_gains(numa: list[int], data: st.DataObject) -> None:
    moved = data.draw(st.integers(0, len(numa) - 1))
    apart = [9 if index == moved else place for index, place in enumerate(numa)]
    assert topology(apart, []) <= topology(numa, []) <= topology([0] * len(numa), [])


@given(PLACES, st.data())
def test_a_device_that_leaves_its_island_never_gains(numa: list[int], data: st.DataObject) -> None:
    size = data.draw(st.integers(2, len(numa)))
    whole, smaller = list(range(size)), list(range(size - 1))
    joined, parted = (topology(numa, [island] if len(island) > 1 else []) for island in (whole, smaller))
    assert topology(numa, []) <= parted < joined
