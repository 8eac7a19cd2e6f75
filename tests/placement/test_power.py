"""Power of nodes and racks as a bound and as a term, by estimate and by readings."""

import json
import pickle
from typing import Any

import pytest

from hetero_ops import Fleet, InvalidDocument, NoFit, Placement, Reading
from tests.placement.sample import H100, JSON, node

KW = 1_000_000
TDP = 700_000


def fleet(*nodes: JSON, racks: list[JSON] | None = None) -> Fleet:
    cluster: JSON = {"name": "west", "nodes": list(nodes), **({"racks": racks} if racks else {})}
    return Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [cluster]})


def refused(decision: Placement | NoFit, code: str = "POWER_BUDGET") -> JSON:
    assert isinstance(decision, NoFit), decision.why()
    reasons: list[JSON] = json.loads(decision.to_json())["reasons"]
    (found,) = [reason for reason in reasons if reason["code"] == code]
    return found


def power(decision: Placement | NoFit) -> JSON:
    assert isinstance(decision, Placement), decision.why()
    terms: list[JSON] = json.loads(decision.to_json())["terms"]
    (found,) = [term for term in terms if term["name"] == "power"]
    return found


def test_a_step_stays_inside_the_budget_of_its_node() -> None:
    tight = fleet(node("a", f"8x{H100}", used=(0, 1), power_budget_mw=4 * TDP))
    assert tight.place("H100:2").ok
    now = refused(tight.place("H100:3"))
    assert (now["have"], now["want"], now["unit"], now["is_permanent"]) == (5 * TDP, 4 * TDP, "mW", False)
    ever = refused(tight.place("H100:5"))
    assert (ever["have"], ever["is_permanent"]) == (5 * TDP, True)
    assert tight.place("H100:3").verdict == "busy"
    assert tight.place("H100:5").verdict == "impossible"


def test_a_step_stays_inside_the_budget_of_its_rack() -> None:
    row = [node(name, f"8x{H100}", labels={"rack": rack}) for name, rack in (("a", "r1"), ("b", "r1"), ("c", "r2"))]
    racks = [{"name": "r1", "power_budget_mw": 10 * TDP}, {"name": "unused", "power_budget_mw": 1}]
    racked = fleet(*row, racks=racks)
    first = racked.place("H100:8 label=rack:r1")
    assert isinstance(first, Placement)
    hold = racked.commit(first)
    assert racked.place("H100:2 label=rack:r1").ok
    assert refused(racked.place("H100:3 label=rack:r1"))["have"] == 11 * TDP
    assert racked.place("H100:8").nodes == ["c"]  # which has no budget
    racked.release(hold)
    assert racked.place("H100:8 label=rack:r1") == first


def test_a_budget_of_a_rack_is_the_same_whatever_the_order_of_nodes() -> None:
    row = [node(name, f"4x{H100}", labels={"rack": "r1"}) for name in "abc"]
    racks = [{"name": "r1", "power_budget_mw": 6 * TDP}]
    assert fleet(*row, racks=racks).place("H100:4") == fleet(*reversed(row), racks=racks).place("H100:4")


def test_a_share_of_a_device_in_use_adds_nothing() -> None:
    half = {"owner": "x", "devices": [0], "share_milli": 500}
    tight = fleet(node("a", f"2x{H100}", power_budget_mw=TDP) | {"used": [half]})
    assert [grant.id for grant in tight.place("H100:0.5").devices] == [0]
    assert refused(tight.place("H100:0.6"))["have"] == 2 * TDP


def test_a_step_that_may_be_capped_is_taken_and_scored_down() -> None:
    tight = fleet(node("a", f"2x{H100}", power_budget_mw=TDP))
    asked = {"models": ["H100"], "count": 2}
    decision = refused(tight.place(asked))
    assert decision["is_permanent"]
    changes = json.loads(tight.place(asked).to_json())["nearest"]["changes"]
    assert "H100: let its power be capped (power: {cap_ok: true})" in [change["text"] for change in changes]
    assert power(tight.place(asked | {"power": {"cap_ok": True}}))["value"] == 0


@pytest.mark.parametrize(
    ("budget_w", "value", "why"),
    [
        (1400, 0.0, "devices draw up to 1400 of 1400 W, estimated by TDP"),
        (1750, 1.0, "devices draw up to 1400 of 1750 W, estimated by TDP"),
        (1600, 0.625, "devices draw up to 1400 of 1600 W, estimated by TDP"),
        (None, 1.0, "not judged: no power budget is stated"),
    ],
)
def test_the_term_falls_from_four_fifths_of_the_budget(budget_w: int | None, value: float, why: str) -> None:
    budget = {} if budget_w is None else {"power_budget_mw": budget_w * 1000}
    term = power(fleet(node("a", f"8x{H100}", used=(0,), **budget)).place("H100:1"))
    assert (term["value"], term["why"]) == (value, why)


