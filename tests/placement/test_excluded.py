"""What failed a step is not given to its next try."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero_ops import Fleet
from hetero_ops.errors import InvalidDocument, StalePlacement
from hetero_ops.placement.excluded import DevicePlace, Excluded, NodePlace, without
from tests.placement.sample import fleet, node

H100 = {"sku": "H100-SXM5-80GB", "count": 8}
CLUSTER = fleet(node("a", H100)).place("H100").cluster


def device(name, number):
    return Excluded(devices=(DevicePlace(CLUSTER, name, number),))


def nodes(*names):
    return Excluded(nodes=tuple(NodePlace(CLUSTER, name) for name in names))


def places(fleet, asked):
    return {(granted.node, granted.id) for granted in fleet.place(asked).devices}


def test_a_device_is_not_given_and_the_others_are():
    left = without(fleet(node("a", H100)), device("a", 3))
    assert places(left, "H100:7") == {("a", number) for number in range(8)} - {("a", 3)}
    assert left.place("H100:8").codes == ["UNHEALTHY"]


def test_a_node_is_not_given_and_the_others_are():
    left = without(fleet(node("a", H100), node("b", H100)), nodes("a"))
    assert left.place("H100:8").nodes == ["b"]
    refused = without(left, nodes("b")).place("H100:8")
    assert (refused.verdict, refused.codes) == ("busy", ["CORDONED"])


def test_the_fleet_itself_stays_as_it_is():
    whole = fleet(node("a", H100))
    without(whole, device("a", 3) | nodes("a"))
    assert len(places(whole, "H100:8")) == 8


def test_what_is_held_elsewhere_stays_held():
    whole = fleet(node("a", H100))
    whole.commit(whole.place("H100:4"))
    free = places(whole, "H100:4")
    left = without(whole, device("a", min(free)[1]))
    assert places(left, "H100:3") < free
    assert not left.place("H100:4").ok


def test_what_is_excluded_must_not_be_held():
    whole = fleet(node("a", H100))
    whole.commit(whole.place("H100:8"))
    with pytest.raises(StalePlacement, match="device 3 of a: held in this fleet; exclude before you commit"):
        without(whole, device("a", 3))


def test_what_is_in_use_there_goes_on_and_what_others_book_there_is_no_matter():
    left = without(fleet(node("a", H100, used=(3,))), device("a", 3) | device("a", 4))
    assert places(left, "H100:6") == {("a", number) for number in (0, 1, 2, 5, 6, 7)}
    booked = fleet(node("a", H100))
    holds = booked.holding(booked.place("H100:8")).holds
    hold = left.occupy(holds)
    assert not left.place("H100:1").ok
    left.release(hold)
    assert len(places(left, "H100:6")) == 6


def test_what_is_not_there_is_no_matter():
    whole = fleet(node("a", H100))
    left = without(whole, device("a", 99) | device("gone", 0) | nodes("gone") | Excluded((NodePlace("other", "a"),)))
    assert len(places(left, "H100:8")) == 8


def test_nothing_excluded_is_the_same_fleet():
    whole = fleet(node("a", H100))
    assert without(whole, Excluded()) is whole


@pytest.mark.parametrize(
    "devices",
    [
        [{"sku": "H100-SXM5-80GB", "count": 4, "islands": [[0, 1, 2, 3]], "numa": [0, 0, 1, 1]}],
        [{"sku": "H100-SXM5-80GB", "id": number} for number in range(4)],
        [{"sku": "H100-SXM5-80GB", "count": 2}, {"sku": "H100-SXM5-80GB", "count": 2}],
    ],
)
def test_however_the_devices_are_written(devices):
    left = without(fleet(node("a", *devices)), device("a", 2))
    assert places(left, "H100:3") == {("a", 0), ("a", 1), ("a", 3)}


def test_the_rest_of_the_document_stays():
    whole = Fleet.load("examples/fleets/pools.yaml")
    placed = whole.place("H100:1")
    excluded = Excluded(devices=(DevicePlace(placed.cluster, placed.nodes[0], placed.devices[0].id),))
    left = without(whole, excluded)
    assert [row["nominal_milli"] for row in left.pools()] == [27_300, 7_800, 3_900, 0]  # of 39 that are healthy


PLACES = st.builds(
    Excluded,
    st.lists(st.builds(NodePlace, st.text(max_size=3), st.text(max_size=3)), max_size=4).map(tuple),
    st.lists(st.builds(DevicePlace, st.text(max_size=3), st.text(max_size=3), st.integers(0, 99)), max_size=4).map(
        tuple
    ),
)


@given(PLACES, PLACES)
def test_it_travels_as_json_and_adds_up_in_any_order(one, other):
    both = one | other
    assert Excluded.from_json(both.to_json()) == both == other | one == both | one
    assert bool(both) == bool(one or other)
    assert set(both.nodes) == {*one.nodes, *other.nodes}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"nodes": [["a"]], "devices": []}', '{"nodes": [], "devices": [[1]]}']
)
def test_something_else_is_refused(text):
    with pytest.raises(InvalidDocument, match="no list of what is excluded"):
        Excluded.from_json(text)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 7)), max_size=16))
def test_no_excluded_device_is_ever_given(excluded):
    left = without(
        fleet(node("a", H100), node("b", H100)),
        Excluded(devices=tuple(DevicePlace(CLUSTER, name, number) for name, number in excluded)),
    )
    good = 16 - len(set(excluded))
    for count in range(1, 9):
        assert not places(left, f"H100:{count}") & set(excluded)
    assert len(json.loads(left.to_json())["document"]["clusters"][0]["nodes"]) == 2
    assert left.place("H100:1").ok == (good > 0)
