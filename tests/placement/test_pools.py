"""Pools that share a cluster: what they are guaranteed, borrow and lend; and devices kept for a high priority."""

import json
from pathlib import Path
from typing import Any

import pytest

from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from tests.placement import sample

PROFILE = Path(__file__).parents[2] / "examples" / "fleets" / "pools.yaml"
JSON = dict[str, Any]
TRAIN: JSON = {"name": "train", "nominal": 0.7, "lend": 0.7, "takes": ["training"]}
BURST: JSON = {"name": "burst", "nominal": 0.2, "borrow": 0.7, "takes": ["inference", "preprocess"]}
DEV: JSON = {"name": "dev", "nominal": 0.1, "takes": ["dev"]}


def fleet(*pools: JSON, used: tuple[tuple[str | None, int], ...] = (), **cluster: Any) -> Fleet:
    """Ten L4 on one node that pools share; `used` says how many are charged to whom."""
    node, first = sample.node("a", "10xL4"), 0
    for pool, count in used:
        entry: JSON = {"owner": f"pod {pool}", "devices": list(range(first, first + count))}
        node["used"].append(entry | ({"charged": pool} if pool else {}))
        first += count
    document = sample.document(node)
    document["clusters"][0] |= {"pools": list(pools), **cluster}
    return Fleet.from_document(document)


def reserved(decision: Placement | NoFit) -> list[tuple[Any, ...]]:
    reasons = json.loads(decision.to_json())["reasons"]
    fields = ("have", "want", "limit", "is_permanent")
    return [tuple(reason.get(field) for field in fields) for reason in reasons if reason["code"] == "RESERVED_POOL"]


def take(here: Fleet, request: str) -> int:
    placed = here.place(request)
    assert isinstance(placed, Placement), placed.why()
    return here.commit(placed)


def test_a_burst_may_use_its_reserve_and_what_training_leaves() -> None:
    here = Fleet.load(PROFILE)
    for _ in range(2):
        take(here, "H100:8 kind=inference")  # 8 of its own, then 8 of the 12 that training does not use
    told = {row["pool"]: row for row in here.pools()}
    assert (told["burst"]["used_milli"], told["burst"]["borrowed_milli"]) == (16_000, 8000)
    assert told["train"]["lendable_milli"] == 12_000
    assert here.place("H100:4 kind=inference").ok
    decision = here.place("H100:5 kind=inference")
    named = "pool burst of cluster west: 8 devices, 28 borrowed at most"
    assert (decision.verdict, reserved(decision)) == ("busy", [(4, 5, named, False)])


def test_a_long_step_may_not_use_the_reserve() -> None:
    here = Fleet.load(PROFILE)
    take(here, "H100:8 kind=training")
    decision = here.place("H100:5 kind=training")
    named = "pool train of cluster west: 28 devices, 0 borrowed at most"
    assert (decision.verdict, reserved(decision)) == ("busy", [(4, 5, named, False)])
    assert here.place("H100:4 kind=training").ok


def test_development_is_capped_at_its_share() -> None:
    here = Fleet.load(PROFILE)
    assert here.place("H100 kind=dev").ok
    named = "pool dev of cluster west: 4 devices, 0 borrowed at most"
    assert reserved(here.place("H100:2 kind=dev")) == [(1, 2, named, False)]
    assert reserved(here.place("H100:8 kind=dev")) == [(1, 8, named, True)]


def test_who_is_of_no_pool_has_what_is_lent() -> None:
    assert fleet(TRAIN, BURST, DEV).place("L4:7").ok
    assert reserved(fleet(TRAIN, BURST, DEV).place("L4:8")) == [
        (7, 8, "what no pool of cluster west is guaranteed: 0 devices", True)
    ]
    unshared = fleet(TRAIN | {"nominal": 0.5, "lend": 0}, BURST)
    assert unshared.place("L4:3").ok
    assert unshared.place("L4:4").verdict == "impossible"


def test_what_is_lent_is_not_taken_twice() -> None:
    here = fleet(TRAIN, BURST | {"borrow": 0.3}, DEV, used=(("burst", 5),))
    assert here.place("L4:4 kind=training").ok
    assert here.place("L4:5 kind=training").verdict == "busy"  # three of its seven are lent
    assert here.place("L4 kind=inference").verdict == "busy"


def test_a_guarantee_stands_where_others_have_more_than_theirs() -> None:
    here = fleet(TRAIN | {"lend": 0}, DEV, used=(("dev", 3),))
    assert here.place("L4:7 kind=training").ok


