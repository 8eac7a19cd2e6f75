"""Devices with a network card on their PCIe root, where a step asks for it."""

import json
from typing import Any

import pytest

from hetero_ops import InvalidRequirement, Requirement
from hetero_ops.errors import InvalidDocument
from hetero_ops.placement.decision import Placement
from hetero_ops.placement.fleet import Fleet
from tests.placement.sample import JSON, fleet
from tests.placement.test_words import codes

NEAR_NIC: JSON = {"class": "gpu", "count": 2, "topology": {"nic": "same-root"}}


def with_nics(nic: object, **node: Any) -> Fleet:
    return fleet({"name": "n", "devices": [{"sku": "L4", "count": 4, **({} if nic is None else {"nic": nic})}], **node})


def test_devices_have_a_network_card_on_their_root_where_that_is_asked() -> None:
    some = with_nics([False, None, True, True])
    granted = some.place(NEAR_NIC)
    assert isinstance(granted, Placement)
    assert [grant.id for grant in granted.devices] == [2, 3]
    anywhere = some.place(NEAR_NIC | {"topology": {"nic": "any"}})
    assert isinstance(anywhere, Placement)
    assert [grant.id for grant in anywhere.devices] == [0, 1]
    assert with_nics([True] * 4).place(NEAR_NIC).ok


@pytest.mark.parametrize(("nic", "have"), [(None, 0), (False, 0), ([True, None, False, False], 1)])
def test_too_few_network_cards_or_unknown_ones_are_a_reason(nic: object, have: int) -> None:
    on = with_nics(nic)
    told = json.loads(on.place(NEAR_NIC).to_json())
    assert told["verdict"] == "impossible"
    assert [(r["code"], r["have"], r["want"]) for r in told["reasons"]] == [("NIC_APART", have, 2)]
    texts = [change["text"] for change in told["nearest"]["changes"]]
    assert "gpu: drop nic: same-root" in texts
    assert ("gpu: ask for 1 instead of 2" in texts) == (have == 1)


def test_a_near_network_card_in_use_or_broken_is_waited_for() -> None:
    used = [{"owner": "x", "devices": [2]}]
    assert (with_nics([False, False, True, True], used=used).place(NEAR_NIC)).verdict == "busy"
    near: JSON = {"sku": "L4", "count": 1, "nic": True}
    broken = fleet({"name": "n", "devices": [near, near | {"health": "unhealthy"}, {"sku": "L4", "count": 2}]})
    assert codes(NEAR_NIC, broken) == {"n": "UNHEALTHY"}


def test_a_near_network_card_counts_within_an_island_and_a_numa_node() -> None:
    linked: JSON = {"sku": "A100-SXM4-80GB", "count": 4, "islands": [[0, 1], [2, 3]], "nic": [True, False, True, True]}
    granted = fleet({"name": "n", "devices": [linked]}).place(NEAR_NIC | {"link": "fabric"})
    assert isinstance(granted, Placement)
    assert [grant.id for grant in granted.devices] == [2, 3]
    one_each = linked | {"nic": [True, False, True, False]}
    assert codes(NEAR_NIC | {"link": "fabric"}, fleet({"name": "n", "devices": [one_each]})) == {"n": "NIC_APART"}
    apart = linked | {"numa": [0, 0, 1, 1], "nic": [True, False, True, False]}
    on_one = NEAR_NIC | {"topology": {"nic": "same-root", "numa": "require"}}
    assert codes(on_one, fleet({"name": "n", "devices": [apart]})) == {"n": "NUMA_SPLIT"}


def ids(on: Fleet, requirement: str | JSON) -> list[tuple[str, int]]:
    granted = on.place(requirement)
    assert isinstance(granted, Placement), granted.why()
    return [(grant.node, grant.id) for grant in granted.devices]


@pytest.mark.parametrize(
    ("nic", "devices"),
    [
        ([False, None, True, True], [2, 3]),
        ([False, None, False, True], [0, 3]),  # unknown is not known to be near
        (None, [0, 1]),
        (True, [0, 1]),
    ],
)
def test_devices_with_a_network_card_go_first_where_it_is_preferred(nic: object, devices: list[int]) -> None:
    for prefers in ("gpu:2 nic=prefer", NEAR_NIC | {"topology": {"nic": "prefer"}}):
        assert ids(with_nics(nic), prefers) == [("n", device) for device in devices]


def test_the_score_comes_before_a_preferred_network_card() -> None:
    near: JSON = {"sku": "A100-SXM4-80GB", "count": 4, "islands": [[0, 1], [2, 3]], "nic": [False, True, True, False]}
    on = fleet({"name": "n", "devices": [near]})
    assert ids(on, "A100:2 nic=prefer") == [("n", 0), ("n", 1)]  # an island before two cards near a network card
    assert ids(on, "A100 nic=prefer") == [("n", 1)]


def test_of_equal_nodes_those_near_a_network_card_are_taken() -> None:
    near = {"a": [False, False], "b": [True, False], "c": [True, True], "d": [True, True]}
    nodes = ({"name": name, "devices": [{"sku": "L4", "count": 2, "nic": nic}]} for name, nic in near.items())
    on = fleet(*nodes)
    assert ids(on, "gpu:1") == [("a", 0)]
    assert ids(on, "gpu:1 nic=prefer") == [("b", 0)]
    assert ids(on, "gpu:2 nic=prefer") == [("c", 0), ("c", 1)]
    assert ids(on, "gpu:4 nodes=2") == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert ids(on, "gpu:4 nodes=2 nic=prefer") == [("c", 0), ("c", 1), ("d", 0), ("d", 1)]
    assert ids(on, "gpu:2 nodes=2 nic=prefer") == [("b", 0), ("c", 0)]


def test_the_words_are_read_and_written() -> None:
    for word in ("same-root", "prefer"):
        requirement = Requirement.parse({"class": "gpu", "topology": {"nic": word}})
        assert str(requirement) == f"gpu nic={word}"
        assert Requirement.parse(str(requirement)) == requirement
    with pytest.raises(InvalidRequirement, match="same-root, prefer"):
        Requirement.parse("gpu nic=near")


@pytest.mark.parametrize("solver", ["greedy", "search", "genetic"])
def test_plans_of_many_steps_keep_to_near_network_cards(solver: Any) -> None:
    plan = with_nics([False, True, True, False]).place_all([NEAR_NIC, NEAR_NIC], solver=solver, steps=20)
    assert [[grant.id for grant in placement.devices] for placement in plan.placements] == [[1, 2]]


def test_the_answers_on_network_cards_are_as_many_as_the_devices() -> None:
    with pytest.raises(
        InvalidDocument, match=r"devices\[0\].nic: 1 answers for 4 devices; give one, or one per device"
    ):
        with_nics([True])
    with pytest.raises(InvalidDocument, match="true or false, or a list of true, false or null per device"):
        with_nics("mlx5_0")
