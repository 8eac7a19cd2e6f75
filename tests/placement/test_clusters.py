"""Which cluster a step goes to: near what it should be near first, then cheaper, emptier, heavier; else one pool."""

import json
from typing import Any

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.requirement import AnyRequirement
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from tests.placement.sample import H100, JSON, node

ALL = tuple(range(8))
EU, US = {"data": ["s3://eu-data"]}, {"data": ["s3://us-data"]}
CHECKPOINT = {"choices": ["H100:8"], "checkpoint": {"dir": "s3://eu-data/run7"}}
KEPT = {"choices": ["H100:8"], "checkpoint": {"dir": "s3://eu-data/run7", "portable": False}}


def cluster(name: str, *nodes: JSON, **fields: Any) -> JSON:
    return {"name": name, "nodes": list(nodes) or [node(f"{name}-1", f"8x{H100}")], **fields}


def full(name: str) -> JSON:
    return cluster(name, node(f"{name}-1", f"8x{H100}", used=ALL))


def priced(name: str, price: float, *nodes: JSON, **fields: Any) -> JSON:
    pools = [{"name": "p", "price": {H100: price}}]
    found = nodes or (node(f"{name}-1", f"8x{H100}"),)
    return cluster(name, *({"pool": "p", **each} for each in found), pools=pools, **fields)


def fleet(*clusters: JSON) -> Fleet:
    return Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": list(clusters)})


def placed(fleet: Fleet, requirement: AnyRequirement) -> Placement:
    decision = fleet.place(requirement)
    assert isinstance(decision, Placement), decision.why()
    return decision


def refused(fleet: Fleet, requirement: AnyRequirement) -> NoFit:
    decision = fleet.place(requirement)
    assert isinstance(decision, NoFit), decision.why()
    return decision


def score_of(decision: Placement) -> JSON:
    """Value of each term of its cluster."""
    told: JSON = json.loads(decision.to_json())["cluster_score"]
    return {term["name"]: term["value"] for term in told["terms"]}


def test_a_step_goes_where_its_checkpoint_is() -> None:
    both = fleet(cluster("a", tags=US), cluster("b", tags=EU))
    assert placed(both, "H100:8").cluster == "a"
    assert placed(both, CHECKPOINT).cluster == "b"
    assert placed(both, KEPT).cluster == "b"


def test_a_step_waits_for_the_cluster_of_a_checkpoint_that_cannot_leave() -> None:
    b_is_full = fleet(cluster("a", tags=US), {**full("b"), "tags": EU})
    assert placed(b_is_full, CHECKPOINT).cluster == "a"
    waits = refused(b_is_full, KEPT)
    assert waits.verdict == "busy"
    assert waits.codes == ["COUNT_SHORT", "CHECKPOINT_ELSEWHERE"]
    assert "CHECKPOINT_ELSEWHERE on a-1" in waits.why()
    assert "would fit now: H100: say that the checkpoint is portable" in waits.why()


def test_a_checkpoint_that_is_nowhere_keeps_nobody() -> None:
    nowhere = fleet(cluster("a"), cluster("b"))
    assert placed(nowhere, KEPT).cluster == "a"
    assert placed(nowhere, KEPT).notes == []


def test_a_checkpoint_keeps_steps_of_a_batch_and_of_a_pipeline_too() -> None:
    b_is_full = fleet(cluster("a", tags=US), {**full("b"), "tags": EU})
    assert b_is_full.place_all([KEPT]).decisions[0].verdict == "busy"


def test_data_that_must_stay_never_leaves() -> None:
    eu_is_full = fleet(cluster("a", tags=US), {**full("b"), "tags": EU, "weight": 0.1})
    waits = refused(eu_is_full, "H100:8 data=s3://eu-data near=a")
    assert (waits.verdict, waits.codes) == ("busy", ["COUNT_SHORT", "DATA_LOCALITY"])


