"""Devices that lie further apart score less, at every level from one device to one cluster."""

import json

from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.placement.decision import NoFit, Placement
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


# Two devices, from near to far, as nodes of one fleet.
def _pairs() -> dict[str, list[JSON]]:
    h100, cut = {"sku": "H100-SXM5-80GB"}, {"sku": "A100-SXM4-40GB", "partition": "1g.5gb"}
    on_one: dict[str, list[JSON]] = {
        "device": [cut | {"id": i, "pci": "0000:17:00.0"} for i in range(2)],
        "island": [h100 | {"count": 2, "islands": [[0, 1]]}],
        "switch": [h100 | {"count": 2, "islands": [], "switch": 0, "numa": 0}],
        "numa": [h100 | {"count": 2, "islands": [], "numa": 0}],
        "node": [h100 | {"count": 2, "islands": [], "numa": [0, 1]}],
    }
    over_two = {"rack": ("r1", "a", "r1", "a"), "zone": ("r1", "a", "r2", "a"), "cluster": ("r1", "a", "r2", "b")}
    pairs = {level: [node("n", *devices)] for level, devices in on_one.items()}
    for level, places in over_two.items():
        halves = zip(places[::2], places[1::2], strict=True)
        pairs[level] = [
            node(f"n{i}", h100 | {"count": 1}, labels={"rack": rack, "zone": zone})
            for i, (rack, zone) in enumerate(halves)
        ]
    return pairs


PAIRS = _pairs()


def of(answer: Placement | NoFit, key: str = "value") -> float:
    assert answer.ok, answer.why()
    told: JSON = json.loads(answer.to_json())
    return float(next(term[key] for term in told["terms"] if term["name"] == "topology"))


@given(st.permutations(sorted(PAIRS)), st.integers(1, 500), st.sampled_from(["aware", "classic"]))
def test_a_pair_scores_strictly_less_at_every_level(levels: list[str], penalty: int, policy: str) -> None:
    near, far = sorted(levels[:2], key=list(PAIRS).index)
    weights = {"performance": 0, "topology": 25, "fragmentation": 0, "power": 1, "numa_penalty_milli": penalty}
    asked = {"device": "A100/1g.5gb:2", "rack": "H100:2 nodes=2", "zone": "H100:2 nodes=2", "cluster": "H100:2 nodes=2"}
    answers = [
        fleet(*PAIRS[level]).place(asked.get(level, "H100:2"), policy=policy, weights=weights) for level in (near, far)
    ]
    assert of(answers[0]) > of(answers[1])
    scores = [answer.score for answer in answers if isinstance(answer, Placement)]
    assert scores[0] > scores[1]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=2, max_size=5), st.data())
def test_a_node_that_moves_away_from_others_always_loses(places: list[tuple[int, int]], data: st.DataObject) -> None:
    def value(places: list[tuple[int, int]]) -> float:
        nodes = [
            node(f"n{i}", {"sku": "H100-SXM5-80GB", "count": 2}, labels={"rack": f"r{rack}", "zone": f"z{zone}"})
            for i, (rack, zone) in enumerate(places)
        ]
        return of(fleet(*nodes).place(f"H100:{2 * len(places)} nodes={len(places)}"))

    at = data.draw(st.integers(0, len(places) - 1))
    others = places[:at] + places[at + 1 :]
    to_another_rack = [*places[:at], (9, places[at][1]), *places[at + 1 :]]
    to_another_zone = [*places[:at], (9, 9), *places[at + 1 :]]
    loses_rack, loses_zone = places[at] in others, places[at][1] in {zone for _, zone in others}
    values = [value(found) for found in (places, to_another_rack, to_another_zone)]
    assert values[0] > values[1] if loses_rack else values[0] == values[1]
    assert values[1] > values[2] if loses_zone else values[1] == values[2]
