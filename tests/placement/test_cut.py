"""A step may go to a partition that comes from cutting an idle device, where the pool allows it."""

import json
import pickle

import pytest

from hetero_ops import Fleet, NoFit, Placement, StalePlacement
from tests.placement.sample import JSON, document, node

CARD = "A100-SXM4-80GB"
ONE = f"1x{CARD}"
POOLS = [{"name": "cut", "repartition": True}, {"name": "fixed"}]


def fleet(*nodes: JSON, **fields: object) -> Fleet:
    written = document(*nodes, **fields)
    written["clusters"][0]["pools"] = POOLS
    return Fleet.from_document(written)


def placed(of: Fleet, requirement: str | JSON) -> Placement:
    decision = of.place(requirement)
    assert isinstance(decision, Placement), decision.why()
    return decision


def layout(placement: Placement) -> list[str]:
    assert placement.cut is not None
    return [part.partition for part in placement.cut.parts]


def test_a_step_for_a_partition_has_an_idle_device_cut() -> None:
    decision = placed(fleet(node("a", f"2x{CARD}", used=(0,), pool="cut")), "A100/1g.10gb")
    cut = decision.cut
    assert cut is not None
    assert (cut.cluster, cut.node, cut.device, cut.uuid, cut.sku) == ("west", "a", 1, None, CARD)
    assert [(part.partition, part.id, part.start) for part in cut.parts] == [
        ("1g.10gb", 2 + slot, slot) for slot in range(7)
    ]
    assert [(grant.node, grant.id, grant.share_milli) for grant in decision.devices] == [("a", 2, 1000)]
    assert decision.notes == [
        ("CUT_FIRST", f"device 1 of a ({CARD}) has to be cut into 7 x 1g.10gb first"),
    ]
    assert "CUT_FIRST: device 1 of a" in decision.why()
    assert json.loads(decision.to_json())["cut"]["device"] == 1
    assert pickle.loads(pickle.dumps(decision)) == decision  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    ("requirement", "parts"),
    [
        ("gpu:0.25 >=10GB share=mig", {"1g.10gb", "1g.20gb"}),
        ("gpu:0.5 share=mig", {"3g.40gb", "4g.40gb"}),
        ({"choices": [{"class": "gpu", "share": 0.5, "isolation": "hard"}]}, {"3g.40gb", "4g.40gb"}),
        ("A100/3g.40gb:2", {"3g.40gb"}),
    ],
)
def test_every_way_to_ask_for_a_partition_may_cut(requirement: str | JSON, parts: set[str]) -> None:
    decision = placed(fleet(node("a", ONE, pool="cut")), requirement)
    assert set(layout(decision)) == parts


@pytest.mark.parametrize(
    "fields",
    [
        {"pool": "fixed"},
        {},
        {"pool": "cut", "used": (0,)},
        {"pool": "cut", "state": "draining"},
    ],
)
def test_only_idle_devices_of_pools_that_allow_it_are_cut(fields: JSON) -> None:
    assert not fleet(node("a", ONE, **fields)).place("A100/1g.10gb").ok


@pytest.mark.parametrize(
    "group",
    [
        {"sku": CARD, "count": 1, "health": "unhealthy"},
        {"sku": CARD, "count": 1, "vgpu": True},
        {"sku": CARD, "count": 1, "partition": "7g.80gb"},
        {"sku": "V100-SXM2-32GB", "count": 1},
    ],
)
def test_only_whole_healthy_cards_that_have_partitions_are_cut(group: JSON) -> None:
    assert not fleet(node("a", group, pool="cut")).place("gpu:..40GB share=mig").ok


def test_a_share_in_use_keeps_a_device_whole() -> None:
    shared = {**node("a", ONE, pool="cut"), "used": [{"owner": "x", "devices": [0], "share_milli": 100}]}
    assert not fleet(shared).place("A100/1g.10gb").ok


