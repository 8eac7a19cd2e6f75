"""Steps that prefer devices near a network card: the core against every set of devices of small like nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.requirement import Requirement
from tests.property.test_core_reference import assert_same_course
from tests.reference.model import JSON

CATALOG = Catalog.builtin()
_NIC = st.lists(st.sampled_from([None, True, False]), min_size=3, max_size=3)
_IN_USE = st.lists(st.integers(0, 2), max_size=1)


@st.composite
def like_nodes(draw: st.DrawFn) -> JSON:
    """Two to four nodes of three cards each, some near a network card, some in use."""
    nodes = [
        {
            "name": name,
            "devices": [{"sku": "L4", "count": 3, "nic": draw(_NIC)}],
            "used": [{"owner": "someone", "devices": [device]} for device in draw(_IN_USE)],
        }
        for name in draw(st.permutations("abcd"))[: draw(st.integers(2, 4))]
    ]
    return {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "west", "nodes": nodes}]}


_AMOUNT = st.sampled_from(
    [{"count": 1}, {"count": 2}, {"count": 2, "nodes": (2, 2)}, {"count": 4, "nodes": (2, 2)}, {"share_milli": 500}]
)
_WORD = st.sampled_from(["prefer", "prefer", "prefer", None, "same-root"])
_STEPS = st.builds(lambda amount, nic: Choice(accelerator_class="gpu", nic=nic, **amount), _AMOUNT, _WORD)


@pytest.mark.parametrize("policy", ["aware", "classic"])
@given(like_nodes(), st.lists(_STEPS, min_size=1, max_size=4))
def test_of_equal_devices_those_near_a_network_card_are_taken(policy: str, document: JSON, asked: list[Choice]) -> None:
    assert_same_course(document, [Requirement(choices=(choice,)) for choice in asked], policy)
