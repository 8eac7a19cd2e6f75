"""Steps over several nodes: what a decision takes, and how near their nodes are with and without knowledge of racks."""

import random
import sys
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

import pytest

from hetero_ops import Fleet
from hetero_ops.placement.decision import Placement

RACK_PAIR, ZONE_PAIR, CLUSTER_PAIR = 0.25, 0.15, 0.05  # the values of docs/scores.md
ZONES, RACKS, NODES, DEVICES = 4, 10, 8, 8


class Figures(NamedTuple):
    """Of all steps over several nodes: the mean value of topology, and the part of the pairs of nodes across racks."""

    topology: float
    across_racks: float
    placed: int


@pytest.mark.benchmark(group="place on 8 nodes, 1,213 nodes, half full")
@pytest.mark.parametrize("asked", ["gpu:8", "gpu:64 nodes=8", "gpu:16 nodes=8", "gpu:16..64 nodes=2..8"])
def test_place_gang(benchmark, openb, asked):
    fleet = Fleet.from_json(openb.to_json())
    draw = random.Random(1)
    for _ in range(2000):
        decision = fleet.place(f"gpu:{draw.choice((1, 1, 2, 4))}")
        if decision.ok:
            fleet.commit(decision)
    assert benchmark(fleet.place, asked).ok


@pytest.mark.benchmark(group="2,000 steps, a third of them over several nodes, on 320 nodes in 40 racks")
@pytest.mark.parametrize("knows_racks", [True, False], ids=["rack-aware", "rack-blind"])
def test_racks(benchmark, capsys, knows_racks):
    figures = benchmark.pedantic(run, kwargs={"knows_racks": knows_racks}, rounds=1)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{'rack-aware' if knows_racks else 'rack-blind'}: {figures.placed} steps over several nodes, "
            f"mean topology {figures.topology:.4f}, pairs of nodes across racks {100 * figures.across_racks:.1f} %\n"
        )


def run(*, knows_racks: bool) -> Figures:
    """Steps of 1 to 64 devices come and go, so that two thirds of the devices are in use; seeded.

    Names of nodes say nothing of their racks: else a tie by name would know of them too.
    """
    draw, racks = random.Random(7), [(rack, rack % ZONES) for rack in range(ZONES * RACKS) for _ in range(NODES)]
    draw.shuffle(racks)
    places = {f"n{i:03}": place for i, place in enumerate(racks)}
    nodes = [
        {"name": name, "devices": [{"sku": "H100-SXM5-80GB", "count": DEVICES}]}
        | ({"labels": {"rack": f"r{rack}", "zone": f"z{zone}"}} if knows_racks else {})
        for name, (rack, zone) in places.items()
    ]
    head = {"apiVersion": "hetero-ops/v1", "kind": "Fleet"}
    fleet = Fleet.from_document({**head, "clusters": [{"name": "west", "nodes": nodes}]})
    running, used = [], 0
    topology, across, pairs = [], 0, 0
    for _ in range(2000):
        while used > 2 * len(places) * DEVICES / 3:
            hold, devices = running.pop(draw.randrange(len(running)))
            fleet.release(hold)
            used -= devices
        decision = fleet.place(draw.choice(["gpu:1", "gpu:2", "gpu:4", "gpu:8", "gpu:16 nodes=2", "gpu:64 nodes=8"]))
        if not isinstance(decision, Placement):
            continue
        running.append((fleet.commit(decision), len(decision.devices)))
        used += len(decision.devices)
        if len(decision.nodes) > 1:
            value, far, all_of_it = nearness(decision, places)
            assert not knows_racks or f"topology      {value:.3f}" in decision.why()
            topology.append(value)
            across, pairs = across + far, pairs + all_of_it
    return Figures(fmean(topology), across / pairs, len(topology))


def nearness(placement: Placement, places: dict[str, tuple[int, int]]) -> tuple[float, int, int]:
    """The value of topology by the true racks, pairs of nodes across racks, and all pairs of nodes."""
    own = {RACK_PAIR: 0, ZONE_PAIR: 0, CLUSTER_PAIR: 0}
    for a, b in combinations(placement.nodes, 2):
        (rack, zone), (other_rack, other_zone) = places[a], places[b]
        own[RACK_PAIR if rack == other_rack else ZONE_PAIR if zone == other_zone else CLUSTER_PAIR] += 1
    nodes, pairs = len(placement.nodes), sum(own.values())
    count = len(placement.devices)
    inside = nodes * DEVICES * (DEVICES - 1) / 2 * 0.8  # each node gives its whole NVSwitch island
    between = sum(value * found for value, found in own.items()) * DEVICES**2
    return (inside + between) / (count * (count - 1) / 2), pairs - own[RACK_PAIR], pairs
