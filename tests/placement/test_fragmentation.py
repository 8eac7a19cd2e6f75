from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops.placement.decision import Placement
from hetero_ops.placement.fleet import Fleet
from tests.placement.sample import H100, JSON, fleet, node

TWO = [{"request": "gpu:2", "weight": 1}]


def entries(**weights: float) -> list[JSON]:
    return [{"request": request.replace("_", ":"), "weight": weight} for request, weight in weights.items()]


def milli(of: Fleet) -> float:
    return of.fragmentation()["fragmentation_milli"]


def test_the_empty_trace_has_the_published_value(test_data: Callable[[str], Path]) -> None:
    nodes, tasks = (test_data(f"openb/openb_{name}.csv") for name in ("node_list_gpu_node", "pod_list_default"))
    report = Fleet.load(nodes, mix=tasks).fragmentation()
    assert report["fragmentation_milli"] == 866_232.55
    assert (report["classes"], report["capacity_milli"], report["free_milli"]) == (35, 6_212_000, 6_212_000)


def test_devices_of_two_kinds_on_one_node_are_not_a_pair() -> None:
    assert milli(fleet(node("a", f"1x{H100}", "1xMI300X"), mix=TWO)) == 2000
    assert milli(fleet(node("a", "2xMI300X"), mix=TWO)) == 0
    assert milli(fleet(node("a", "3xMI300X"), mix=TWO)) == 0


def test_whole_islands_of_two_kinds_are_as_good_on_one_node_as_on_two() -> None:
    # Steps for H100 cannot use an MI300X wherever it is: that half of each class is no fault of the node.
    mix = entries(H100_4=1, MI300X_4=1)
    together = fleet(node("a", f"4x{H100}", "4xMI300X"), mix=mix)
    apart = fleet(node("a", f"4x{H100}"), node("b", "4xMI300X"), mix=mix)
    assert milli(together) == milli(apart) == 4000
    assert milli(fleet(node("a", f"4x{H100}", "4xMI300X"), mix=entries(gpu_4=1))) == 0


def test_one_device_taken_from_an_island_makes_the_rest_useless() -> None:
    mix = entries(H100_4=1, MI300X_4=1)
    broken = fleet(node("a", f"4x{H100}", "4xMI300X", used=(0,)), mix=mix)
    assert (
        milli(broken) == 0.5 * 7000 + 0.5 * 3000
    )  # for MI300X:4 three are of the wrong kind, for H100:4 all seven are


def test_shares_that_are_too_small_are_useless() -> None:
    half = {"owner": "x", "devices": [0], "share_milli": 500}
    shared = node("a", "2xL4") | {"used": [half]}
    assert milli(fleet(shared, mix=[{"request": "gpu:1", "weight": 1}])) == 500
    assert milli(fleet(shared, mix=[{"request": "gpu:0.5", "weight": 1}])) == 0
    assert milli(fleet(shared, mix=TWO)) == 1500


def test_an_island_counts_where_the_class_asks_for_one() -> None:
    split = {"sku": H100, "count": 4, "islands": [[0, 1], [2, 3]]}
    assert milli(fleet(node("a", split), mix=[{"request": "gpu:4", "weight": 1}])) == 0
    assert milli(fleet(node("a", split), mix=[{"request": "gpu:4 fabric", "weight": 1}])) == 4000
    assert milli(fleet(node("a", split), mix=[{"request": "gpu:2 fabric", "weight": 1}])) == 0


def test_steps_without_an_accelerator_use_none() -> None:
    assert milli(fleet(node("a", "2xL4", cpu_milli=64_000), mix=[{"request": "cpu:1", "weight": 1}])) == 2000


@pytest.mark.parametrize("closed", [{"state": "cordoned"}, {"state": "quarantined"}, {"used": (0, 1)}])
def test_what_is_not_free_is_not_fragmented(closed: JSON) -> None:
    report = fleet(node("a", "2xL4", **closed), mix=[{"request": "H100:1", "weight": 1}]).fragmentation()
    assert (report["free_milli"], report["fragmentation_milli"], report["fragmentation_ratio"]) == (0, 0, None)
    assert (report["capacity_milli"], report["nodes"]) == (2000, [])


def test_the_worst_node_comes_first() -> None:
    report = fleet(node("a", "2xL4"), node("b", "1xL4"), node("c", "3xL4", used=(0, 1)), mix=TWO).fragmentation()
    assert [(n["node"], n["fragmentation_milli"]) for n in report["nodes"]] == [("b", 1000), ("c", 1000), ("a", 0)]
    assert report["fragmentation_ratio"] == 0.5


def test_placing_where_nothing_else_fits_mends_fragmentation() -> None:
    broken = fleet(node("a", "1xL4"), node("b", "2xL4"), mix=TWO)
    decision = broken.place("L4:1")
    assert isinstance(decision, Placement)
    assert decision.nodes == ["a"]
    broken.commit(decision)
    assert milli(broken) == 0
