import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import _BLANK, compile_choice
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.fleet import Fleet
from tests.property.test_gang_reference import gangs, racks, splits
from tests.property.test_groups_reference import choices as grouped
from tests.property.test_groups_reference import mixed
from tests.reference import fragmentation
from tests.reference.model import JSON
from tests.reference.reader import read_fleet
from tests.reference.strategies import FOREIGN_MODEL, fleets, is_foreign_model_in, requirements
from tests.reference.victims import Asker, least_loss

CATALOG = Catalog.builtin()
# Sets double with each party.
_MOST_PARTIES = 6
_CPU = st.sampled_from([{}, {"cpu_milli": 2000}])
MADE_AT = "2026-11-29T10:00:00Z"
_ENTRY = st.fixed_dictionaries(
    {"owner": st.sampled_from(["shared", *(f"o{number}" for number in range(6))])},
    optional={
        "gang": st.sampled_from(["g", "h"]),
        "checkpoint_age_s": st.sampled_from([0, 10, 10, 25, 60]),
        "checkpoint_s": st.sampled_from([5, 20, 40]),
        "restart_s": st.sampled_from([0, 15]),
        "since": st.sampled_from(["2026-11-29T09:59:50Z", "2026-11-29T11:59:00+02:00", "2026-11-29T10:00:01Z"]),
    },
)
_NOTICE = st.sampled_from([{}, {"notice_s": 20}])
_IS_IN_USE = st.sampled_from([True, True, True, False])
_MAY_END = st.fixed_dictionaries(
    {"preemptible": st.sampled_from([*[True] * 8, False]), "priority": st.sampled_from([0, 0, 0, 1, 2])}
)


@st.composite
def busy_fleets(draw: st.DrawFn) -> JSON:
    """Fleets with most devices in use, whose entries say whose they are, and mostly that they may end."""
    document = draw(fleets()) | {"generated": {"at": MADE_AT, "by": "test"}, "limits": []} | draw(_NOTICE)
    for node in (node for cluster in document["clusters"] for node in cluster["nodes"]):
        taken = {device for used in node["used"] for device in used["devices"]}
        idle = set(range(sum(group.get("count", 0) for group in node["devices"]))) - taken
        shared = draw(st.sampled_from([{}, {}, {"share_milli": 250}]))
        node["used"] += [{"devices": [device]} | shared for device in sorted(idle) if draw(_IS_IN_USE)]
        node["used"] = [
            {key: value for key, value in used.items() if key != "team"} | draw(_ENTRY) | draw(_MAY_END)
            for used in node["used"]
        ]
    return document


@st.composite
def busy_together(draw: st.DrawFn) -> tuple[JSON, Requirement]:
    """A fleet with few entries, which may end, and a step over several nodes of it or one with groups."""
    document = draw(racks() if draw(st.booleans()) else mixed()) | {"generated": {"at": MADE_AT, "by": "test"}}
    document |= draw(_NOTICE)
    document["limits"] = []
    written = [node for cluster in document["clusters"] for node in cluster["nodes"]]
    left = _MOST_PARTIES
    for node, read in zip(written, read_fleet(document, CATALOG).nodes, strict=True):
        ids = [device.id for device in read.devices]
        most, cut = draw(st.integers(0, min(2, left))), draw(st.integers(0, len(ids)))
        left -= most
        parts = [part for part in (ids[:cut], ids[cut:]) if part][:most]
        node["used"] = [{"devices": part} | draw(_ENTRY) | draw(_MAY_END) | draw(_CPU) for part in parts]
    is_grouped = "racks" not in document["clusters"][0] and draw(st.booleans())
    found = draw((grouped() if is_grouped else gangs()).map(lambda c: c.model_copy(update={"min_score": None})))
    return document, Requirement(choices=(found,), team="vision", priority=draw(st.integers(1, 3)))


def told_loss(victims: JSON | None) -> tuple[int, int, int, int] | None:
    """The loss of an answer, as the reference counts it."""
    if victims is None:
        return None
    lost: list[JSON] = victims["victims"]
    unknown = sum(len(one["devices"]) * one["share_milli"] for one in lost if one["lost_device_ms"] is None)
    held = [len(one["devices"]) * one["share_milli"] for one in lost]
    late = sum(one.get("can_save") is False and milli > 0 for one, milli in zip(lost, held, strict=True))
    return late, unknown, sum(one["lost_device_ms"] or 0 for one in lost), len(lost)


@given(st.data())
def test_no_set_of_parties_loses_less(data: st.DataObject) -> None:
    document = data.draw(busy_fleets(), label="fleet")
    requirement = data.draw(requirements(document), label="asked")
    priority = data.draw(st.integers(1, 3), label="priority")
    assume(all(choice.min_score is None for choice in requirement.choices))
    requirement = requirement.model_copy(update={"team": None, "priority": priority})
    fleet = Fleet.from_document(document)
    told: dict[str, Any] = json.loads(fleet.place(requirement).to_json())
    if told["verdict"] in {"placed", "degraded"}:
        return
    models = [FOREIGN_MODEL] if is_foreign_model_in(document) else []
    choices = [compile_choice(choice, CATALOG, models) for choice in requirement.choices]
    mix = fragmentation.default_mix(read_fleet(document, CATALOG), _BLANK)
    victims = told.get("victims")
    assert told_loss(victims) == least_loss(document, choices, Asker(priority), CATALOG, mix)
    if victims is not None:
        assert victims["is_least"]
        known = [one["lost_device_ms"] for one in victims["victims"]]
        assert victims["lost_device_ms"] == (None if None in known else sum(known))


@given(busy_together())
def test_no_set_of_parties_loses_less_for_several_nodes_or_groups(busy: tuple[JSON, Requirement]) -> None:
    document, requirement = busy
    assume(splits(requirement))
    fleet = Fleet.from_document(document)
    told: dict[str, Any] = json.loads(fleet.place(requirement).to_json())
    if told["verdict"] != "busy":
        return
    models = [FOREIGN_MODEL] if is_foreign_model_in(document) else []
    asked = [compile_choice(choice, CATALOG, models) for choice in requirement.choices]
    mix = fragmentation.default_mix(read_fleet(document, CATALOG), _BLANK)
    asker = Asker(requirement.priority or 0, "vision")
    assert told_loss(told.get("victims")) == least_loss(document, asked, asker, CATALOG, mix)
    if "victims" in told:
        assert told["victims"]["is_least"]
        ended = {(one["node"], one["owner"]) for one in told["victims"]["victims"]}
        for node in (node for cluster in document["clusters"] for node in cluster["nodes"]):
            node["used"] = [used for used in node["used"] if (node["name"], used["owner"]) not in ended]
        assert Fleet.from_document(document).place(requirement).verdict == "placed"


def test_a_share_counts_as_much_as_it_holds() -> None:
    used = {"owner": "x", "devices": [0, 1], "share_milli": 250, "preemptible": True, "priority": 0}
    node = {"name": "n", "devices": [{"sku": "L4", "count": 2}], "used": [used | {"checkpoint_age_s": 60}]}
    document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "c", "nodes": [node]}]}
    told = json.loads(Fleet.from_document(document).place({"choices": ["L4:2"], "priority": 1}).to_json())
    assert told["victims"]["lost_device_ms"] == 2 * 250 * 60
    assert told["victims"]["victims"][0]["counted_from"] == "checkpoint"
