"""Steps over several nodes: how they split, which nodes they take, and why they cannot be placed."""

import json
from typing import Any

import pytest

from hetero_ops.errors import InvalidDocument, InvalidRequirement, StalePlacement
from hetero_ops.gap.requirement import AnyRequirement
from hetero_ops.inject.environment import environment
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet

JSON = dict[str, Any]
HEAD = {"apiVersion": "hetero-ops/v1", "kind": "Fleet"}


def node(name: str, where: str = "", sku: str = "H100-SXM5-80GB", count: int = 8, **fields: Any) -> JSON:
    """A node; `where` is rack, zone and power domain, as `r1/a/p1`."""
    keys = ("rack", "topology.kubernetes.io/zone", "power-domain")
    labels = {key: value for key, value in zip(keys, where.split("/"), strict=False) if value}
    return {"name": name, "labels": labels, "devices": [{"sku": sku, "count": count}], **fields}


def fleet(*nodes: JSON, **clusters: list[JSON]) -> Fleet:
    """One cluster `west`, and others."""
    named = {"west": list(nodes), **clusters}
    return Fleet.from_document({**HEAD, "clusters": [{"name": name, "nodes": found} for name, found in named.items()]})


def placed(fleet: Fleet, requirement: AnyRequirement) -> Placement:
    decision = fleet.place(requirement)
    assert isinstance(decision, Placement), decision.why()
    return decision


def reasons(fleet: Fleet, requirement: AnyRequirement) -> dict[str, tuple[str, int | None, int | None, bool]]:
    """Code, numbers and whether it stays so, by node."""
    decision = fleet.place(requirement)
    assert isinstance(decision, NoFit)
    told: list[JSON] = json.loads(decision.to_json())["reasons"]
    return {name: (r["code"], r["have"], r["want"], r["is_permanent"]) for r in told for name in r["nodes"]}


RACKS = [node("a", "r1"), node("b", "r2"), node("c", "r1"), node("d", "r2", used=[{"owner": "x", "devices": [0]}])]


def test_every_node_gives_as_many_devices() -> None:
    decision = placed(fleet(*RACKS), "H100:16 nodes=2")
    assert decision.nodes == ["a", "c"]
    assert [(grant.node, grant.id) for grant in decision.devices] == [(name, i) for name in "ac" for i in range(8)]
    assert "16 x H100-SXM5-80GB on 2 nodes\n    a, devices 0,1,2,3,4,5,6,7\n    c, devices" in decision.why()


def test_the_fewest_nodes_are_taken_and_the_most_devices() -> None:
    assert placed(fleet(*RACKS), "H100:8 nodes=1..4").nodes == ["a"]
    assert placed(fleet(*RACKS), "H100:16 nodes=1..4").nodes == ["a", "c"]
    assert len(placed(fleet(*RACKS), "H100:8..64 nodes=1..4").devices) == 28  # 7 on each of 4 are more than 8 on 3
    assert len(placed(fleet(*RACKS), "H100:8..64 nodes=1..3").devices) == 24


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ("H100:9 nodes=2", "9 devices do not split evenly over nodes=2; every node gives as many"),
        ("H100:4 nodes=8", "4 devices do not split evenly over nodes=8"),
        ("H100 nodes=2", "1 devices do not split evenly"),
        (
            {"models": "H100", "nodes": 2, "parallel": {"tp": 8}},
            "8 devices in groups of 8 do not split evenly over nodes=2",
        ),
        ("cpu:15 nodes=2", "15 cores do not split evenly over nodes=2; every node gives as many"),
        ("cpu:2 nodes=3..4", "2 cores do not split evenly over nodes=3..4"),
    ],
)
def test_what_cannot_be_split_is_refused(requirement: AnyRequirement, message: str) -> None:
    with pytest.raises(InvalidRequirement, match=message):
        fleet(*RACKS).place(requirement)


