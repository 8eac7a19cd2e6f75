"""Steps that need devices of several kinds: on one node, else near each other, all of them or none."""

import json
import pickle
from typing import Any

import pytest

from hetero_ops import Fleet, NoFit, Placement
from hetero_ops.errors import InvalidDocument, InvalidRequirement, StalePlacement
from hetero_ops.inject.environment import environment
from tests.placement.sample import JSON, fleet, node

GPU, NPU = "A100-PCIE-40GB", "Ascend-910B3"
ASKED: JSON = {"models": "A100-40GB", "groups": ["Ascend-910B:2"]}


def placed(decision: Placement | NoFit) -> Placement:
    assert isinstance(decision, Placement), decision.why()
    return decision


def where(decision: Placement | NoFit) -> list[tuple[str, str, list[int]]]:
    return [(group.choice, group.node, [grant.id for grant in group.devices]) for group in placed(decision).groups]


def codes(decision: Placement | NoFit) -> list[tuple[str, str | None, list[str], bool]]:
    assert isinstance(decision, NoFit), decision.why()
    reasons = json.loads(decision.to_json())["reasons"]
    return [(r["code"], r.get("group"), r["nodes"], r["is_permanent"]) for r in reasons]


def labelled(name: str, *devices: str | JSON, switch: str | None = None, rack: str | None = None, **rest: Any) -> JSON:
    labels = {key: value for key, value in {"switch": switch, "rack": rack}.items() if value is not None}
    return node(name, *devices, labels=labels, **rest)


def test_all_groups_lie_on_one_node_where_one_has_room() -> None:
    here = fleet(
        labelled("both", f"1x{GPU}", f"2x{NPU}", switch="s"),
        labelled("gpu", f"4x{GPU}", switch="s"),
        labelled("npu", f"8x{NPU}", switch="s"),
    )
    decision = placed(here.place(ASKED | {"nearness": "rack"}))
    assert where(decision) == [("A100-40GB", "both", [0]), ("Ascend-910B", "both", [1, 2])]
    assert (decision.nodes, decision.notes, decision.verdict) == (["both"], [], "placed")
    assert [group.vendor for group in decision.groups] == ["nvidia", "huawei"]


def test_else_on_one_switch_with_a_note_else_in_one_rack_else_nowhere() -> None:
    """The template of the field: same node; else the same switch and another node, which is said; else why not."""
    nodes = [
        labelled("gpu", f"2x{GPU}", switch="s1", rack="r1"),
        labelled("far", f"8x{NPU}", switch="s9", rack="r9"),
        labelled("near", f"8x{NPU}", switch="s2", rack="r1"),
        labelled("nearest", f"2x{NPU}", switch="s1", rack="r1"),
    ]
    on_switch = placed(fleet(*nodes).place(ASKED | {"nearness": "switch"}))
    assert [of_node for _, of_node, _ in where(on_switch)] == ["gpu", "nearest"]
    assert on_switch.notes == [
        ("CROSS_NODE", "the groups lie on 2 nodes on one switch: no node has room for all of them")
    ]
    assert "CROSS_NODE: the groups lie on 2 nodes on one switch" in on_switch.why()
    in_rack = placed(fleet(*nodes[:3]).place(ASKED | {"nearness": "rack"}))
    assert [of_node for _, of_node, _ in where(in_rack)] == ["gpu", "near"]
    assert in_rack.notes[0][1].startswith("the groups lie on 2 nodes in one rack")
    apart = fleet(*nodes[:2]).place(ASKED | {"nearness": "rack"})
    assert apart.verdict == "impossible"
    assert codes(apart) == [("GROUPS_APART", None, ["far", "gpu"], True)]
    never = fleet(*nodes).place(ASKED)
    assert codes(never) == [
        ("MODEL_MISMATCH", "A100-40GB", ["far", "near", "nearest"], True),
        ("MODEL_MISMATCH", "Ascend-910B", ["gpu"], True),
    ]
    assert "let the groups lie on several nodes (nearness: rack)" in never.why()


def test_a_rack_stands_for_its_switch_and_what_is_not_labelled_is_near_to_nothing() -> None:
    rack = [labelled("gpu", f"1x{GPU}", rack="r1"), labelled("npu", f"2x{NPU}", rack="r1")]
    assert fleet(*rack).place(ASKED | {"nearness": "switch"}).ok
    bare = [labelled("gpu", f"1x{GPU}"), labelled("npu", f"2x{NPU}")]
    assert not fleet(*bare).place(ASKED | {"nearness": "rack"}).ok


