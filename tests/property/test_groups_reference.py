"""Steps with groups: the core against every way to serve all groups of small fleets."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.requirement import Requirement
from tests.property.test_core_reference import assert_same_course
from tests.reference.model import JSON
from tests.reference.strategies import fleets

CATALOG = Catalog.builtin()
GIB = 1024
_LABELS = st.fixed_dictionaries(
    {}, optional={"rack": st.sampled_from(["r1", "r2"]), "switch": st.sampled_from(["s1", "s2"])}
)
_DEVICES: list[JSON] = [
    {"sku": "H100-SXM5-80GB", "count": 3, "numa": [0, 0, 1]},
    {"sku": "Gaudi3-HL-325L", "count": 3, "numa": [0, 1, 1]},
    {"sku": "L4", "count": 2, "switch": 0, "numa": 0},
    {"sku": "Ascend-910B3", "count": 2},
]
_HOSTS = st.fixed_dictionaries(
    {
        "cpu_milli": st.sampled_from([4000, 16000, 64000]),
        "memory_mib": st.sampled_from([None, 64 * GIB]),
        "pool": st.just("train"),
    },
    optional={"power_budget_mw": st.sampled_from([1_000_000, 2_000_000]), "rdma": st.just(["roce"])},
)
_PRICES = {"H100-SXM5-80GB": 2.1, "L4": 0.5, "Gaudi3-HL-325L": 1.5, "Ascend-910B3": 1.0}


@st.composite
def mixed(draw: st.DrawFn) -> JSON:
    """A fleet of nodes with devices of several kinds, on switches and in racks; now and then an odd one."""
    if draw(st.integers(0, 4)) == 0:
        document = draw(fleets())
    else:
        kinds = st.lists(st.sampled_from(_DEVICES), min_size=1, max_size=3, unique_by=lambda kind: kind["sku"])
        nodes = [{"name": f"n{i}", "devices": draw(kinds), **draw(_HOSTS)} for i in range(draw(st.integers(2, 4)))]
        for node in nodes:
            in_use = draw(st.lists(st.integers(0, 1), max_size=2, unique=True))
            team = draw(st.sampled_from([{}, {}, {"team": "vision"}]))
            node["used"] = [{"owner": "someone", "devices": [device], **team} for device in in_use]
        pools = [{"name": "train", "price": _PRICES}]
        document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet"}
        document |= {"clusters": [{"name": "west", "nodes": nodes, "pools": pools}]}
        document["limits"] = draw(
            st.sampled_from([[], [], [{"team": "vision", "per": "class", "name": "gpu", "devices": 2}]])
        )
    for cluster in document["clusters"]:
        for node in cluster["nodes"]:
            node["labels"] = draw(_LABELS)
    return document


_MODELS = st.sampled_from(["H100", "Gaudi3", "L4", "Ascend-910B3"])
_GROUP = st.one_of(
    st.builds(lambda name, count: Choice(name, count=count), _MODELS, st.integers(1, 2)),
    st.builds(
        lambda share, bound: Choice(accelerator_class="gpu", share_milli=share, bound=bound),
        st.sampled_from([250, 500]),
        st.sampled_from([None, "compute", "memory"]),
    ),
    st.builds(lambda mib: Choice(accelerator_class="gpu", share_memory_mib=mib), st.sampled_from([5 * GIB, 30 * GIB])),
    st.builds(
        lambda cores, mib: Choice(accelerator_class="cpu", count=cores, memory_floor_mib=mib),
        st.sampled_from([2, 12]),
        st.sampled_from([None, 40 * GIB]),
    ),
    st.just(Choice(accelerator_class="gpu", count=2, link="fabric")),
)


@st.composite
def choices(draw: st.DrawFn) -> Choice:
    """A choice with one or two groups, near or further apart, perhaps with ceilings or a least score."""
    fields: dict[str, Any] = {"names": Choice(draw(_MODELS)).names, "count": draw(st.integers(1, 2))}
    fields["groups"] = tuple(draw(st.lists(_GROUP, min_size=1, max_size=2)))
    fields["nearness"] = draw(st.sampled_from([None, "node", "switch", "rack", "rack"]))
    fields["affinity_weight"] = draw(st.sampled_from([None, None, 1, 5]))
    fields["min_score"] = draw(st.sampled_from([None, None, None, 80, 87]))
    fields["power_ceiling_mw"] = draw(st.sampled_from([None, None, 1_000_000, 1_500_000]))
    fields["cost_ceiling_milli"] = draw(st.sampled_from([None, None, 3000, 4500]))
    fields["rdma"] = draw(st.sampled_from([None, None, None, "rdma"]))
    fields["may_cap_power"] = draw(st.sampled_from([False, False, True]))
    return Choice(**{field: value for field, value in fields.items() if value is not None})


REQUIREMENTS = st.builds(
    lambda found, team: Requirement(choices=tuple(found), team=team),
    st.lists(choices(), min_size=1, max_size=2),
    st.sampled_from([None, "vision"]),
)


@pytest.mark.parametrize("policy", ["aware", "classic"])
@given(st.data())
def test_the_core_places_groups_as_the_reference_does(policy: str, data: st.DataObject) -> None:
    document = data.draw(mixed(), label="fleet")
    asked = data.draw(st.lists(REQUIREMENTS, min_size=1, max_size=3), label="asked")
    assert_same_course(document, asked, policy)