def test_what_was_refused_for_now_would_fit_and_what_could_never_be_is_impossible() -> None:
    busy = fleet(node("a", ONE, used=(0,), pool="cut"), node("b", ONE, pool="fixed"))
    decision = busy.place("A100/1g.10gb")
    assert decision.verdict == "busy"
    told = busy.explain("A100/1g.10gb")["choices"][0]
    assert {(reason["nodes"][0], reason["is_permanent"]) for reason in told["reasons"]} == {("a", False), ("b", True)}
    assert fleet(node("b", ONE, pool="fixed")).place("A100/1g.10gb").verdict == "impossible"
    assert busy.place("A100/7g.80gb:2").verdict == "impossible"


def test_a_partition_that_is_there_is_taken_first() -> None:
    there = {"sku": CARD, "count": 1, "partition": "1g.10gb"}
    of = fleet(node("a", ONE, pool="cut"), node("b", there))
    first = placed(of, "A100/1g.10gb")
    assert (first.nodes, first.cut) == (["b"], None)
    of.commit(first)
    assert placed(of, "A100/1g.10gb").cut is not None


def test_choices_go_in_their_order_and_a_cut_comes_before_the_next_choice() -> None:
    there = {"sku": CARD, "count": 1, "partition": "2g.20gb"}
    of = fleet(node("a", ONE, pool="cut"), node("b", there))
    decision = placed(of, "A100/1g.10gb | A100/2g.20gb")
    assert (decision.verdict, decision.cut is not None) == ("placed", True)
    assert placed(of, "A100/2g.20gb | A100/1g.10gb").cut is None
    assert placed(of, "H100 | A100/1g.10gb").verdict == "degraded"


def test_the_rest_of_the_device_serves_the_mix() -> None:
    mix = [{"request": "A100/3g.40gb", "weight": 1}]
    decision = placed(fleet(node("a", ONE, pool="cut"), mix=mix), "A100/1g.10gb")
    assert decision.cut is not None
    assert layout(decision)[0] == "3g.40gb"
    (name,) = {part.partition for part in decision.cut.parts if part.id == decision.devices[0].id}
    assert name == "1g.10gb"


def test_the_device_is_cut_that_is_worth_least_to_others() -> None:
    mix = [{"request": "A100:8 fabric", "weight": 1}, {"request": "A100", "weight": 1}]
    of = fleet(node("a", f"8x{CARD}", pool="cut"), node("b", f"8x{CARD}", used=(0, 1, 2), pool="cut"), mix=mix)
    decision = placed(of, "A100/1g.10gb")
    assert decision.cut is not None
    assert (decision.cut.node, decision.cut.device) == ("b", 3)
    (term,) = [term for term in json.loads(decision.to_json())["terms"] if term["name"] == "fragmentation"]
    assert term["why"].startswith("costs the document mix")


def test_commit_cuts_for_good_and_release_gives_the_partition_back() -> None:
    of = fleet(node("a", f"2x{CARD}", pool="cut", cpu_milli=16000))
    first = placed(of, "A100/1g.10gb")
    hold = of.commit(first)
    kinds = {row["kind"]: (row["devices"], row["free_devices"]) for row in of.overview()}
    assert kinds == {CARD: (1, 1), f"{CARD}/1g.10gb": (7, 6)}
    for _ in range(6):
        other = placed(of, "A100/1g.10gb")
        assert other.cut is None
        of.commit(other)
    assert placed(of, "A100/1g.10gb").cut is not None
    of.release(hold)
    again = placed(of, "A100/1g.10gb")
    assert (again.cut, again.devices[0].id) == (None, first.devices[0].id)


def test_a_snapshot_keeps_what_was_cut() -> None:
    of = fleet(node("a", f"4x{CARD}", pool="cut"))
    hold = of.commit(placed(of, "A100/2g.20gb"))
    back = Fleet.from_json(of.to_json())
    assert back.to_json() == of.to_json()
    assert back.place("A100/2g.20gb") == of.place("A100/2g.20gb")
    back.release(hold)
    of.release(hold)
    assert back.place("A100:3") == of.place("A100:3")


def test_a_cut_of_a_device_that_was_taken_is_refused() -> None:
    of = fleet(node("a", f"2x{CARD}", pool="cut"))
    cut, whole = placed(of, "A100/1g.10gb"), placed(of, "A100:2")
    before = of.to_json()
    hold = of.commit(whole)
    with pytest.raises(StalePlacement, match=r"device 0 of a changed"):
        of.commit(cut)
    of.release(hold)
    of.commit(cut)
    with pytest.raises(StalePlacement):
        of.commit(cut)
    with pytest.raises(StalePlacement):
        of.commit(whole)
    assert of.to_json() != before