def hosts(cores: str, where: str = "") -> list[JSON]:
    """Nodes `a`, `b` and so on without devices, of so many cores each and 64 GiB, in racks."""
    racks = where or " " * len(cores)
    each = zip("abcdef", cores, racks, strict=False)
    host = {"devices": [], "memory_mib": 64 * 1024}
    return [node(name, rack.strip()) | host | {"cpu_milli": 1000 * int(count)} for name, count, rack in each]


def test_cores_are_split_as_devices_are() -> None:
    places = fleet(*hosts("4868", "rsrs"))
    decision = placed(places, "cpu:8 nodes=2")
    assert (decision.nodes, decision.cpu_milli, decision.devices) == (["a", "c"], 4000, [])
    assert "placed on cpu: 8 cores on 2 nodes\n    4 cores of a\n    4 cores of c\n" in decision.why()
    assert placed(places, "cpu:16 nodes=2").nodes == ["b", "d"]
    assert placed(places, "cpu:8 nodes=1..4").nodes == ["b"]
    assert placed(places, "cpu:16 nodes=3..4").nodes == ["a", "b", "c", "d"]  # 16 do not split over three
    assert placed(places, "cpu:8 nodes=2 spread=rack").nodes == ["a", "b"]
    assert reasons(places, "cpu:16 nodes=2..3 spread=rack")["b"] == ("SPREAD", 1, 2, True)


def test_a_host_gives_its_memory_and_all_hosts_share_a_footprint() -> None:
    places = fleet(*hosts("888"))
    assert placed(places, "cpu:8 >=64GB nodes=2").memory_mib is None
    assert reasons(places, "cpu:8 >=65GB nodes=2")["a"] == ("HOST_MEMORY_SHORT", 65536, 65 * 1024, True)
    job: JSON = {"choices": ["cpu:8 nodes=2"], "footprint": {"weights": "128GB"}}
    assert json.loads(placed(places, job).to_json())["memory_mib"] == 64 * 1024
    assert reasons(places, job | {"choices": ["cpu:8"]})["a"][0] == "HOST_MEMORY_SHORT"
    one: JSON = job | {"choices": ["cpu:8 nodes=1..3"]}
    assert len(placed(places, one).nodes) == 2


def test_cores_over_nodes_are_taken_together_or_not_at_all() -> None:
    places = fleet(*hosts("888"))
    before = places.to_json()
    decision = placed(places, "cpu:12 nodes=2")
    hold = places.commit(decision)
    assert reasons(places, "cpu:12 nodes=2") == {
        **dict.fromkeys("ab", ("CPU_SHORT", 2000, 6000, False)),
        "c": ("NODES_SHORT", 1, 2, False),
    }
    with pytest.raises(StalePlacement):
        places.commit(placed(fleet(*hosts("888")), "cpu:16 nodes=2"))
    assert placed(places, "cpu:6 nodes=3").nodes == ["a", "b", "c"]
    places.release(hold)
    assert json.loads(places.to_json())["holds"] == json.loads(before)["holds"] == []
    values = environment(decision, "b").values
    assert (values["HETERO_OPS_NODES"], values["HETERO_OPS_NODE_RANK"]) == ("a,b", "1")


def test_cores_that_fit_on_no_host_are_told_on_how_many_they_would() -> None:
    assert "would fit now: cpu: lie on 2 nodes, as in nodes=2" in fleet(*hosts("888")).place("cpu:16").why()


def test_victims_make_room_for_cores_over_nodes() -> None:
    nodes = hosts("888")
    for host, age in zip(nodes, (50, 5, 40), strict=True):
        used = {"owner": host["name"], "cpu_milli": 6000, "devices": [], "preemptible": True, "priority": 0}
        host["used"] = [used | {"checkpoint_age_s": age}]
    told = json.loads(fleet(*nodes).place({"choices": ["cpu:12 nodes=2"], "priority": 1}).to_json())["victims"]
    # Cores alone lose nothing, so the first two do.
    assert ([one["owner"] for one in told["victims"]], told["nodes"], told["lost_device_ms"]) == (
        ["a", "b"],
        ["a", "b"],
        0,
    )