def test_busy_says_which_group_waits_where() -> None:
    here = fleet(
        labelled("both", f"1x{GPU}", f"2x{NPU}", switch="s", used=(1,)), labelled("npu", f"8x{NPU}", switch="s")
    )
    assert codes(here.place(ASKED)) == [
        ("COUNT_SHORT", "Ascend-910B", ["both"], False),
        ("MODEL_MISMATCH", "A100-40GB", ["npu"], True),
    ]
    assert here.place(ASKED | {"nearness": "switch"}).ok
    full = fleet(
        labelled("both", f"1x{GPU}", f"2x{NPU}", switch="s", used=(0,)), labelled("npu", f"8x{NPU}", switch="s")
    )
    decision = full.place(ASKED | {"nearness": "switch"})
    assert decision.verdict == "busy"
    assert ("GROUPS_APART", None, ["npu"], False) in codes(decision)


def test_a_group_that_no_node_has_is_named() -> None:
    decision = fleet(node("gpu", f"2x{GPU}"), node("npu", f"2x{NPU}")).place(ASKED | {"groups": ["L4:1"]})
    assert decision.verdict == "impossible"
    assert codes(decision) == [("MODEL_MISMATCH", "L4", ["gpu", "npu"], True)]


def test_the_affinity_weight_pulls_groups_to_one_numa_node() -> None:
    """The fast island lies on the other NUMA node: worth more until the exchange with the NPU is."""
    gpus = {"sku": "H100-SXM5-80GB", "count": 4, "numa": [0, 0, 1, 1], "islands": [[0, 1]]}
    npu = {"sku": NPU, "count": 1, "numa": 1}
    here = fleet(node("a", gpus, npu), mix=[{"request": "H100:1", "weight": 1}])
    asked: JSON = {"models": "H100", "count": 2, "groups": ["Ascend-910B:1"]}
    assert where(here.place(asked))[0][2] == [0, 1]
    assert where(here.place(asked | {"affinity_weight": 5}))[0][2] == [2, 3]


def test_cores_and_host_memory_are_a_group_and_count_together() -> None:
    cores = ASKED | {"groups": ["Ascend-910B:1", "cpu:16 >=64GB"]}
    here = fleet(node("a", f"2x{GPU}", f"4x{NPU}", cpu_milli=24_000, memory_mib=1 << 17))
    decision = placed(here.place(cores))
    assert (decision.cpu_milli, decision.groups[2].cpu_milli, decision.groups[2].devices) == (16_000, 16_000, [])
    here.commit(decision)
    assert codes(here.place(cores)) == [("CPU_SHORT", "cpu", ["a"], False)]
    two = ASKED | {"groups": ["cpu:16", "cpu:16"]}
    assert codes(fleet(node("a", f"2x{GPU}", cpu_milli=24_000)).place(two)) == [("CPU_SHORT", "cpu", ["a"], True)]


def test_groups_of_one_kind_take_different_devices() -> None:
    asked: JSON = {"models": "L4", "count": 2, "groups": ["L4:2", "gpu:1"]}
    assert where(fleet(node("a", "5xL4")).place(asked)) == [
        ("L4", "a", [0, 1]),
        ("L4", "a", [2, 3]),
        ("gpu", "a", [4]),
    ]
    assert codes(fleet(node("a", "4xL4")).place(asked)) == [("COUNT_SHORT", "gpu", ["a"], True)]


def test_two_shares_may_be_of_one_device_and_are_given_back() -> None:
    here = fleet(node("a", "1xL4"))
    asked: JSON = {"accelerators": "gpu:0.5 >=10GB", "groups": ["gpu:0.5"]}
    before = here.to_json()
    hold = here.commit(placed(here.place(asked)))
    assert codes(here.place("gpu:0.25"))[0][0] == "COUNT_SHORT"
    restored = pickle.loads(pickle.dumps(here))  # noqa: S301 - our own bytes
    restored.release(hold)
    here.release(hold)
    assert json.loads(here.to_json())["holds"] == json.loads(before)["holds"] == []
    assert restored.place(asked) == here.place(asked)


