"""Steps over several nodes, and steps that are kept apart: the core against every set of nodes of small fleets."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice, Parallel
from hetero_ops.gap.requirement import Requirement
from tests.property.test_core_reference import assert_same_course
from tests.reference.model import JSON
from tests.reference.strategies import fleets

CATALOG = Catalog.builtin()
_LABELS = st.fixed_dictionaries(
    {},
    optional={
        "rack": st.sampled_from(["r1", "r2"]),
        "topology.kubernetes.io/zone": st.sampled_from(["a", "b"]),
        "power-domain": st.sampled_from(["p1", "p2"]),
    },
)
_RACKS = st.sampled_from(
    [{}, {}, *({"racks": [{"name": "r1", "power_budget_mw": mw}]} for mw in (1_500_000, 3_000_000))]
)
_PLAIN: list[JSON] = [
    {"sku": "H100-SXM5-80GB", "count": 4},
    {"sku": "H100-SXM5-80GB", "count": 4, "islands": [[0, 1], [2, 3]], "numa": [0, 0, 1, 1]},
    {"sku": "H100-SXM5-80GB", "count": 4, "nic": True, "memory_mib": 81559},
    {"sku": "L4", "count": 4, "switch": [0, 0, 1, 1], "nic": [True, True, False, None], "numa": 0},
    {"sku": "L4", "count": 2},
]


@st.composite
def racks(draw: st.DrawFn) -> JSON:
    """A fleet with places: now and then an odd one, else four to six open nodes."""
    if draw(st.integers(0, 3)) == 0:
        document = draw(fleets())
    else:
        nodes = [{"name": f"n{i}", "devices": [draw(st.sampled_from(_PLAIN))]} for i in range(draw(st.integers(4, 6)))]
        for node in nodes:
            in_use = draw(st.lists(st.integers(0, 1), max_size=2, unique=True))
            team = draw(st.sampled_from([{}, {}, {"team": "vision"}]))
            node["used"] = [{"owner": "someone", "devices": [device], **team} for device in in_use]
        split = draw(st.sampled_from([0, 0, 2]))
        clusters = [{"name": "east", "nodes": nodes[:split]}, {"name": "west", "nodes": nodes[split:]}]
        document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters}
    for cluster in document["clusters"]:
        cluster.update(draw(_RACKS))
        for node in cluster["nodes"]:
            node["labels"] = draw(_LABELS)
            node.setdefault("cpu_milli", draw(st.sampled_from([4000, 8000, 12000])))
            node.setdefault("memory_mib", 4096)
    return document


@st.composite
def gangs(draw: st.DrawFn) -> Choice:
    """A choice over one to three nodes, perhaps with tensor parallel groups, spread, a link or a least score."""
    nodes = draw(st.sampled_from([(2, 2), (1, 2), (3, 3), (2, 3), (1, 3), (1, 1)]))
    count, tensor_ranks = draw(st.sampled_from([(nodes[1], 1), (nodes[1] * 2, 1), (nodes[1] * 2, 2), (6, 1), (12, 2)]))
    fields: dict[str, Any] = {"accelerator_class": "gpu", "nodes": nodes, "count": count}
    fields["spread"] = draw(st.sampled_from([None, None, None, "node", "rack", "power", "none"]))
    fields["min_score"] = draw(st.sampled_from([None, None, None, 60, 75]))
    if tensor_ranks > 1:
        fields["parallel"] = Parallel(tp=tensor_ranks, dp=count // tensor_ranks)
    elif draw(st.integers(0, 3)) == 0:
        fields["count_ceiling"] = count + draw(st.integers(1, 3))
    if draw(st.integers(0, 3)) == 0:
        fields["link"] = "fabric"
    if draw(st.integers(0, 3)) == 0:
        fields["numa"] = "require"
    if draw(st.integers(0, 3)) == 0:
        fields["nic"] = draw(st.sampled_from(["same-root", "prefer", "prefer"]))
    if draw(st.integers(0, 3)) == 0:
        fields["cost_ceiling_milli"] = 4200
    return Choice(**{field: value for field, value in fields.items() if value is not None})


_OF_CORES = st.builds(
    lambda nodes, each, memory, spread: Choice(
        accelerator_class="cpu", nodes=nodes, count=nodes[1] * each, memory_floor_mib=memory, spread=spread
    ),
    st.sampled_from([(2, 2), (1, 2), (3, 3), (2, 4), (1, 3)]),
    st.sampled_from([1, 4, 6]),
    st.sampled_from([None, 1024]),
    st.sampled_from([None, None, "node", "rack"]),
)
_OF_WORK = st.builds(
    lambda nodes, units, spread, least: Choice(
        accelerator_class="gpu", nodes=nodes, units_milli=units, spread=spread, min_score=least
    ),
    st.sampled_from([(2, 2), (1, 2), (3, 3), (2, 4), (1, 3)]),
    st.sampled_from([200, 1000, 2500, 3500]),
    st.sampled_from([None, None, "node", "rack"]),
    st.sampled_from([None, None, 70, 85]),
)
REQUIREMENTS = st.builds(
    lambda found, team: Requirement(choices=tuple(found), team=team),
    st.lists(st.one_of(gangs(), gangs(), gangs(), _OF_CORES, _OF_WORK), min_size=1, max_size=2),
    st.sampled_from(["vision", "vision", "speech"]),
)


def splits(requirement: Requirement) -> bool:
    """Whether the devices of every choice split over some of its nodes."""
    return all(
        choice.units_milli is not None or count % (nodes * (choice.parallel.tp if choice.parallel else 1)) == 0
        for choice in requirement.choices
        for nodes, count in [(choice.nodes[1] if choice.nodes else 1, choice.count)]
    )


@pytest.mark.parametrize("policy", ["aware", "classic"])
@given(st.data())
def test_the_core_places_steps_over_several_nodes_as_the_reference_does(policy: str, data: st.DataObject) -> None:
    document = data.draw(racks(), label="fleet")
    asked = data.draw(st.lists(REQUIREMENTS.filter(splits), min_size=1, max_size=3), label="asked")
    assert_same_course(document, asked, policy)
