"""A weight for little draw: devices in use and those of low TDP come first, where it is asked for."""

import json

import pytest

from hetero_ops import Fleet, InvalidRequirement, NoFit, Placement
from tests.placement.sample import JSON, fleet

PLAIN = {"performance": 50, "topology": 25, "fragmentation": 15, "power": 10}
SAVING = PLAIN | {"draw": 40}
L4_W, H100_W, A100_W = 72, 700, 400


def two() -> Fleet:
    used: JSON = {"owner": "someone", "devices": [3], "share_milli": 250}
    return fleet(
        {"name": "big", "devices": [{"sku": "H100-SXM5-80GB", "count": 8}], "used": [used]},
        {"name": "small", "cpu_milli": 16_000, "devices": [{"sku": "L4", "count": 4}]},
    )


def terms(decision: Placement | NoFit) -> dict[str, JSON]:
    assert isinstance(decision, Placement), decision.why()
    return {term["name"]: term for term in json.loads(decision.to_json())["terms"]}


def test_there_is_no_such_term_unless_it_is_asked() -> None:
    assert "draw" not in terms(two().place("gpu:1"))
    assert "draw" not in terms(two().place("gpu:1", weights=PLAIN | {"draw": 0}))
    assert "draw" not in terms(two().place("cpu:1", weights=SAVING))


@pytest.mark.parametrize(
    ("asked", "watt"),
    [("H100:1", H100_W), ("H100:2", 2 * H100_W), ("H100:0.5", 0), ("L4:1", L4_W), ("L4:4", 4 * L4_W)],
)
def test_idle_devices_add_their_tdp_and_devices_in_use_nothing(asked: str, watt: int) -> None:
    draw = terms(
        two().place(asked, weights={"performance": 0, "topology": 0, "fragmentation": 1, "draw": 1000, "power": 0})
    )
    assert draw["draw"]["value"] == pytest.approx(700 / (700 + watt), abs=1e-4)
    assert draw["draw"]["why"] == f"adds up to {watt} W"


def test_all_weights_add_up_with_it() -> None:
    shown = terms(two().place("gpu:1", weights=SAVING))
    assert sum(term["weight"] for term in shown.values()) == pytest.approx(100, abs=1e-3)


def test_a_part_of_a_device_goes_where_one_is_in_use_already() -> None:
    half = two().place("gpu:0.5", weights=SAVING)
    assert (half.nodes, [grant.id for grant in half.devices]) == (["big"], [3])


def test_unknown_draw_is_half_and_says_so() -> None:
    unknown = fleet({"name": "odd", "devices": [{"sku": "unknown", "model": "X9", "count": 1}]})
    draw = terms(unknown.place("X9", weights=SAVING))["draw"]
    assert (draw["value"], draw["why"]) == (0.5, "not judged: the TDP of a device is unknown")


def test_steps_over_several_nodes_have_it_as_the_mean() -> None:
    pair = fleet(*({"name": name, "devices": [{"sku": "A100-SXM4-80GB", "count": 2}]} for name in "ab"))
    draw = terms(pair.place("A100:4 nodes=2", weights=SAVING))["draw"]
    assert draw["value"] == pytest.approx(700 / (700 + 2 * A100_W), abs=1e-4)


def test_it_tells_answers_apart_and_is_bounded() -> None:
    ids = {two().place("L4", weights=PLAIN | {"draw": draw}).trace_id for draw in (0, 1, 2)}
    assert len(ids) == 3
    assert two().place("L4", weights=PLAIN).trace_id == two().place("L4").trace_id
    with pytest.raises(InvalidRequirement, match="each is 0 to 1000"):
        two().place("L4", weights=PLAIN | {"draw": 1001})