def test_commit_takes_all_groups_or_none() -> None:
    here = fleet(node("a", f"1x{GPU}", f"2x{NPU}"))
    decision = placed(here.place(ASKED))
    other = here.commit(placed(here.place("Ascend-910B:1")))
    with pytest.raises(StalePlacement):
        here.commit(decision)
    assert here.place("A100-40GB:1").ok
    here.release(other)
    here.commit(decision)
    assert not here.place("A100-40GB:1").ok
    assert Placement.from_json(decision.to_json()) == decision


def test_limits_of_a_team_and_power_count_all_groups() -> None:
    limits = [{"team": "vision", "per": "class", "name": "gpu", "devices": 3}]
    here = fleet(node("a", "4xL4"), limits=limits)
    asked: JSON = {"models": "L4", "count": 2, "groups": ["L4:2"], "team": "vision"}
    assert codes(here.place(asked)) == [("QUOTA", "L4", ["a"], True)]
    assert here.place(asked | {"groups": ["L4:1"]}).ok
    powered = fleet(node("a", "4xL4", power_budget_mw=250_000))  # an L4 draws 72 W
    asked = {"models": "L4", "count": 2, "groups": ["L4:2"]}
    assert codes(powered.place(asked)) == [("POWER_BUDGET", "L4", ["a"], True)]
    assert powered.place(asked | {"groups": ["L4:1"]}).ok


@pytest.mark.parametrize(
    ("ceiling", "code"), [({"power": "<=200W"}, "POWER_BUDGET"), ({"cost": "<=1.9/h"}, "COST_CEILING")]
)
def test_ceilings_of_the_choice_are_of_all_groups_together(ceiling: JSON, code: str) -> None:
    document_node = node("a", "4xL4", pool="p")
    here = Fleet.from_document(
        {
            "apiVersion": "hetero-ops/v1",
            "kind": "Fleet",
            "clusters": [{"name": "c", "pools": [{"name": "p", "price": {"L4": 0.5}}], "nodes": [document_node]}],
        }
    )
    asked: JSON = {"models": "L4", "count": 2, "groups": ["L4:2"], **ceiling}
    assert codes(here.place(asked))[0][:2] == (code, None)
    assert here.place(asked | {"count": 1, "groups": ["L4:1"]}).ok


def test_a_score_below_the_least_is_told_on_one_node_and_over_several() -> None:
    here = fleet(labelled("gpu", f"1x{GPU}", switch="s"), labelled("npu", f"2x{NPU}", switch="s"))
    asked = ASKED | {"nearness": "switch", "min_score": 99}
    assert codes(here.place(asked)) == [("SCORE_TOO_LOW", None, ["gpu", "npu"], True)]
    both = fleet(node("both", f"1x{GPU}", f"2x{NPU}"))
    assert codes(both.place(ASKED | {"min_score": 99})) == [("SCORE_TOO_LOW", None, ["both"], True)]


def test_a_later_choice_with_or_without_groups_is_a_degradation() -> None:
    here = fleet(node("a", f"1x{GPU}", "2xL4"))
    decision = placed(here.place([ASKED, {"models": "L4", "count": 2}]))
    assert (decision.verdict, decision.choice, decision.groups) == ("degraded", "L4", [])
    decision = placed(here.place(["L4:4", {"models": "A100-40GB", "groups": ["L4:1"]}]))
    assert (decision.verdict, [group.choice for group in decision.groups]) == ("degraded", ["A100-40GB", "L4"])


def test_explain_accounts_for_every_node() -> None:
    here = fleet(node("both", f"1x{GPU}", f"2x{NPU}"), node("too", f"2x{GPU}", f"4x{NPU}"), node("gpu", f"4x{GPU}"))
    told = here.explain(ASKED)["choices"][0]
    assert sorted(candidate["node"] for candidate in told["candidates"]) == ["both", "too"]
    assert [(reason["code"], reason["group"], reason["nodes"]) for reason in told["reasons"]] == [
        ("MODEL_MISMATCH", "Ascend-910B", ["gpu"])
    ]
    best = told["candidates"][0]
    assert best["score"] == here.score(ASKED)["candidates"][0]["score"] == placed(here.place(ASKED)).score
    assert sum(term["points"] for term in best["terms"]) == pytest.approx(best["score"], abs=0.01)