def test_what_lies_below_a_location_lies_there() -> None:
    both = fleet(cluster("a", tags=US), cluster("b", tags=EU))
    assert placed(both, "H100:8 data=s3://eu-data/train/x").cluster == "b"
    assert placed(both, "H100:8 near=s3://eu-data/train").cluster == "b"
    assert refused(both, "H100:8 data=s3://eu").codes == ["DATA_LOCALITY"]


def test_local_first_and_remote_when_full_and_flagged() -> None:
    near = "H100:8 near=b"
    local = placed(fleet(cluster("a"), cluster("b")), near)
    assert (local.cluster, local.notes) == ("b", [])
    remote = placed(fleet(cluster("a"), full("b")), near)
    assert (remote.cluster, remote.verdict) == ("a", "placed")
    text = "far from b: in b it does not fit now, COUNT_SHORT (0 of 8) on b-1"
    assert remote.notes == [("REMOTE", text)]
    assert f"REMOTE: {text}" in remote.why()


def test_a_wish_that_nobody_could_fulfil_is_told() -> None:
    text = "no cluster is called wset or states that it holds it"
    assert placed(fleet(cluster("a"), cluster("b")), "H100:8 near=wset").notes == [("REMOTE", text)]
    assert placed(fleet(cluster("a")), "H100:8 near=wset").notes == [("REMOTE", text)]


def test_nothing_else_is_worth_being_far() -> None:
    local = priced("z", 9, node("z-1", f"8x{H100}"), node("z-2", f"8x{H100}", used=ALL), weight=0.1)
    assert placed(fleet(priced("a", 1, weight=5), local), "H100:8 near=z").cluster == "z"
    wide = fleet(cluster("a", tags=EU), cluster("b", tags={"data": ["s3://eu-data", "/logs"]}))
    assert placed(wide, "H100:8 near=s3://eu-data,/logs").cluster == "b"


def test_a_heavier_cluster_goes_first() -> None:
    assert placed(fleet(cluster("a"), cluster("b", weight=2)), "H100:8").cluster == "b"
    assert placed(fleet(cluster("a", weight=2), cluster("b", weight=2)), "H100:8").cluster == "a"


def test_a_cheaper_cluster_goes_first_where_all_state_a_price() -> None:
    decision = placed(fleet(priced("a", 2), priced("b", 1)), "H100:8")
    assert (decision.cluster, score_of(decision)) == ("b", {"price": 1, "load": 1})
    assert "cluster b: 100.0 of 100 (price 57.1/57, load 42.9/43)" in decision.why()
    unpriced = placed(fleet(cluster("a"), priced("b", 1)), "H100:8")
    assert unpriced.cluster == "a"
    assert "cluster_score" not in json.loads(unpriced.to_json())


def test_of_clusters_alike_in_what_is_stated_the_emptier_goes_first() -> None:
    busy = node("b-1", f"8x{H100}", used=(0, 1, 2, 3))
    three = fleet(cluster("a", weight=0.5), cluster("b", busy), cluster("c"))
    decision = placed(three, "H100:4")
    assert (decision.cluster, score_of(decision)) == ("c", {"weight": 1, "load": 1})


def test_equal_clusters_go_by_name() -> None:
    assert placed(fleet(cluster("c"), cluster("b"), cluster("a", weight=0.5)), "H100:8").cluster == "b"


def test_a_choice_that_fits_far_away_goes_before_the_next_choice() -> None:
    local = cluster("b", node("b-1", "8xA100-SXM4-80GB"))
    decision = placed(fleet(cluster("a"), local), "H100:8 near=b | A100:8 near=b")
    assert (decision.cluster, decision.choice, decision.verdict) == ("a", "H100", "placed")
    assert decision.notes == [("REMOTE", "far from b: in b it never fits, MODEL_MISMATCH on b-1")]


def test_a_gang_lies_in_the_first_cluster_that_has_room_for_all_of_it() -> None:
    two = [node("b-1", f"8x{H100}"), node("b-2", f"8x{H100}")]
    gang = "H100:16 nodes=2 near=b"
    more = [node(f"a-{at}", f"8x{H100}") for at in range(3)]
    assert placed(fleet(cluster("a", *more), cluster("b", *two)), gang).nodes == ["b-1", "b-2"]
    one_left = [two[0], node("b-2", f"8x{H100}", used=(0,))]
    remote = placed(fleet(cluster("a", *more), cluster("b", *one_left)), gang)
    assert (remote.cluster, remote.notes[0][0]) == ("a", "REMOTE")


