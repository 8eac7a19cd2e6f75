import json
import pickle
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.errors import (
    HeteroOpsError,
    InvalidDocument,
    InvalidRequirement,
    StalePlacement,
    UnknownDevice,
    UnknownHold,
)
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.decision import Decision, NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from tests.reference.model import JSON, WHOLE
from tests.reference.strategies import fleets, requirements

DATA = st.data()


def draw_case(data: st.DataObject) -> tuple[JSON, Fleet, list[Requirement]]:
    document = data.draw(fleets(), label="fleet")
    asked = data.draw(st.lists(requirements(document), min_size=1, max_size=4), label="asked")
    return document, Fleet.from_document(document), asked


def snapshot(fleet: Fleet) -> JSON:
    """The state but for the counter of holds."""
    state: JSON = json.loads(fleet.to_json())
    return {key: value for key, value in state.items() if key != "next_hold"}


def told(decision: Decision) -> JSON:
    answer: JSON = json.loads(decision.to_json())
    return answer


def one_by_one(group: JSON, ids: Sequence[int]) -> list[JSON]:
    """The same devices, each with its id; a group that states islands has to stay together."""
    rest = {key: value for key, value in group.items() if key not in {"count", "id", "numa", "nic"}}

    def each(key: str) -> list[JSON]:
        values = group.get(key)
        values = values if isinstance(values, list) else [values] * len(ids)
        return [{} if value is None else {key: value} for value in values]

    return [rest | {"id": i} | numa | nic for i, numa, nic in zip(ids, each("numa"), each("nic"), strict=True)]


def with_explicit_ids(node: JSON) -> list[JSON]:
    devices: list[JSON] = []
    for group in node["devices"]:
        first = group.get("id", len(devices))
        devices += one_by_one(
            {k: v for k, v in group.items() if k != "islands"}, range(first, first + group.get("count", 1))
        )
    return devices


@given(DATA)
def test_no_order_in_the_document_changes_an_answer(data: st.DataObject) -> None:
    document = data.draw(fleets(), label="fleet")
    for cluster in document["clusters"]:
        for node in cluster["nodes"]:
            node["devices"] = with_explicit_ids(node)
    shuffled = document | {"clusters": data.draw(st.permutations(document["clusters"]))}
    shuffled["clusters"] = [
        cluster
        | {
            "nodes": [
                node
                | {
                    "devices": data.draw(st.permutations(node["devices"])),
                    "used": data.draw(st.permutations(node["used"])),
                }
                for node in data.draw(st.permutations(cluster["nodes"]))
            ]
        }
        for cluster in shuffled["clusters"]
    ]
    one, other = Fleet.from_document(document), Fleet.from_document(shuffled)
    assert one.fragmentation() == other.fragmentation()
    for requirement in data.draw(st.lists(requirements(document), min_size=1, max_size=3), label="asked"):
        decision = one.place(requirement)
        assert decision.to_json() == other.place(requirement).to_json()
        assert one.explain(requirement) == other.explain(requirement)
        if isinstance(decision, Placement):
            one.commit(decision)
            other.commit(decision)


@given(DATA)
def test_release_undoes_commit(data: st.DataObject) -> None:
    _, fleet, asked = draw_case(data)
    before, fragmentation = snapshot(fleet), fleet.fragmentation()
    answers = [fleet.place(requirement).to_json() for requirement in asked]
    holds = [fleet.commit(decision) for r in asked if isinstance(decision := fleet.place(r), Placement)]
    for hold in data.draw(st.permutations(holds)):
        fleet.release(hold)
    assert snapshot(fleet) == before
    assert fleet.fragmentation() == fragmentation
    assert [fleet.place(requirement).to_json() for requirement in asked] == answers
    for hold in holds:
        with pytest.raises(UnknownHold):
            fleet.release(hold)


@given(DATA)
def test_nothing_is_ever_given_twice(data: st.DataObject) -> None:
    document, fleet, asked = draw_case(data)
    taken: Counter[tuple[str, int]] = Counter()
    cpu: Counter[str] = Counter()
    for cluster in document["clusters"]:
        for node in cluster["nodes"]:
            for used in node["used"]:
                taken.update({(node["name"], i): used.get("share_milli", WHOLE) for i in used["devices"]})
                cpu[node["name"]] += used.get("cpu_milli", 0)
    start = taken.copy()
    capacity = {n["name"]: n.get("cpu_milli") for c in document["clusters"] for n in c["nodes"]}
    held: dict[int, Placement] = {}
    for _ in range(data.draw(st.integers(1, 12), label="steps")):
        if held and data.draw(st.integers(0, 3)) == 3:
            hold = data.draw(st.sampled_from(sorted(held)))
            fleet.release(hold)
            decision, sign = held.pop(hold), -1
        else:
            answer = fleet.place(data.draw(st.sampled_from(asked)))
            if not isinstance(answer, Placement):
                continue
            held[fleet.commit(answer)] = answer
            decision, sign = answer, 1
        taken.update({(grant.node, grant.id): sign * grant.share_milli for grant in decision.devices})
        cpu[decision.nodes[0]] += sign * decision.cpu_milli
        assert all(0 <= share <= WHOLE for share in taken.values())
        for placement in held.values():
            if placement.cpu_milli:
                limit = capacity[placement.nodes[0]]
                assert limit is not None
                assert cpu[placement.nodes[0]] <= limit
        again = pickle.loads(pickle.dumps(fleet))  # noqa: S301 - made here
        assert again.to_json() == fleet.to_json()
        assert again.fragmentation() == fleet.fragmentation()
        assert again.place(asked[0]).to_json() == fleet.place(asked[0]).to_json()
    for hold in held:
        fleet.release(hold)
    assert +start == start