def test_the_process_sees_the_devices_of_each_vendor() -> None:
    here = fleet(labelled("gpu", f"2x{GPU}", switch="s"), labelled("npu", f"2x{NPU}", switch="s"))
    decision = placed(here.place(ASKED | {"nearness": "switch"}))
    seen = environment(decision, node="npu").values
    assert (seen["ASCEND_RT_VISIBLE_DEVICES"], seen["HETERO_OPS_NODE_RANK"]) == ("0,1", "1")
    assert "CUDA_VISIBLE_DEVICES" not in seen
    assert json.loads(seen["HETERO_OPS_GROUPS"]) == [
        {"choice": "A100-40GB", "node": "gpu", "devices": [0]},
        {"choice": "Ascend-910B", "node": "npu", "devices": [0, 1]},
    ]
    mixed = environment(placed(fleet(node("a", "2xMI300X", "2xL4")).place({"models": "MI300X", "groups": ["L4:2"]})))
    assert (mixed.values["ROCR_VISIBLE_DEVICES"], mixed.values["CUDA_VISIBLE_DEVICES"]) == ("0", "2,3")
    assert "CUDA_VISIBLE_DEVICES" not in mixed.removed


@pytest.mark.parametrize("solver", ["greedy", "search", "genetic"])
def test_many_steps_are_planned_with_groups(solver: str) -> None:
    here = fleet(*(node(name, f"1x{GPU}", f"4x{NPU}") for name in ("a", "b")))
    plan = here.place_all([ASKED, ASKED, ASKED, "Ascend-910B:2", "Ascend-910B:2"], solver=solver, steps=30, threads=1)
    assert [decision.verdict for decision in plan.decisions] == ["placed", "placed", "busy", "placed", "placed"]
    for placement in plan.placements:
        here.commit(placement)
    with pytest.raises(InvalidRequirement, match="groups"):
        here.place_all([ASKED], solver="exact")


def test_the_order_of_nodes_in_the_file_does_not_matter() -> None:
    nodes = [labelled(name, f"2x{GPU}", f"2x{NPU}", switch="s") for name in "abc"]
    asked = ASKED | {"count": 2, "groups": ["Ascend-910B:2", "Ascend-910B:2"], "nearness": "rack"}
    answers = {fleet(*order).place(asked).to_json() for order in (nodes, nodes[::-1], nodes[1:] + nodes[:1])}
    assert len(answers) == 1


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            {"groups": ["L4:1..2"]},
            "L4: in a choice with groups each has one count on one node, but this one has a range",
        ),
        ({"groups": ["L4:2 nodes=2"]}, "has a number of nodes; leave that out"),
        ({"count": "1..2"}, "A100-40GB: in a choice with groups each has one count"),
        ({"groups": [{"models": "L4", "units": 2}]}, "has compute units"),
        (
            {"groups": ["L4:1 wait=3m"]},
            "is of the whole choice, and not of one of its groups; write it beside `groups`",
        ),
        ({"groups": ["L4:1 min_score=50"]}, "L4: least score is of the whole choice"),
        ({"groups": ["L5:1"]}, "'L5' is a model that neither"),
        ({"groups": [], "affinity_weight": 2}, "affinity_weight without groups"),
        ({"affinity_weight": 0}, "affinity_weight"),
    ],
)
def test_what_a_group_cannot_say_is_refused(written: JSON, message: str) -> None:
    with pytest.raises(InvalidRequirement, match=message.replace("(", r"\(")):
        fleet(node("a", "1xL4")).place(ASKED | written)


def test_an_expected_workload_has_no_groups() -> None:
    with pytest.raises(InvalidDocument, match="groups of several kinds; write each as an entry of its own"):
        fleet(node("a", "1xL4"), mix=[{"request": json.dumps(ASKED), "weight": 1}])


def test_a_group_leaves_the_devices_that_another_one_needs() -> None:
    entry = {"sku": "L4", "count": 2, "numa": 0, "nic": [True, False]}
    step = {"class": "gpu", "groups": [{"class": "gpu", "topology": {"nic": "same-root"}}]}
    assert where(fleet(node("a", entry)).place({"accelerators": [step]})) == [
        ("gpu", "a", [1]),
        ("gpu", "a", [0]),
    ]