def test_groups_follow_the_same_order() -> None:
    def both(name: str) -> JSON:
        return cluster(name, node(f"{name}-1", f"8x{H100}", "8xL4"))

    asked = {"model": "H100", "count": 8, "groups": [{"model": "L4", "count": 4}], "near": "b"}
    assert placed(fleet(both("a"), both("b")), {"choices": [asked]}).cluster == "b"


def test_a_device_is_cut_near_by_before_a_partition_is_taken_far_away() -> None:
    there = cluster("a", node("a-1", {"sku": "A100-SXM4-80GB", "partition": "1g.10gb", "count": 2}))
    idle = cluster("b", node("b-1", "1xA100-SXM4-80GB", pool="cut"), pools=[{"name": "cut", "repartition": True}])
    assert placed(fleet(there, idle), "A100/1g.10gb").cluster == "a"
    decision = placed(fleet(there, idle), "A100/1g.10gb near=b")
    assert decision.cluster == "b"
    assert decision.cut is not None


def test_a_range_takes_what_the_first_cluster_has() -> None:
    small = node("b-1", f"8x{H100}", used=(0, 1, 2, 3))
    assert len(placed(fleet(cluster("a"), cluster("b", small)), "H100:2..8 near=b").devices) == 4


def test_cores_go_near_too() -> None:
    cores = node("b-1", cpu_milli=64_000, memory_mib=65_536)
    hosts = fleet(cluster("a", {**cores, "name": "a-1"}), cluster("b", cores))
    assert placed(hosts, "cpu:16 near=b").cluster == "b"


def test_an_explanation_tells_the_clusters_in_their_order() -> None:
    told = fleet(cluster("a", weight=3), cluster("b", tags=EU), cluster("c")).explain("H100:8 near=s3://eu-data/x")
    (choice,) = told["choices"]
    assert [each["cluster"] for each in choice["clusters"]] == ["b", "a", "c"]
    assert [each["cluster"] for each in choice["candidates"]] == ["b", "a", "c"]
    terms = choice["clusters"][0]["terms"]
    assert [(term["name"], term["value"], term["why"]) for term in terms] == [
        ("locality", 1, "near s3://eu-data/x"),
        ("weight", 0.333, "weight 1"),
        ("load", 1, "8 of 8 devices are free"),
    ]
    assert sum(term["points"] for term in terms) == pytest.approx(choice["clusters"][0]["score"], abs=1e-3)
    assert "clusters" not in fleet(cluster("a"), cluster("b")).explain("H100:8")["choices"][0]


def test_where_nothing_tells_clusters_apart_the_answer_is_that_of_the_pool() -> None:
    clusters = cluster("a", node("a-1", f"8x{H100}")), cluster("b", node("b-1", f"8x{H100}", used=(0, 1)))
    pool = placed(fleet(*clusters), "H100:4")
    assert pool.cluster == "b"  # there it spoils no whole island
    assert "cluster_score" not in json.loads(pool.to_json())
    assert placed(fleet(*({**each, "weight": 1.0} for each in clusters)), "H100:4").to_json() == pool.to_json()


def test_the_trace_id_follows_weights_prices_and_tags() -> None:
    plain = fleet(cluster("a"), cluster("b"))
    others = [
        fleet(cluster("a"), cluster("b", weight=0.5)),
        fleet(priced("a", 1), cluster("b")),
        fleet(cluster("a", tags=EU), cluster("b")),
    ]
    assert len({placed(each, "H100:8").trace_id for each in (plain, *others)}) == 4


@pytest.mark.parametrize("weight", [-1, 1e7])
def test_a_weight_is_a_number_in_reason(weight: float) -> None:
    with pytest.raises(InvalidDocument, match="weight of b is"):
        fleet(cluster("a"), cluster("b", weight=weight))