def test_two_cuts_of_one_node_do_not_get_the_same_ids() -> None:
    of = fleet(node("a", f"2x{CARD}", pool="cut"))
    first = placed(of, "A100/7g.80gb")
    hold = of.commit(placed(of, "A100/1g.10gb"))
    of.release(hold)
    second = placed(of, "A100/7g.80gb")
    assert second.devices[0].id == 9
    with pytest.raises(StalePlacement):
        of.commit(first)
    of.commit(second)


def test_a_cut_that_is_not_legal_is_refused() -> None:
    of = fleet(node("a", f"2x{CARD}", pool="cut"))
    told = json.loads(placed(of, "A100/4g.40gb").to_json())
    for part in told["cut"]["parts"]:
        part["partition"] = "4g.40gb"
    forged = Placement.from_json(json.dumps(told))
    assert isinstance(forged, Placement)
    with pytest.raises(StalePlacement):
        of.commit(forged)


def test_devices_keep_their_place_beside_a_cut() -> None:
    of = fleet(node("a", {"sku": CARD, "count": 8, "numa": [0] * 4 + [1] * 4}, pool="cut"))
    of.commit(placed(of, "A100/1g.10gb"))
    seven = placed(of, "A100:7 fabric")
    assert [grant.id for grant in seven.devices] == [1, 2, 3, 4, 5, 6, 7]
    assert not of.place("A100:8").ok


def test_of_a_range_as_many_are_taken_as_one_cut_gives() -> None:
    of = fleet(node("a", f"2x{CARD}", pool="cut"))
    assert len(placed(of, "A100/1g.10gb:2..20").devices) == 7
    assert not of.place("A100/1g.10gb:8").ok


def test_all_that_a_step_takes_lies_on_the_device_that_is_cut() -> None:
    there = {"sku": CARD, "count": 1, "partition": "3g.40gb"}
    of = fleet(node("a", ONE, there, pool="cut"))
    decision = placed(of, "A100/3g.40gb:2")
    assert decision.cut is not None
    assert [grant.id for grant in decision.devices] == [part.id for part in decision.cut.parts]
    assert not of.place("A100/3g.40gb:3").ok


def test_a_cut_is_never_made_for_a_partition_that_was_there() -> None:
    mix = [{"request": "A100-40GB/1g.5gb", "weight": 1}, {"request": "A30/1g.6gb", "weight": 1}]
    of = fleet(node("b", {"sku": "A30", "count": 2}, pool="cut"), mix=mix)
    of.commit(placed(of, "gpu:0.25 >=10GB share=mig"))
    decision = placed(of, "gpu share=mig min_score=97")
    assert decision.cut is not None
    assert {grant.id for grant in decision.devices} <= {part.id for part in decision.cut.parts}


def test_one_device_keeps_the_memory_mode_of_its_node() -> None:
    of = fleet(node("m", "8xMI300X", pool="cut"))
    assert layout(placed(of, "MI300X/cpx_nps1")) == ["cpx_nps1"] * 8
    assert not of.place("MI300X/cpx_nps4").ok


def test_plans_of_many_steps_cut_nothing() -> None:
    of = fleet(node("a", ONE, pool="cut"))
    each = of.place_each(["A100/1g.10gb", "A100/1g.10gb"])
    assert [decision.ok for decision in each] == [True, True]
    (decision,) = of.place_all(["A100/1g.10gb"], solver="greedy").decisions
    assert isinstance(decision, NoFit)
    assert decision.verdict == "busy"


def test_steps_that_ask_for_no_partition_are_placed_as_before() -> None:
    asked = ["A100:2 fabric", "gpu:0.5 >=10GB", "A100:4..8"]
    open_pool, closed = (fleet(node("a", f"8x{CARD}", pool=pool)) for pool in ("cut", "fixed"))
    for requirement in asked:
        one, other = (json.loads(of.place(requirement).to_json()) for of in (open_pool, closed))
        assert "cut" not in one
        assert {**one, "trace_id": None} == {**other, "trace_id": None}
