"""What a node's state means for steps: only active nodes take any, and what is on the others stays counted."""

import json

import pytest

from tests.placement.sample import fleet, node

STATES = [
    ("cordoned", "CORDONED"),
    ("draining", "CORDONED"),
    ("maintenance", "CORDONED"),
    ("burn-in", "BURN_IN"),
    ("quarantined", "UNHEALTHY"),
]


@pytest.mark.parametrize(("state", "code"), STATES)
def test_only_active_nodes_take_steps(state: str, code: str) -> None:
    closed = fleet(node("a", "2xL4", state=state))
    refused = json.loads(closed.place("L4").to_json())
    assert refused["verdict"] == "busy"  # it may return, so waiting can help
    assert [(reason["code"], reason["nodes"]) for reason in refused["reasons"]] == [(code, ["a"])]
    assert fleet(node("a", "2xL4", state=state), node("b", "2xL4")).place("L4").nodes == ["b"]
    assert fleet(node("a", "2xL4", state="active")).place("L4").nodes == ["a"]


@pytest.mark.parametrize("state", [state for state, _ in STATES])
def test_a_closed_node_keeps_its_devices_and_has_none_free(state: str) -> None:
    (row,) = fleet(node("a", "2xL4", state=state, used=(0,))).overview()
    assert (row["nodes"], row["closed_nodes"], row["devices"], row["free_devices"]) == (1, 1, 2, 0)


def test_an_unhealthy_device_is_left_out_and_its_neighbours_are_not() -> None:
    devices = [{"sku": "L4", "count": 3}, {"sku": "L4", "count": 1, "health": "unhealthy"}]
    one = fleet(node("a", *devices))
    assert [grant.id for grant in one.place("L4:3").devices] == [0, 1, 2]
    refused = json.loads(one.place("L4:4").to_json())
    assert (refused["verdict"], [reason["code"] for reason in refused["reasons"]]) == ("busy", ["UNHEALTHY"])
