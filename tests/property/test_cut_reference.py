"""Cuts of devices: legal, of idle devices of pools that allow it only, and as the reference decides."""

import json
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import _BLANK, compile_choice
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.decision import Placement
from hetero_ops.placement.fleet import Fleet
from tests.property.test_core_reference import assert_same_answer
from tests.reference import cutting, fragmentation, placing
from tests.reference.model import JSON
from tests.reference.partition import is_legal
from tests.reference.reader import read_fleet

CATALOG = Catalog.builtin()
CARDS = ("A100-SXM4-40GB", "A100-SXM4-80GB", "A30", "MI300X", "T4")
CUT = {"A100-SXM4-40GB": "1g.5gb", "A100-SXM4-80GB": "3g.40gb", "A30": "2g.12gb", "MI300X": "cpx_nps1"}
MIX = (
    *(
        "A100/1g.5gb",
        "A100-80GB/1g.10gb",
        "A100/3g.20gb",
        "A100/3g.40gb",
        "A30/1g.6gb",
        "A30/2g.12gb",
        "MI300X/cpx_nps1",
    ),
    *("gpu:0.25 share=mig", "gpu:1 >=24GB", "A100:2 fabric", "gpu:0.5", "gpu share=mig where >=20GB"),
)
ASKED = (
    *("A100/1g.5gb", "A100-80GB/1g.10gb", "A100/3g.40gb:2", "A100/4g.20gb", "A30/1g.6gb:2..4", "MI300X/cpx_nps1:3"),
    *("gpu:0.25 >=10GB share=mig", "gpu share=mig", "gpu:0.5 share=mig", "gpu share=mig where >=20GB", "A100:1"),
    *("H100 | A100/1g.5gb | A30/2g.12gb", "A100/7g.40gb | gpu >=24GB", "gpu share=mig min_score=97", "MI300X/cpx_nps4"),
    *("gpu share=mig nic=same-root", "A100/1g.5gb perf>=0.5 | A100/3g.20gb perf>=0.3", "gpu share=mig bw>=400GB/s"),
)


@st.composite
def _nodes(draw: st.DrawFn, name: str) -> JSON:
    groups, number = [], 0
    for _ in range(draw(st.integers(1, 2))):
        sku, count = draw(st.sampled_from(CARDS)), draw(st.integers(1, 3))
        group: JSON = {
            "sku": sku,
            "count": count,
            "numa": draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)),
        }
        shape = draw(st.sampled_from(["whole", "whole", "whole", "cut", "sick", "virtual", "nic", "apart"]))
        more: dict[str, JSON] = {
            "cut": {"partition": CUT[sku]} if sku in CUT else {},
            "sick": {"health": "unhealthy"},
            "virtual": {"vgpu": True},
            "nic": {"nic": True},
            "apart": {"islands": []},
        }
        groups.append(group | more.get(shape, {}))
        number += count
    used = draw(st.lists(st.integers(0, number - 1), unique=True, max_size=number))
    node: JSON = {"name": name, "pool": draw(st.sampled_from(["cut", "cut", "fixed"])), "devices": groups}
    node["state"] = draw(st.sampled_from(["active", "active", "active", "draining"]))
    if draw(st.booleans()):
        node["cpu_milli"] = draw(st.sampled_from([8000, 64000]))
    if draw(st.booleans()):
        node["power_budget_mw"] = draw(st.sampled_from([100_000, 700_000, 1_500_000]))
    if used:
        node["used"] = [{"owner": "x", "devices": used, "share_milli": draw(st.sampled_from([1000, 1000, 300]))}]
    return node


@st.composite
def _fleets(draw: st.DrawFn) -> JSON:
    nodes = [draw(_nodes(name)) for name in "bac"[: draw(st.integers(1, 3))]]
    pools = [{"name": "cut", "repartition": True}, {"name": "fixed"}]
    document: JSON = {"apiVersion": "hetero-ops/v1", "kind": "Fleet"}
    requests = draw(st.lists(st.sampled_from(MIX), unique=True, max_size=4))
    if requests:
        document["mix"] = [{"request": text, "weight": draw(st.integers(1, 4))} for text in requests]
    return document | {"clusters": [{"name": "here", "pools": pools, "nodes": nodes}]}


