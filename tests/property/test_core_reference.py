import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import _BLANK, compile_choice
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from tests.reference import fragmentation, placing
from tests.reference.model import JSON, Answer
from tests.reference.model import Fleet as ReferenceFleet
from tests.reference.reader import read_fleet, read_readings
from tests.reference.strategies import FOREIGN_MODEL, fleets, is_foreign_model_in, readings, requirements

CATALOG = Catalog.builtin()


def assert_same_answer(decision: Placement | NoFit, answer: Answer) -> None:
    told = _told(decision)
    assert decision.verdict == answer.verdict
    expected = Counter((r.choice_index, r.code, r.node[1], r.have, r.want, r.is_permanent) for r in answer.reasons)
    assert expected == Counter(
        (r["choice_index"], r["code"], node, r["have"], r["want"], r["is_permanent"])
        for r in told["reasons"]
        for node in r["nodes"]
    )
    if isinstance(decision, NoFit):
        return
    assert answer.node is not None
    assert answer.score is not None
    assert decision.choice_index == answer.choice_index
    parts = answer.parts or ((answer.node[1], answer.devices),)
    assert decision.cluster == answer.node[0]
    assert decision.nodes == list(dict.fromkeys(node for node, _ in parts))
    granted = [(grant.node, grant.id) for grant in decision.devices]
    assert granted == [(node, device) for node, ids in parts for device in ids]
    assert abs(decision.score - float(answer.score)) <= 0.5e-4 + 1e-9  # shown with four decimals


def assert_same_fragmentation(fleet: Fleet, reference: ReferenceFleet, mix: fragmentation.Mix) -> None:
    report = fleet.fragmentation()
    assert abs(report["fragmentation_milli"] - float(fragmentation.total(reference, mix))) <= 0.005 + 1e-6
    assert report["free_milli"] == fragmentation.free_total(reference)


@pytest.mark.parametrize("policy", ["aware", "classic"])
@given(st.data())
def test_the_core_decides_as_the_reference_does(policy: str, data: st.DataObject) -> None:
    document = data.draw(fleets(), label="fleet")
    asked = data.draw(st.lists(requirements(document), min_size=1, max_size=3), label="asked")
    fleet, reference = Fleet.from_document(document), read_fleet(document, CATALOG)
    models = [FOREIGN_MODEL] if is_foreign_model_in(document) else []
    seen = data.draw(readings(reference), label="readings")
    fleet.observe(seen)
    read_readings(reference, seen)
    stated = document.get("mix")
    mix = fragmentation.stated_mix(stated, CATALOG, models) if stated else fragmentation.default_mix(reference, _BLANK)
    assert_same_fragmentation(fleet, reference, mix)

    for requirement in asked:  # each on what the ones before left
        choices = [compile_choice(choice, CATALOG, models) for choice in requirement.choices]
        team = requirement.team
        decision, answer = fleet.place(requirement, policy=policy), placing.place(reference, choices, mix, policy, team)
        assert_same_answer(decision, answer)
        if isinstance(decision, Placement):
            fleet.commit(decision)
            placing.take(reference, answer, choices[decision.choice_index], team)
            assert_same_fragmentation(fleet, reference, mix)


def assert_same_course(document: JSON, asked: Iterable[Requirement], policy: str) -> None:
    """Each requirement is decided alike, on what the ones before left; names are those of the catalog."""
    fleet, reference = Fleet.from_document(document), read_fleet(document, CATALOG)
    stated = document.get("mix")
    mix = fragmentation.stated_mix(stated, CATALOG, ()) if stated else fragmentation.default_mix(reference, _BLANK)
    for requirement in asked:
        choices = [compile_choice(choice, CATALOG, ()) for choice in requirement.choices]
        decision = fleet.place(requirement, policy=policy)
        answer = placing.place(reference, choices, mix, policy, requirement.team)
        assert_same_answer(decision, answer)
        if isinstance(decision, Placement):
            fleet.commit(decision)
            placing.take(reference, answer, choices[decision.choice_index], requirement.team)


def _told(decision: Placement | NoFit) -> dict[str, Any]:

    told: dict[str, Any] = json.loads(decision.to_json())
    return told