def test_one_rack_is_taken_before_a_higher_score() -> None:
    half = [{"owner": "x", "devices": [0, 1, 2, 3]}]
    scattered = fleet(node("a", "r1", used=half), node("b", "r2"), node("c", "r2"), node("d", "r3", used=half))
    assert placed(scattered, "H100:8 nodes=2").nodes == ["b", "c"]  # two half-used nodes would be cheaper
    zones = fleet(node("a", "r1/x"), node("b", "r2/y"), node("c", "r3/x"))
    assert placed(zones, "H100:16 nodes=2").nodes == ["a", "c"]
    unknown = fleet(node("a"), node("b", "r1/x"), node("c", "r2/x"))
    assert placed(unknown, "H100:16 nodes=2").nodes == ["b", "c"]


def test_the_rest_of_a_full_rack_lies_in_one_more() -> None:
    racks = [node(f"{rack}{i}", f"{rack}/z") for rack, size in (("a", 1), ("b", 3), ("c", 2)) for i in range(size)]
    assert placed(fleet(*racks), "H100:40 nodes=5").nodes == ["b0", "b1", "b2", "c0", "c1"]
    assert placed(fleet(*racks), "H100:32 nodes=4").nodes == ["a0", "b0", "b1", "b2"]


def test_a_gang_is_of_one_cluster_and_one_model() -> None:
    assert reasons(fleet(node("a"), east=[node("b")]), "H100:16 nodes=2")["a"] == ("NODES_SHORT", 1, 2, True)
    mixed = fleet(node("a"), node("b", sku="A100-SXM4-80GB"))
    assert reasons(mixed, "gpu:16 nodes=2") == dict.fromkeys("ab", ("NODES_SHORT", 1, 2, True))
    reported = {"devices": [{"sku": "H100-SXM5-80GB", "count": 8, "memory_mib": 81559}]}
    alike = placed(fleet(node("a") | reported, node("b")), "H100:16 nodes=2")
    assert alike.memory_mib == 81559  # the least that any of them reports


def test_busy_and_impossible_are_told_apart() -> None:
    assert reasons(fleet(*RACKS), "H100:32 nodes=4") == {
        "d": ("COUNT_SHORT", 7, 8, False),
        **dict.fromkeys("abc", ("NODES_SHORT", 3, 4, False)),
    }
    assert reasons(fleet(*RACKS), "H100:64 nodes=8") == dict.fromkeys("abcd", ("NODES_SHORT", 4, 8, True))
    assert reasons(fleet(*RACKS), "H100:48 nodes=2..4")["a"] == ("COUNT_SHORT", 8, 12, True)
    assert fleet(*RACKS).place("H100:32 nodes=4").verdict == "busy"
    assert fleet(*RACKS).place("H100:64 nodes=8").verdict == "impossible"


def test_a_low_score_is_that_of_all_nodes_together() -> None:
    assert reasons(fleet(*RACKS), "H100:16 nodes=2 min_score=99")["a"][::2] == ("SCORE_TOO_LOW", 99)
    assert placed(fleet(*RACKS), "H100:16 nodes=2 min_score=50").nodes == ["a", "c"]


def test_what_a_node_must_have_its_part_must_have() -> None:
    split = {"sku": "H100-SXM5-80GB", "count": 8, "islands": [[0, 1, 2, 3], [4, 5, 6, 7]]}
    islands = fleet(node("a") | {"devices": [split]}, node("b"), node("c"))
    assert placed(islands, "H100:16 nodes=2 fabric").nodes == ["b", "c"]
    assert placed(islands, {"models": "H100", "nodes": 3, "parallel": {"tp": 4, "dp": 6}}).nodes == ["a", "b", "c"]
    groups = {"models": "H100", "nodes": 3, "parallel": {"tp": 8, "dp": 3}}
    assert reasons(islands, groups)["a"] == ("NOT_ONE_ISLAND", 0, 8, True)


