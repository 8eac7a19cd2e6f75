"""Shares that say what they are bound by: the core against every card of small fleets of like nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.decision import Placement
from hetero_ops.placement.fleet import Fleet
from tests.property.test_core_reference import assert_same_course
from tests.reference.model import JSON

CATALOG = Catalog.builtin()
_BOUND = st.sampled_from([None, "compute", "compute", "memory", "memory"])
_MILLI = st.sampled_from([250, 250, 500])
_POOL = st.sampled_from([{}, {}, {"oversubscribe": 1.3, "memory_guard": 0.9}])
_GROUP = st.sampled_from([{"sku": "L4", "count": 3}, {"sku": "L4", "count": 3, "numa": [0, 1, 1]}])


@st.composite
def like_nodes(draw: st.DrawFn) -> JSON:
    """One to three nodes of the same cards, with up to two shares on each card."""
    group, used = draw(_GROUP), st.lists(st.tuples(_MILLI, _BOUND), max_size=2)
    nodes = []
    for name in draw(st.permutations(["a", "b", "c"]))[: draw(st.integers(1, 3))]:
        shares = [(device, *share) for device in range(group["count"]) for share in draw(used)]
        uses = [
            {"owner": "someone", "devices": [device], "share_milli": milli} | ({"bound": bound} if bound else {})
            for device, milli, bound in shares
        ]
        nodes.append({"name": name, "pool": "serve", "devices": [group], "used": uses})
    cluster = {"name": "west", "pools": [{"name": "serve", "price": {}, **draw(_POOL)}], "nodes": nodes}
    return {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [cluster]}


_SIZE = st.sampled_from([{"share_milli": 250}, {"share_milli": 250}, {"share_milli": 500}, {"share_memory_mib": 6144}])
_SHARES = st.builds(lambda size, bound: Choice(accelerator_class="gpu", bound=bound, **size), _SIZE, _BOUND)


@pytest.mark.parametrize("policy", ["aware", "classic"])
@given(like_nodes(), st.lists(_SHARES, min_size=1, max_size=6))
def test_of_equal_cards_the_one_with_less_of_its_own_kind_is_taken(
    policy: str, document: JSON, asked: list[Choice]
) -> None:
    assert_same_course(document, [Requirement(choices=(choice,)) for choice in asked], policy)


@given(like_nodes(), st.lists(_SHARES, min_size=1, max_size=6), st.data())
def test_what_is_released_leaves_no_trace(document: JSON, asked: list[Choice], data: st.DataObject) -> None:
    fleet, questions = Fleet.from_document(document), [Requirement(choices=(choice,)) for choice in asked]
    before = [fleet.place(question).to_json() for question in questions]
    held = []
    for question in questions:
        decision = fleet.place(question)
        held += [fleet.commit(decision)] if isinstance(decision, Placement) else []
    for hold in data.draw(st.permutations(held)):
        fleet.release(hold)
    assert [fleet.place(question).to_json() for question in questions] == before
