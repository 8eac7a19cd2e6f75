import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument, InvalidRequirement, StalePlacement, UnknownHold
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.decision import Decision, NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from tests.placement.sample import A100_40, H100, fleet, node

ROOT = Path(__file__).parents[2]
MIXED = ROOT / "examples" / "fleets" / "mixed.yaml"
TRAIN = "H100:8 | MI300X:8 where >=80GB bf16 fabric"

ANSWER_FIELDS = {
    *("verdict", "requirement", "policy", "nodes", "devices", "reasons", "mix", "reserved", "trace_id"),
}
PLACEMENT_FIELDS = ANSWER_FIELDS | {"choice", "choice_index", "score", "terms", "performance"}


def test_train_falls_to_its_second_choice() -> None:
    decision = Fleet.load(MIXED).place(TRAIN)
    assert isinstance(decision, Placement)
    assert (decision.verdict, decision.choice, decision.choice_index) == ("degraded", "MI300X", 1)
    assert (decision.cluster, decision.nodes) == ("west", ["amd-03"])
    assert [(grant.id, grant.share_milli) for grant in decision.devices] == [(i, 1000) for i in range(8)]
    assert (decision.sku, decision.vendor, decision.precision) == ("MI300X", "amd", "bf16")
    reasons = json.loads(decision.to_json())["reasons"]
    assert [(r["code"], r["have"], r["nodes"]) for r in reasons if r["code"] == "NOT_ONE_ISLAND"] == [
        ("NOT_ONE_ISLAND", 7, ["nv-04"]),
        ("NOT_ONE_ISLAND", 6, ["nv-02"]),
        ("NOT_ONE_ISLAND", 4, ["nv-01"]),
        ("NOT_ONE_ISLAND", 2, ["nv-03"]),
    ]


def test_an_answer_has_the_fields_of_the_design() -> None:
    mixed = Fleet.load(MIXED)
    placed, refused = (json.loads(mixed.place(request).to_json()) for request in (TRAIN, "H100:8 fabric"))
    assert placed.keys() >= PLACEMENT_FIELDS
    assert refused.keys() >= ANSWER_FIELDS | {"nearest"}
    assert refused["devices"] == refused["nodes"] == []
    assert placed["reserved"] is refused["reserved"] is False
    assert placed["devices"][0].keys() >= {"node", "id", "uuid", "share_milli"}
    assert placed["reasons"][0].keys() >= {"choice", "code", "nodes", "have", "want", "advice"}
    assert placed["terms"][0].keys() >= {"name", "value", "weight", "points", "why"}
    assert placed["performance"].keys() >= {"ratio", "source"}


def test_impossible_and_busy_are_told_apart() -> None:
    busy = fleet(node("a", f"8x{H100}", used=(0,)))
    assert busy.place("H100:8 fabric").verdict == "busy"
    assert busy.place("H100:9 fabric").verdict == "impossible"
    assert busy.place("H100:8 fabric | L4:1").verdict == "busy"
    assert fleet(node("a", "4xL4", state="cordoned")).place("L4:1").verdict == "busy"
    assert fleet().place("L4:1").verdict == "impossible"


def test_a_cpu_device_is_no_accelerator_unless_it_is_named() -> None:
    host = fleet(node("a", "2xXeon-8480P-AMX"))
    assert host.place("accel:1").verdict == "impossible"
    assert host.place("intel:1").verdict == "impossible"
    assert host.place("Xeon-8480P-AMX:1").verdict == "placed"


def test_a_partition_and_a_whole_device_can_be_equally_good() -> None:
    slices = {"sku": A100_40, "count": 2, "partition": "1g.5gb", "memory_mib": 4864}
    request = "A100/1g.5gb,L4"
    assert fleet(node("a", slices)).place(request).verdict == "placed"
    assert fleet(node("a", "1xL4")).place(request).verdict == "placed"
    assert fleet(node("a", f"1x{A100_40}")).place(request).verdict == "impossible"
    assert fleet(node("a", slices)).place("gpu:1").verdict == "impossible"