def test_tensor_groups_of_one_node_lie_in_islands() -> None:
    used = [{"owner": "x", "devices": [0]}]
    split = [{"sku": "H100-SXM5-80GB", "count": 8, "islands": [[0, 1, 2, 3], [4, 5, 6, 7]]}]
    one = fleet({"name": "n", "devices": split, "used": used})
    assert [grant.id for grant in placed(one, {"models": "H100", "parallel": {"tp": 2, "dp": 3}}).devices][-4:] == [
        4,
        5,
        6,
        7,
    ]
    assert reasons(one, {"models": "H100", "parallel": {"tp": 4, "dp": 2}})["n"] == ("COUNT_SHORT", 7, 8, False)
    torn = fleet({"name": "n", "devices": split, "used": [{"owner": "x", "devices": [0, 4]}]})
    assert reasons(torn, {"models": "H100", "parallel": {"tp": 2, "dp": 3}})["n"] == ("NOT_ONE_ISLAND", 4, 6, False)
    assert reasons(fleet(node("n", sku="L4")), {"models": "L4", "parallel": {"tp": 2, "dp": 2}})["n"][0] == "LINK_CLASS"


def test_the_price_of_all_nodes_counts() -> None:
    priced = node("a", pool="p"), node("b", pool="p")
    document = {"name": "west", "nodes": list(priced), "pools": [{"name": "p", "price": {"H100-SXM5-80GB": 2.0}}]}
    both = Fleet.from_document({**HEAD, "clusters": [document]})
    assert placed(both, "H100:16 nodes=2 cost<=32/h").nodes == ["a", "b"]
    assert reasons(both, "H100:16 nodes=2 cost<=31/h")["a"] == ("COST_CEILING", 32000, 31000, True)


def test_a_spread_keeps_the_nodes_of_a_step_apart() -> None:
    assert placed(fleet(*RACKS), "H100:16 nodes=2 spread=rack").nodes == ["a", "b"]
    assert reasons(fleet(*RACKS), "H100:24 nodes=3 spread=rack")["a"] == ("SPREAD", 2, 3, True)
    power = fleet(node("a", "r1//p1"), node("b", "r1//p1"), node("c", "r2//p2"), node("d"))
    assert placed(power, "H100:16 nodes=2 spread=power").nodes == ["a", "c"]
    assert reasons(power, "H100:24 nodes=3 spread=power")["d"] == ("SPREAD", None, None, True)


@pytest.mark.parametrize(("spread", "taken"), [("node", "a"), ("rack", "ac"), ("power", "ab"), ("none", "")])
def test_a_spread_keeps_the_steps_of_a_team_apart(spread: str, taken: str) -> None:
    nodes = node("a", "r1//p1", used=[{"owner": "x", "team": "vision", "devices": [0]}]), node("b", "r2//p1")
    places = fleet(*nodes, node("c", "r1//p2"), node("d", "r2//p2"))
    asked: JSON = {"models": "H100", "count": 1, "spread": spread, "team": "vision"}
    report = places.explain(asked)["choices"][0]
    refused = {name: reason["code"] for reason in report["reasons"] for name in reason["nodes"]}
    assert refused == dict.fromkeys(taken, "SPREAD")
    assert not any(reason["is_permanent"] for reason in report["reasons"])
    assert {row["node"] for row in report["candidates"]} == set("abcd") - set(taken)
    assert placed(places, asked | {"team": "speech"}).nodes == ["a"]


def test_steps_of_a_team_spread_one_after_the_other() -> None:
    places = fleet(*RACKS)
    asked: JSON = {"models": "H100", "count": 2, "spread": "rack", "team": "vision"}
    first, second = (places.commit(placed(places, asked)) for _ in range(2))
    refused = places.place(asked)
    assert isinstance(refused, NoFit)
    assert (refused.verdict, refused.codes) == ("busy", ["SPREAD"])
    assert "drop the spread" in refused.why()
    places.release(first)
    assert placed(places, asked).nodes
    places.release(second)


def test_the_same_question_has_another_id_when_the_team_is_elsewhere() -> None:
    asked: JSON = {"models": "H100", "count": 1, "spread": "rack", "team": "vision"}
    ids = set()
    for owner in ({}, {"team": "vision"}):
        used = [{"owner": "x", "devices": [0], **owner}]
        ids.add(fleet(node("a", "r1", used=used), node("b", "r2")).place(asked).trace_id)
    assert len(ids) == 2