def test_of_two_places_the_one_with_headroom_is_taken() -> None:
    row = [node(name, f"8x{H100}", used=(0,), labels={"rack": rack}) for name, rack in (("a", "r1"), ("b", "r2"))]
    racks = [{"name": "r1", "power_budget_mw": 3 * TDP}, {"name": "r2", "power_budget_mw": 9 * TDP}]
    two = fleet(*row, racks=racks)
    assert two.place("H100:2").nodes == ["b"]
    only_a = power(two.place("H100:2 label=rack:r1"))
    assert (only_a["value"], only_a["why"]) == (0, "rack r1: devices draw up to 2100 of 2100 W, estimated by TDP")


def test_a_reading_replaces_the_estimate_until_a_step_comes_or_goes() -> None:
    tight = fleet(node("a", f"8x{H100}", used=(0, 1), power_budget_mw=4 * TDP))
    assert not tight.place("H100:3").ok
    before = tight.place("H100:1")
    tight.observe([Reading(node="a", device=id_, power_mw=200_000, source="nvml") for id_ in (0, 1)])
    found = tight.place("H100:3")
    assert power(found)["why"] == "devices draw up to 2500 of 2800 W, 2 of 2 in use by readings, else TDP"
    assert found.trace_id != tight.place("H100:1").trace_id
    assert isinstance(found, Placement)
    hold = tight.commit(found)
    assert refused(tight.place("H100:1"))["have"] == 3_200_000
    tight.release(hold)
    assert tight.place("H100:3") == found
    tight.observe([Reading(node="a", device=id_, power_mw=None) for id_ in (0, 1)])  # not known any more
    assert power(tight.place("H100:1"))["value"] == power(before)["value"]


def test_an_idle_device_draws_what_was_read() -> None:
    tight = fleet(node("a", f"2x{H100}", power_budget_mw=TDP + 50_000))
    tight.observe([Reading(node="a", device=1, power_mw=60_000)])
    assert refused(tight.place("H100:1"))["have"] == TDP + 60_000


def test_of_two_devices_in_use_the_one_that_adds_less_has_the_share() -> None:
    shared = [{"owner": "x", "devices": [id_], "share_milli": 300} for id_ in (0, 1)]
    entry = node("a", f"2x{H100}", power_budget_mw=TDP + 100_000)
    tight = fleet(entry | {"used": shared})
    tight.observe([Reading(node="a", device=0, power_mw=50_000)])  # up to its TDP it may add what is not there
    found = tight.place("H100:0.3")
    assert isinstance(found, Placement), found.why()
    assert [grant.id for grant in found.devices] == [1]  # counts with its TDP already


def test_what_is_not_known_refuses_nobody() -> None:
    strange = {"sku": "unknown", "class": "gpu", "model": "G9", "count": 2}
    odd = fleet(node("a", strange, used=(0,), power_budget_mw=1))
    assert power(odd.place("gpu:1"))["why"] == "not judged: the TDP of a device is unknown"


def test_readings_are_kept_and_travel() -> None:
    one = fleet(node("a", f"2x{H100}", power_budget_mw=KW))
    read = Reading(node="a", device=1, at="2026-11-29T10:00:00Z", power_mw=90_000, temperature_c=41, memory_used_mib=3)
    one.observe([read])
    (kept,) = one.readings()
    assert (kept.cluster, kept.power_mw, kept.temperature_c, kept.utilization_milli) == ("west", 90_000, 41, None)
    again: Fleet = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own
    assert again.readings() == [kept]
    assert again.place("H100:1") == one.place("H100:1")


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"node": "z", "device": 0}, 'no node "z"'),
        ({"node": "a", "device": 9}, "a has no device 9"),
        ({"node": "a", "device": 0, "power_mw": -1}, "invalid value"),
        ({"node": "a", "device": 0, "utilization_milli": 1001}, "0 to 1000"),
    ],
)
def test_a_wrong_reading_changes_nothing(reading: dict[str, Any], message: str) -> None:
    one = fleet(node("a", f"2x{H100}", power_budget_mw=KW))
    before = one.place("H100:1")
    with pytest.raises(InvalidDocument, match=message):
        one.observe([Reading(node="a", device=1, power_mw=1), Reading(**reading)])
    assert one.place("H100:1") == before


def test_a_rack_named_twice_is_refused() -> None:
    racks = [{"name": "r1", "power_budget_mw": 1}, {"name": "r1", "power_budget_mw": 2}]
    with pytest.raises(InvalidDocument, match="named twice"):
        fleet(node("a", f"1x{H100}"), racks=racks)