def test_ties_go_to_the_fuller_node_then_to_names_then_to_lower_ids() -> None:
    assert fleet(node("a", "2xL4"), node("b", "1xL4")).place("gpu:1").to_json().count('"b"')
    explained = fleet(node("a", "2xL4"), node("b", "1xL4")).explain("gpu:1")["choices"][0]["candidates"]
    assert [candidate["node"] for candidate in explained] == ["b", "a"]
    assert placed_ids(fleet(node("b", "1xL4"), node("a", "1xL4")), "gpu:1") == ("a", [0])
    islands = {"sku": "L4", "count": 4, "islands": [[0, 3], [1, 2]]}
    assert placed_ids(fleet(node("a", islands)), "gpu:3") == ("a", [0, 1, 2])


def placed_ids(on: Fleet, request: str) -> tuple[str, list[int]]:
    decision = on.place(request)
    assert isinstance(decision, Placement)
    return decision.nodes[0], [grant.id for grant in decision.devices]


@pytest.mark.parametrize("mib", [2**32, 2**63, 2**64 - 1])
def test_no_memory_size_is_too_large_to_count(mib: int) -> None:
    huge = fleet(node("a", {"sku": "unknown", "class": "gpu", "count": 1, "memory_mib": mib}))
    assert huge.place("gpu:1").ok
    assert not huge.place("gpu:2 >=10GB").ok


def test_a_group_of_no_devices_is_no_devices() -> None:
    assert fleet(node("a", f"0x{H100}")).place("H100:1").verdict == "impossible"


def test_taken_is_taken_and_given_back_is_free() -> None:
    one = fleet(node("a", "1xL4"))
    placement = one.place("gpu:1")
    assert isinstance(placement, Placement)
    hold = one.commit(placement)
    assert one.place("gpu:1").verdict == "busy"
    with pytest.raises(StalePlacement, match="place again"):
        one.commit(placement)
    one.release(hold)
    assert one.place("gpu:1") == placement
    with pytest.raises(UnknownHold, match=r"hold 1 is not held"):
        one.release(hold)
    assert one.commit(placement) != hold


def test_a_placement_of_another_fleet_is_stale() -> None:
    placement = fleet(node("a", "1xL4")).place("gpu:1")
    assert isinstance(placement, Placement)
    for other in (
        fleet(node("b", "1xL4")),
        fleet(node("a", {"sku": "L4", "id": 3})),
        fleet(node("a", "1xL4", used=(0,))),
    ):
        with pytest.raises(StalePlacement):
            other.commit(placement)


def test_cpu_runs_out_too() -> None:
    host = fleet(node("a", cpu_milli=3000))
    placement = host.place("cpu:2")
    assert isinstance(placement, Placement)
    host.commit(placement)
    refused = host.place("cpu:2")
    assert isinstance(refused, NoFit)
    assert (refused.verdict, refused.codes) == ("busy", ["CPU_SHORT"])
    with pytest.raises(StalePlacement):
        host.commit(placement)
    assert fleet(node("a")).place("cpu:1").verdict == "impossible"  # unknown is not enough


def test_questions_have_ids() -> None:
    one = fleet(node("a", "1xL4"))
    asked = [
        one.place("gpu:1"),
        one.place("L4:1"),
        one.place("gpu:1", seed=1),
        one.place("gpu:1", key="dag.task"),
        one.place("gpu:1", weights={"performance": 1, "topology": 0, "fragmentation": 0, "power": 0}),
        fleet(node("b", "1xL4")).place("gpu:1"),
        fleet(node("a", "1xL4"), mix=[{"request": "gpu:1", "weight": 1}]).place("gpu:1"),
    ]
    assert len({decision.trace_id for decision in asked}) == len(asked)
    assert one.place(Requirement.parse("gpu:1")).trace_id == asked[0].trace_id
    assert fleet(node("a", "1xL4")).place("  gpu:1 ").trace_id == asked[0].trace_id


def test_weights_and_policy_are_checked() -> None:
    one = fleet(node("a", "1xL4"))
    with pytest.raises(InvalidRequirement, match="weights"):
        one.place("gpu:1", weights={"performance": 0, "topology": 1, "fragmentation": 0, "power": 0})
    with pytest.raises(InvalidRequirement, match="weights"):
        one.place("gpu:1", weights={"speed": 1})
    with pytest.raises(InvalidRequirement, match="weights"):
        one.place("gpu:1", weights={"performance": float("nan"), "topology": 1, "fragmentation": 1, "power": 1})  # type: ignore[dict-item]
    with pytest.raises(InvalidRequirement, match="fastest"):
        one.place("gpu:1", policy="fastest")