@pytest.mark.parametrize("policy", ["aware", "classic"])
@given(DATA)
def test_a_score_is_the_sum_of_its_points(policy: str, data: st.DataObject) -> None:
    _, fleet, asked = draw_case(data)
    for requirement in asked:
        for choice in fleet.explain(requirement, policy=policy)["choices"]:
            for candidate in choice["candidates"]:
                terms = candidate["terms"]
                assert all(0 <= term["value"] <= 1 for term in terms)
                assert all(abs(t["value"] * t["weight"] - t["points"]) < 0.02 for t in terms)
                assert sum(term["weight"] for term in terms) == pytest.approx(100, abs=1e-3)
                points = sum(part["points"] for part in [*terms, *candidate["penalties"]])
                assert min(max(points, 0), 100) == pytest.approx(candidate["score"], abs=3e-4)
                assert 0 <= candidate["score"] <= 100
                names = [term["name"] for term in terms]
                assert ("topology" in names) == (len(candidate["devices"]) > 1)


@given(DATA)
def test_a_placement_is_taken_once(data: st.DataObject) -> None:
    _, fleet, asked = draw_case(data)
    for requirement in asked:
        decision = fleet.place(requirement)
        if isinstance(decision, Placement) and decision.devices:
            hold = fleet.commit(decision)
            before = fleet.to_json()
            with pytest.raises(StalePlacement):
                fleet.commit(decision)
            assert fleet.to_json() == before
            fleet.release(hold)
            fleet.commit(decision)


@given(DATA)
def test_decisions_survive_json_and_pickle(data: st.DataObject) -> None:
    _, fleet, asked = draw_case(data)
    for requirement in asked:
        decision = fleet.place(requirement, key="someone")
        for again in (Decision.from_json(decision.to_json()), pickle.loads(pickle.dumps(decision))):  # noqa: S301
            assert type(again) is type(decision)
            assert again == decision
            assert hash(again) == hash(decision)
            assert again.to_json() == decision.to_json()
            assert again.why() == decision.why()
        assert decision != fleet.place(requirement, key="someone else")


@pytest.mark.parametrize(
    "error",
    [
        HeteroOpsError("a"),
        InvalidRequirement("a"),
        UnknownDevice("a"),
        UnknownHold("a"),
        StalePlacement("a"),
        InvalidDocument("a", "clusters[0]", 3),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickle(error: HeteroOpsError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)


@given(DATA)
def test_every_offered_change_makes_it_fit(data: st.DataObject) -> None:
    _, fleet, asked = draw_case(data)
    for requirement in asked:
        decision = fleet.place(requirement)
        if isinstance(decision, NoFit):
            for change in (told(decision)["nearest"] or {"changes": []})["changes"]:
                changed = fleet.place(apply(requirement, change))
                assert isinstance(changed, Placement), (change, changed.why())
                assert changed.choice_index == change["choice_index"]
        else:
            fleet.commit(decision)


def apply(requirement: Requirement, change: dict[str, Any]) -> Requirement:
    choices = list(requirement.choices)
    index, clause, to = change["choice_index"], change["clause"], change["to"]
    dropped = ("clusters", "regions", "compliance", "data", "labels") if clause == "place" else (clause,)
    blank = {field: Choice.model_fields[field].default for field in dropped}
    new = bool(to) if clause == "may_cap_power" else to
    choices[index] = choices[index].model_copy(update=blank if to is None else {clause: new})
    return requirement.model_copy(update={"choices": tuple(choices)})


@given(DATA)
def test_an_explanation_adds_up(data: st.DataObject) -> None:
    document, fleet, asked = draw_case(data)
    number_of_nodes = sum(len(cluster["nodes"]) for cluster in document["clusters"])
    for requirement in asked:
        decision, explanation = fleet.place(requirement), fleet.explain(requirement)
        assert explanation["decision"] == told(decision)
        for choice in explanation["choices"]:
            stages, reasons = choice["stages"], choice["reasons"]
            refused = [node for reason in reasons for node in reason["nodes"]]
            never = [node for reason in reasons if reason["is_permanent"] for node in reason["nodes"]]
            assert stages["nodes"] == number_of_nodes == len(choice["candidates"]) + len(refused)
            assert stages["possible"] == number_of_nodes - len(never)
            assert stages["candidates"] == len(choice["candidates"])
            tried = [standing["cluster"] for standing in choice.get("clusters", [])]  # none: all are one pool
            order = [(tried.index(c["cluster"]) if tried else 0, -c["score"]) for c in choice["candidates"]]
            assert order == sorted(order)
        least = [choice.min_score or 0 for choice in requirement.choices]
        best_scores = [max((c["score"] for c in choice["candidates"]), default=-1) for choice in explanation["choices"]]
        fitting = [i for i, best_score in enumerate(best_scores) if best_score >= least[i]]
        if isinstance(decision, Placement):
            assert decision.choice_index == fitting[0]
            candidates = explanation["choices"][fitting[0]]["candidates"]
            best = next(c for c in candidates if c["score"] >= least[fitting[0]])
            devices = [grant.id for grant in decision.devices]
            assert (best["cluster"], [best["node"]], best["devices"]) == (decision.cluster, decision.nodes, devices)
            assert (best["score"], best["terms"]) == (decision.score, told(decision)["terms"])
            fleet.commit(decision)
        else:
            assert not fitting
