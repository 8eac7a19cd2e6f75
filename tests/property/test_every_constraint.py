"""The core against the slow reference over everything that a step may ask and a fleet may state."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import _BLANK, compile_request
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from tests.property.test_core_reference import assert_same_answer, assert_same_fragmentation
from tests.property.test_victims_reference import told_loss
from tests.reference import clusters, fragmentation, placing
from tests.reference.case import Case, drawn
from tests.reference.deciding import decided, stated
from tests.reference.model import JSON
from tests.reference.reader import read_fleet, read_readings
from tests.reference.strategies import FOREIGN_MODEL, is_foreign_model_in
from tests.reference.victims import Asker, is_of_several, least_loss, parties_that_may_end

CATALOG = Catalog.builtin()
# What asks for nothing by itself, or is for the host to keep.
SAYS_NOTHING = {
    "accelerator_class accel",
    "isolation soft",
    "kind dev",
    "kind preprocess",
    "numa prefer",
    "share_mode any",
    "share_mode time-slice",
    "spread none",
}
# Sets of parties double with each entry of a node, and for steps over several nodes with each party of the fleet: above
# these the reference would take seconds.
_MOST_ENTRIES = 4
_MOST_PARTIES = 7
_OFTEN = 3


def agree(case: Case) -> None:
    """Asks both, each question on what the ones before left, and whom the last one would have to end."""
    fleet, reference = Fleet.from_document(case.document), read_fleet(case.document, CATALOG)
    fleet.observe(case.readings)
    fleet.set_spent(case.spent_milli(fleet))
    reference.spent = case.spent_of_limits()
    read_readings(reference, case.readings)
    rows = case.measured.rows if case.measured is not None else ()
    if case.measured is not None:
        fleet.use_measured(case.measured)
    models = [FOREIGN_MODEL] if is_foreign_model_in(case.document) else []
    stated = case.document.get("mix")
    mix = fragmentation.stated_mix(stated, CATALOG, models) if stated else fragmentation.default_mix(reference, _BLANK)
    assert_same_fragmentation(fleet, reference, mix)
    for asked in (*case.before, case.requirement):
        request = json.loads(compile_request(asked, CATALOG, models))
        choices: list[JSON] = clusters.with_checkpoint(reference, request["choices"], request.get("checkpoint"))
        decision = fleet.place(asked, policy=case.policy, weights=case.weights)
        answer = placing.place(
            reference, choices, mix, case.policy, asked.team, weights=case.weights, rows=rows, priority=asked.priority
        )
        assert_same_answer(decision, answer)
        if isinstance(decision, Placement):
            fleet.commit(decision)
            placing.take(reference, answer, choices[decision.choice_index], asked.team)
            assert_same_fragmentation(fleet, reference, mix)
        elif not case.before and asked.priority is not None and _is_few(case.document, choices, asked.priority):
            asker = Asker(
                asked.priority, asked.team, case.policy, case.readings, rows, case.weights, case.spent_of_limits()
            )
            assert_same_loss(decision, case.document, choices, asker, mix)


def assert_same_loss(
    decision: NoFit, document: JSON, choices: list[JSON], asker: Asker, mix: fragmentation.Mix
) -> None:
    told: dict[str, Any] = json.loads(decision.to_json())
    least = least_loss(document, choices, asker, CATALOG, mix) if decision.verdict == "busy" else None
    assert told_loss(told.get("victims")) == least


def _is_few(document: JSON, choices: list[JSON], priority: int) -> bool:
    if any(is_of_several(choice) for choice in choices) and parties_that_may_end(document, priority) > _MOST_PARTIES:
        return False
    return all(len(node.get("used", [])) <= _MOST_ENTRIES for each in document["clusters"] for node in each["nodes"])


@given(st.integers(0, 2**64 - 1))
def test_the_core_answers_as_the_reference_does(seed: int) -> None:
    agree(drawn(seed))


@pytest.mark.thorough
@pytest.mark.timeout(3600)
def test_ten_thousand_fleets_are_answered_as_the_reference_does() -> None:
    for seed in range(10_000):
        try:
            agree(drawn(seed))
        except AssertionError as error:
            error.add_note(f"of seed {seed}")
            raise


@pytest.mark.thorough
@pytest.mark.timeout(3600)
def test_everything_that_can_be_stated_decides_now_and_then() -> None:
    """What no answer hangs on is not compared, however often it is drawn."""
    seen: set[str] = set()
    changes: Counter[str] = Counter()
    for case in map(drawn, range(4000)):
        answer = decided(case)
        for what, without in stated(case):
            seen.add(what)
            if changes[what] < _OFTEN:
                changed = decided(without)
                changes[what] += changed is not None and changed != answer
    assert {what for what in seen if changes[what] < _OFTEN} == SAYS_NOTHING