def test_a_spread_from_nobody_is_refused() -> None:
    with pytest.raises(InvalidRequirement, match="keeps a step apart from the other steps of its team, and none is"):
        fleet(*RACKS).place("H100:8 spread=rack")


def test_a_step_that_fits_on_no_node_is_told_on_how_many_it_would() -> None:
    assert "would fit now: H100: lie on 2 nodes, as in nodes=2" in fleet(*RACKS).place("H100:16").why()
    assert "lie on 1 node, as in nodes=1" in fleet(node("a")).place("H100:8 nodes=2").why()
    assert "ask for 24 instead of 64" not in fleet(*RACKS).place("H100:64 nodes=2").why()
    assert "ask for 16 instead of 64" in fleet(*RACKS).place("H100:64 nodes=2").why()


def test_explain_accounts_for_every_node() -> None:
    report = fleet(*RACKS).explain("H100:16 nodes=2")["choices"][0]
    assert report["stages"] == {"nodes": 4, "possible": 4, "candidates": 3}
    assert [row["node"] for row in report["candidates"]] == ["a", "b", "c"]
    assert [reason["nodes"] for reason in report["reasons"]] == [["d"]]
    refused = fleet(*RACKS).explain("H100:64 nodes=8")["choices"][0]
    assert refused["stages"] == {"nodes": 4, "possible": 0, "candidates": 0}
    assert [row["node"] for row in fleet(*RACKS).score("H100:16 nodes=2")["candidates"]] == ["a", "b", "c"]


def test_a_hold_over_several_nodes_is_one() -> None:
    places = fleet(*RACKS)
    before = places.place("H100:8").to_json()
    decision = placed(places, "H100:16 nodes=2")
    hold = places.commit(decision)
    with pytest.raises(StalePlacement):
        places.commit(decision)
    copy = Fleet.from_json(places.to_json())
    assert copy.to_json() == places.to_json()
    assert placed(copy, "H100:8").nodes == placed(places, "H100:8").nodes == ["b"]
    for held in (places, copy):
        held.release(hold)
        assert held.place("H100:8").to_json() == before


def test_a_placement_that_lists_a_node_without_its_devices_is_stale() -> None:
    told = json.loads(placed(fleet(*RACKS), "H100:16 nodes=2").to_json())
    for nodes in (["a"], ["a", "b"], ["a", "a"], []):
        with pytest.raises(StalePlacement):
            fleet(*RACKS).commit(_placement(told | {"nodes": nodes}))


def _placement(told: JSON) -> Placement:
    placement = Placement.from_json(json.dumps(told))
    assert isinstance(placement, Placement)
    return placement


def test_a_process_sees_the_devices_of_its_node() -> None:
    decision = placed(fleet(*RACKS), "H100:16 nodes=2")
    with pytest.raises(InvalidRequirement, match=r"lies on 2 nodes \(a, c\), and one process sees .*; ask for nodes=1"):
        environment(decision)
    with pytest.raises(InvalidRequirement, match="does not lie on b, but on a, c"):
        environment(decision, "b")
    values = environment(decision, "c").values
    assert (values["HETERO_OPS_COUNT"], values["CUDA_VISIBLE_DEVICES"]) == ("8", "0,1,2,3,4,5,6,7")
    assert (values["HETERO_OPS_NODE"], values["HETERO_OPS_NODES"], values["HETERO_OPS_NODE_RANK"]) == ("c", "a,c", "1")
    assert "HETERO_OPS_NODES" not in environment(placed(fleet(*RACKS), "H100:8")).values


