"""Victims that are warned: what can be saved within the notice is not lost, and who cannot save is not chosen first."""

import json
from typing import Any

import pytest

from hetero_ops.placement.decision import NoFit
from hetero_ops.placement.fleet import Fleet
from tests.placement import sample

JSON = dict[str, Any]
MINUTE = 60


def fleet(*entries: JSON, devices: int = 4, **fields: Any) -> Fleet:
    """A node for each entry, which has all its devices and may end."""
    whole = {"devices": list(range(devices)), "preemptible": True, "priority": 0}
    nodes = [sample.node(entry["owner"], f"{devices}xL4") | {"used": [whole | entry]} for entry in entries]
    return Fleet.from_document(sample.document(*nodes) | fields)


def victims(here: Fleet, request: str = "L4:4") -> JSON:
    decision = here.place({"choices": [request], "priority": 1})
    assert isinstance(decision, NoFit)
    told: JSON = json.loads(decision.to_json())["victims"]
    return told


def owners(told: JSON) -> list[str]:
    return [victim["owner"] for victim in told["victims"]]


def entry(owner: str, age_s: int | None = None, takes_s: int | None = None, restart_s: int | None = None) -> JSON:
    fields = {"checkpoint_age_s": age_s, "checkpoint_s": takes_s, "restart_s": restart_s}
    return {"owner": owner} | {key: value for key, value in fields.items() if value is not None}


def test_of_three_the_one_that_saved_last_ends() -> None:
    here = fleet(*(entry(f"m{minutes}", minutes * MINUTE) for minutes in (500, 5, 50)))
    told = victims(here)
    assert (owners(told), told["lost_device_ms"]) == (["m5"], 4 * 5 * MINUTE * 1000)


def test_starting_again_costs_as_well() -> None:
    here = fleet(entry("quick", 20 * MINUTE, restart_s=10), entry("slow", 5 * MINUTE, restart_s=30 * MINUTE))
    told = victims(here)
    assert (owners(told), told["lost_device_ms"]) == (["quick"], 4 * (20 * MINUTE + 10) * 1000)


def test_what_can_be_saved_within_the_notice_loses_the_time_for_that() -> None:
    here = fleet(entry("fresh", 5 * MINUTE), entry("saves", 500 * MINUTE, takes_s=40, restart_s=20), notice_s=60)
    told = victims(here)
    assert (owners(told), told["lost_device_ms"]) == (["saves"], 4 * 60 * 1000)
    assert (told["victims"][0]["can_save"], told["victims"][0]["counted_from"]) == (True, "notice")
    assert "240, its work can be saved within the notice" in here.place({"choices": ["L4:4"], "priority": 1}).why()


def test_saving_never_costs_more_than_not_saving() -> None:
    told = victims(fleet(entry("x", 30, takes_s=50), notice_s=60))
    assert (told["lost_device_ms"], told["victims"][0]["counted_from"]) == (4 * 30 * 1000, "checkpoint")


def test_what_is_saved_needs_no_known_age() -> None:
    assert victims(fleet(entry("x", takes_s=50), notice_s=60))["lost_device_ms"] == 4 * 50 * 1000
    assert victims(fleet(entry("x", takes_s=50)))["lost_device_ms"] is None


def test_whose_checkpoint_takes_longer_than_the_notice_ends_only_where_nobody_else_can() -> None:
    late, other = entry("late", 10, takes_s=90), entry("other", 500 * MINUTE)
    assert owners(victims(fleet(late, other, notice_s=60))) == ["other"]
    assert owners(victims(fleet(late, other, notice_s=90))) == ["late"]
    here = fleet(late, notice_s=60)
    told = victims(here)
    assert (owners(told), told["victims"][0]["can_save"]) == (["late"], False)
    assert "a checkpoint takes longer than the notice" in here.place({"choices": ["L4:4"], "priority": 1}).why()


def test_a_cluster_may_have_a_notice_of_its_own() -> None:
    node = sample.node("a", "4xL4") | {"used": [entry("x", 300, takes_s=90) | {"devices": [0, 1, 2, 3]}]}
    node["used"][0] |= {"preemptible": True, "priority": 0}
    document = sample.document(node, notice_s=60)
    document["clusters"][0]["notice_s"] = 120
    assert victims(Fleet.from_document(document))["victims"][0]["can_save"] is True


@pytest.mark.parametrize(("age_s", "ends"), [(39, ["single"]), (41, ["g0", "g1"])])
def test_a_gang_is_compared_whole_with_a_single_one(age_s: int, ends: list[str]) -> None:
    """Two entries of four devices that lose 20 s each, against one of four devices that loses as much or less."""
    of_gang = [entry(f"g{number}", 20) | {"gang": "g"} for number in range(2)]
    assert owners(victims(fleet(*of_gang, entry("single", age_s)))) == ends