@settings(max_examples=settings().max_examples // 2)
@given(_fleets(), st.lists(st.sampled_from(ASKED), min_size=1, max_size=4), st.sampled_from(["aware", "classic"]))
def test_cuts_are_those_of_the_reference(document: JSON, asked: list[str], policy: str) -> None:
    fleet, reference = Fleet.from_document(document), read_fleet(document, CATALOG)
    stated = document.get("mix")
    mix = fragmentation.stated_mix(stated, CATALOG, ()) if stated else fragmentation.default_mix(reference, _BLANK)
    told = [(d["cluster"], d["node"], d["id"], tuple(d["layout"])) for d in fleet.suggest_partitions()["devices"]]
    assert told == cutting.suggested(reference, mix)
    for text in asked:  # each on what the ones before left
        requirement = Requirement.parse(text)
        choices = [compile_choice(choice, CATALOG, ()) for choice in requirement.choices]
        decision, answer = fleet.place(requirement, policy=policy), placing.place(reference, choices, mix, policy)
        assert_same_answer(decision, answer)
        if isinstance(decision, Placement):
            cut = decision.cut
            parts = None if cut is None else tuple((part.partition, part.id) for part in cut.parts)
            expected = answer.cut
            assert (None if cut is None else (cut.cluster, cut.node, cut.device, parts)) == (
                None if expected is None else (expected.cluster, expected.node, expected.device, expected.parts)
            )
            fleet.commit(decision)
            placing.take(reference, answer, choices[decision.choice_index])
            assert Fleet.from_json(fleet.to_json()).to_json() == fleet.to_json()


@given(_fleets(), st.lists(st.sampled_from(ASKED), min_size=1, max_size=6))
def test_a_cut_is_legal_and_of_an_idle_device_that_may_be_cut(document: JSON, asked: list[str]) -> None:
    fleet = Fleet.from_document(document)
    for text in asked:
        before = _devices(fleet)
        decision = fleet.place(text)
        if not isinstance(decision, Placement):
            continue
        hold = fleet.commit(decision)
        if (cut := decision.cut) is not None:
            device = before[cut.node, cut.device]
            assert is_legal(cut.sku, [(part.partition, part.start) for part in cut.parts])
            assert (device["pool"], device["state"], device["is_busy"]) == ("cut", "active", False)
            assert not device.keys() & {"partition", "vgpu", "health"}
            after = _devices(fleet)
            new = {(cut.node, part.id): part.partition for part in cut.parts}
            assert before.keys() - after.keys() == {(cut.node, cut.device)}
            assert {key: after[key]["partition"] for key in after.keys() - before.keys()} == new
            assert Counter(key for key in new if after[key]["is_busy"]).total() >= 1
            fleet.release(hold)
            assert not any(_devices(fleet)[key]["is_busy"] for key in new)
            again = fleet.place(
                text
            )  # what was given back serves it again, unless it is worth too much to others by now
            assert again.ok or "min_score" in text
            if isinstance(again, Placement):
                fleet.commit(again)


def _devices(fleet: Fleet) -> dict[tuple[str, int], dict[str, Any]]:
    """Every device by node and id, with what the snapshot says of it."""
    snapshot = json.loads(fleet.to_json())
    busy = {(hold["node"], device) for hold in snapshot["holds"] for device in hold["devices"]}
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for node in snapshot["document"]["clusters"][0]["nodes"]:
        in_use = {device for used in node.get("used", []) for device in used["devices"]}
        about = {"pool": node["pool"], "state": node.get("state", "active")}
        number = 0
        for group in node["devices"]:
            first = group.get("id", number)
            for device in range(first, first + group.get("count", 1)):
                is_busy = device in in_use or (node["name"], device) in busy
                found[node["name"], device] = {**group, **about, "is_busy": is_busy}
            number += group.get("count", 1)
    return found