def test_every_form_of_a_requirement_is_the_same_question() -> None:
    answers = {fleet().place(form).trace_id for form in ("gpu:2", {"gpu": 2}, ["gpu:2"], Requirement.parse("gpu:2"))}
    assert len(answers) == 1


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_the_core_cannot_hold_is_refused(seed: int) -> None:
    with pytest.raises(InvalidRequirement, match="is not from 0 to"):
        fleet().place("gpu", seed=seed)


def test_a_number_is_no_requirement() -> None:
    with pytest.raises(InvalidRequirement, match="int is no form of a requirement"):
        fleet().place(8)  # type: ignore[arg-type]


def test_a_snapshot_of_another_format_is_refused() -> None:
    text = json.loads(fleet(node("a", "1xL4")).to_json())
    for broken in (text | {"format": 99}, text | {"more": 1}, {}, []):
        with pytest.raises(InvalidDocument, match="snapshot of a fleet"):
            Fleet.from_json(json.dumps(broken).encode())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), {1, 2}])
def test_what_is_no_number_is_refused_at_the_border(value: object) -> None:
    for broken in ({"cpu_milli": value}, {"power_budget_mw": value}, {"labels": {"rack": value}}):
        with pytest.raises(InvalidDocument, match="write finite numbers, text, lists and mappings only"):
            fleet(node("a", "1xL4", **broken))
    with pytest.raises(InvalidDocument, match="finite"):
        fleet(node("a", "1xL4"), mix=[{"request": "gpu", "weight": value}])


def test_a_decision_of_any_trace_id_has_a_hash() -> None:
    answer = json.loads(fleet(node("a", "1xL4")).place("gpu:1").to_json())
    hash(Decision.from_json(json.dumps(answer | {"trace_id": "é"})))
    with pytest.raises(InvalidDocument, match="not a decision"):
        Decision.from_json("{}")


SCRIPT = f"""
from hetero_ops import Fleet
fleet = Fleet.load({str(MIXED)!r})
for request in ({TRAIN!r}, "gpu:1 >=24GB", "gpu:3", "gpu:0.25", "H100:8 fabric", "cpu:16"):
    decision = fleet.place(request)
    print(decision.to_json(), decision.why(), fleet.explain(request), hash(decision))
    decision.ok and fleet.commit(decision)
print(fleet.fragmentation(), fleet.overview(), fleet.to_json())
"""


def test_neither_hash_seed_nor_threads_change_an_answer() -> None:
    answers = set()
    for seed, threads in (("0", "1"), ("1", "2"), ("12345", "7")):
        environment = os.environ | {"PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": threads, "PYTHONPATH": str(ROOT)}
        answers.add(subprocess.check_output([sys.executable, "-c", SCRIPT], env=environment))
    assert len(answers) == 1


def test_eight_threads_share_one_fleet() -> None:
    shared = fleet(*(node(f"n{i}", f"8x{H100}", "4xL4") for i in range(8)))

    def work(worker: int) -> list[tuple[int, Placement]]:
        held: list[tuple[int, Placement]] = []
        takes = 0
        while isinstance(decision := shared.place(["gpu:1", "gpu:0.5", "H100:2 fabric"][worker % 3]), Placement):
            shared.fragmentation()
            try:
                held.append((shared.commit(decision), decision))
            except StalePlacement:
                continue
            takes += 1
            if takes % 5 == 4:
                shared.release(held.pop(0)[0])
        return held

    before = shared.fragmentation()
    with ThreadPoolExecutor(8) as pool:
        held = [hold for holds in pool.map(work, range(8)) for hold in holds]
    taken: dict[tuple[str, int], int] = {}
    for _, placement in held:
        for grant in placement.devices:
            taken[grant.node, grant.id] = taken.get((grant.node, grant.id), 0) + grant.share_milli
    assert len({hold for hold, _ in held}) == len(held)
    assert max(taken.values()) <= 1000
    assert sum(taken.values()) == 8 * 12 * 1000 - shared.fragmentation()["free_milli"]
    for hold, _ in held:
        shared.release(hold)
    assert shared.fragmentation() == before