def test_a_rack_feeds_all_nodes_of_a_step_together() -> None:
    nodes = [node("a", "r1"), node("b", "r1"), node("c", "r2"), node("d", "r3")]
    racks = [{"name": "r1", "power_budget_mw": 8 * 700_000 + 1}]
    fed = Fleet.from_document({**HEAD, "clusters": [{"name": "west", "nodes": nodes, "racks": racks}]})
    assert placed(fleet(*nodes), "H100:16 nodes=2").nodes == ["a", "b"]
    assert placed(fed, "H100:16 nodes=2").nodes == ["c", "d"]
    assert placed(fed, "H100:24 nodes=3").nodes == ["a", "c", "d"]  # either of r1 alone, but not both
    assert placed(fed, "H100:8 nodes=2").nodes == ["a", "b"]
    assert reasons(fed, "H100:32 nodes=4")["c"] == ("NODES_SHORT", 3, 4, True)


def test_a_mix_counts_what_one_node_could_give() -> None:
    of_gangs = {
        **HEAD,
        "clusters": [{"name": "west", "nodes": RACKS}],
        "mix": [{"request": "H100:16 nodes=2", "weight": 1}],
    }
    of_parts = of_gangs | {"mix": [{"request": "H100:8", "weight": 1}]}
    gangs, parts = (Fleet.from_document(document).fragmentation() for document in (of_gangs, of_parts))
    assert gangs["fragmentation_milli"] == parts["fragmentation_milli"] == 7000


def test_switches_and_cards_are_nearer_than_numa_nodes() -> None:
    def topology(**fields: Any) -> float:
        devices = [{"sku": "L4", "count": 2, **fields}]
        answer = json.loads(fleet({"name": "n", "devices": devices}).place("L4:2").to_json())
        return float(next(term["value"] for term in answer["terms"] if term["name"] == "topology"))

    assert topology(switch=0) > topology(numa=0) > topology() == topology(switch=[0, 1])
    cut = {"sku": "A100-SXM4-40GB", "partition": "1g.5gb", "numa": 0}
    cards = [cut | {"id": i, "pci": pci} for i, pci in enumerate(["a", "b", "b"])]
    assert [grant.id for grant in placed(fleet({"name": "n", "devices": cards}), "A100/1g.5gb:2").devices] == [1, 2]
    with pytest.raises(InvalidDocument, match="1 switches for 2 devices; give one number, or one per device"):
        topology(switch=[0])


def test_the_numa_penalty_is_a_weight() -> None:
    apart = fleet({"name": "n", "devices": [{"sku": "L4", "count": 2, "numa": [0, 1]}]})
    weights = {"performance": 50, "topology": 25, "fragmentation": 15, "power": 10}

    def topology(penalty: int) -> float:
        answer = json.loads(apart.place("L4:2", weights=weights | {"numa_penalty_milli": penalty}).to_json())
        return float(next(term["value"] for term in answer["terms"] if term["name"] == "topology"))

    assert [topology(penalty) for penalty in (0, 150, 500)] == [0.58, 0.493, 0.29]
    assert apart.place("L4:2", weights=weights).trace_id == apart.place("L4:2").trace_id
    with pytest.raises(InvalidRequirement, match="numa_penalty_milli is 0 to 500"):
        topology(501)


@pytest.mark.parametrize("solver", ["greedy", "search", "genetic"])
def test_plans_of_many_steps_know_several_nodes_spread_and_units(solver: str) -> None:
    spread: JSON = {"models": "H100", "count": 2, "spread": "rack", "team": "vision"}
    asked: list[AnyRequirement] = ["H100:16 nodes=2", "gpu units=2.5", "H100:2", spread, spread]
    asked += ["cpu:12 nodes=2", "gpu units=2.5 nodes=2"]
    bare = [host | {"name": f"{host['name']}-host"} for host in hosts("88")]
    plan = fleet(*RACKS, node("e", "r3"), *bare).place_all(asked, solver=solver, steps=20)
    two, units, _, first, second, cores, apart = plan.placements
    assert (len(two.nodes), len(two.devices), len(units.devices)) == (2, 16, 3)
    assert (cores.nodes, cores.cpu_milli, len(apart.nodes), len(apart.devices)) == (["a-host", "b-host"], 6000, 2, 4)
    racks = {"a": 1, "b": 2, "c": 1, "d": 2, "e": 3}
    assert racks[first.nodes[0]] != racks[second.nodes[0]]