def test_a_named_pool_is_charged_instead_of_the_one_that_takes_the_kind() -> None:
    here = fleet(TRAIN, BURST, DEV)
    placed = here.place("L4:2 kind=dev pool=burst")
    assert isinstance(placed, Placement)
    assert json.loads(placed.to_json())["pool"] == "burst"
    hold = here.commit(placed)
    assert {row["pool"]: row["used_milli"] for row in here.pools()}["burst"] == 2000
    again = Fleet.from_json(here.to_json())
    assert again.pools() == here.pools()
    assert again.place("L4").trace_id == here.place("L4").trace_id
    here.release(hold)
    assert not any(row["used_milli"] for row in here.pools())


def test_a_pool_that_is_nowhere_is_refused_with_what_there_is() -> None:
    with pytest.raises(InvalidRequirement, match="no pool of the fleet is called 'tran'; did you mean 'train'"):
        fleet(TRAIN).place("L4 pool=tran")
    with pytest.raises(InvalidRequirement, match="the fleet has no pools; leave the word out"):
        fleet().place("L4 pool=train")


def test_shares_and_groups_are_counted_together() -> None:
    here = fleet(DEV)
    for _ in range(4):
        take(here, "L4:0.25 kind=dev")
    assert here.place("L4:0.25 kind=dev").verdict == "busy"
    groups = {"choices": [{"models": ["L4"], "count": 1, "kind": "dev", "groups": [{"models": ["L4"], "count": 1}]}]}
    assert reserved(fleet(DEV).place(groups))[0][:2] == (0, 1)


def test_other_clusters_are_not_shared_out() -> None:
    document = sample.document(sample.node("a", "4xL4"))
    document["clusters"][0]["pools"] = [TRAIN]
    document["clusters"].append({"name": "east", "nodes": [sample.node("b", "4xL4")]})
    placed = Fleet.from_document(document).place("L4:3 kind=training where cluster=east,west")
    assert placed.nodes == ["b"]


@pytest.mark.parametrize("priority", [None, 49])
def test_headroom_of_a_cluster_is_for_a_high_priority(priority: int | None) -> None:
    here = fleet(headroom={"share": 0.2, "priority": 50}, used=((None, 3),))
    asked: JSON = {"choices": ["L4:6"]} | ({} if priority is None else {"priority": priority})
    named = "2 devices of cluster west free for priority 50 and above"
    decision = here.place(asked)
    assert (decision.verdict, reserved(decision)) == ("busy", [(5, 6, named, False)])
    assert here.place({"choices": ["L4:7"], "priority": 50}).ok


def test_headroom_of_a_pool_is_for_a_high_priority() -> None:
    kept = TRAIN | {"headroom": {"share": 0.2, "priority": 5}}
    assert fleet(kept).place({"choices": ["L4:7 kind=training"], "priority": 5}).ok
    decision = fleet(kept).place("L4:6 kind=training")
    named = "pool train of cluster west: 7 devices, 2 of them for priority 5 and above, 0 borrowed at most"
    assert reserved(decision) == [(5, 6, named, True)]
    assert fleet(kept, BURST).place("L4:8 kind=inference").ok  # two of its own, five lent, one of nobody
    assert not fleet(kept, BURST).place("L4:9 kind=inference").ok


@pytest.mark.parametrize(
    ("cluster", "path", "message"),
    [
        ({"pools": [{"name": "a", "nominal": 1.2}]}, "clusters[0].pools[0].nominal", "1.2 is no share of a cluster"),
        ({"pools": [{"name": "a", "borrow": 0.2}]}, "clusters[0].pools[0].borrow", "say how large it is"),
        ({"pools": [DEV, DEV]}, "clusters[0].pools[1].name", 'pool "dev" is named twice'),
        ({"pools": [DEV, DEV | {"name": "b"}]}, "clusters[0].pools[1].takes", "two pools take dev steps"),
        ({"pools": [TRAIN, TRAIN | {"name": "b", "takes": []}]}, "clusters[0].pools", "are guaranteed 1.4 of it"),
        ({"headroom": {"share": 2, "priority": 1}}, "clusters[0].headroom.share", "2 is no share of a cluster"),
        (
            {"pools": [DEV | {"headroom": {"share": 0.2, "priority": 1}}]},
            "clusters[0].pools[0].headroom.share",
            "keeps no more than its nominal share",
        ),
    ],
)
def test_pools_that_cannot_be_are_refused(cluster: JSON, path: str, message: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        fleet(*cluster.get("pools", []), **{key: value for key, value in cluster.items() if key != "pools"})
    assert refused.value.path == path
    assert message in str(refused.value)


def test_what_is_in_use_is_charged_to_a_pool_that_is_there() -> None:
    with pytest.raises(InvalidDocument) as refused:
        fleet(TRAIN, used=(("dev", 1),))
    assert refused.value.path == "clusters[0].nodes[0].used[0].charged"
    assert 'no pool "dev" with a nominal share' in str(refused.value)
