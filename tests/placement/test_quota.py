"""Quotas of teams: counted at every level of a device's path, and the violated level is named."""

import json
from typing import Any

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from tests.placement import sample

LIMITS = [
    {"team": "vision", "per": "class", "name": "gpu", "devices": 16},
    {"team": "vision", "per": "model", "name": "H100", "devices": 4},
]


def fleet(*nodes: dict[str, Any], limits: list[dict[str, Any]] = LIMITS) -> Fleet:
    nodes = nodes or (sample.node("nv", f"8x{sample.H100}"), sample.node("ada", "8xL40S"))
    return sample.fleet(*nodes, limits=limits)


def ask(request: Any, team: str | None = "vision") -> dict[str, Any]:
    return {"choices": request if isinstance(request, list) else [request], **({"team": team} if team else {})}


def quotas(decision: Placement | NoFit) -> set[tuple[str, int, int, str, bool]]:
    reasons = json.loads(decision.to_json())["reasons"]
    return {
        (reason["choice"], reason["have"], reason["want"], reason["limit"], reason["is_permanent"])
        for reason in reasons
        if reason["code"] == "QUOTA"
    }


H100_LIMIT = "4 devices of model H100 for team vision"


def test_a_request_above_the_limit_of_its_model_names_that_level() -> None:
    decision = fleet().place(ask("H100:6"))
    assert decision.verdict == "impossible"
    assert quotas(decision) == {("H100", 4, 6, H100_LIMIT, True)}
    assert f"H100: QUOTA (4 of 6) on nv, limit is {H100_LIMIT}" in decision.why()


def test_another_model_is_within_the_wider_limit() -> None:
    assert fleet().place(ask("L40S:6")).nodes == ["ada"]


def test_a_list_of_choices_falls_through_to_what_the_team_may_use() -> None:
    decision = fleet().place(ask(["H100:6", "L40S:6"]))
    assert (decision.verdict, decision.nodes) == ("degraded", ["ada"])
    assert quotas(decision) == {("H100", 4, 6, H100_LIMIT, True)}
    assert fleet().place(ask("gpu:6 >=40GB")).nodes == ["ada"]


@pytest.mark.parametrize("team", [None, "speech"])
def test_others_are_not_limited(team: str | None) -> None:
    assert fleet().place(ask("H100:8", team)).nodes == ["nv"]


def test_what_the_team_holds_counts_and_is_given_back() -> None:
    of_team = fleet()
    first = of_team.place(ask("H100:3"))
    assert isinstance(first, Placement)
    hold = of_team.commit(first)
    second = of_team.place(ask("H100:2"))
    assert second.verdict == "busy"
    assert quotas(second) == {("H100", 1, 2, H100_LIMIT, False)}
    assert of_team.place(ask("H100:2", None)).ok
    again = Fleet.from_json(of_team.to_json()).place(ask("H100:2"))
    assert (again.verdict, again.trace_id) == ("busy", second.trace_id)
    of_team.release(hold)
    assert of_team.place(ask("H100:2")).ok


def test_what_the_document_says_is_in_use_counts() -> None:
    node = sample.node("nv", f"8x{sample.H100}")
    node["used"] = [{"owner": "pod a", "devices": [0, 1], "team": "vision"}, {"owner": "pod b", "devices": [2]}]
    used = fleet(node)
    assert used.place(ask("H100:2")).ok
    assert quotas(used.place(ask("H100:3"))) == {("H100", 2, 3, H100_LIMIT, False)}


def test_shares_count_by_thousandths() -> None:
    one = fleet(limits=[{"team": "vision", "per": "sku", "name": "L40S", "devices": 1}])
    for _ in range(4):
        placed = one.place(ask("L40S:0.25"))
        assert isinstance(placed, Placement)
        one.commit(placed)
    assert one.place(ask("L40S:0.25")).verdict == "busy"


@pytest.mark.parametrize(
    ("per", "name"),
    [("class", "GPU"), ("vendor", "nvidia"), ("family", "hopper"), ("model", "h100"), ("sku", sample.H100)],
)
def test_every_level_limits(per: str, name: str) -> None:
    limited = fleet(limits=[{"team": "vision", "per": per, "name": name, "devices": 2}])
    assert [code for *_, code in quotas(limited.place(ask("H100:3")))] == [True]
    assert limited.place(ask("H100:2")).ok


def test_a_busy_quota_never_hides_that_a_step_is_impossible() -> None:
    node = sample.node("nv", f"8x{sample.H100}", taints=[{"key": "other", "effect": "NoSchedule"}])
    node["used"] = [{"owner": "pod a", "devices": [0, 1, 2, 3], "team": "vision"}]
    assert fleet(node).place(ask("H100:2")).verdict == "impossible"


def test_a_quota_in_compute_units_counts_what_devices_do() -> None:
    limits = [{"team": "vision", "per": "unit", "units": 4}]
    here = fleet(limits=limits)
    assert here.place(ask("H100:4")).ok  # the reference device does one unit
    decision = here.place(ask(["H100:5", "L40S:5"]))
    assert (decision.verdict, decision.nodes) == ("degraded", ["ada"])
    assert quotas(decision) == {("H100", 4, 5, "4 units for team vision", True)}
    assert "H100: QUOTA (4 of 5 units) on nv, limit is 4 units for team vision" in decision.why()
    first = here.place(ask("H100:3"))
    assert isinstance(first, Placement)
    here.commit(first)
    assert quotas(here.place(ask("H100:2"))) == {("H100", 1, 2, "4 units for team vision", False)}


def test_what_has_no_rate_is_not_within_a_quota_in_units() -> None:
    unknown = {"sku": "unknown", "vendor": "acme", "model": "X1", "class": "gpu", "count": 2, "memory_mib": 40_960}
    here = fleet(sample.node("a", unknown), limits=[{"team": "vision", "per": "unit", "units": 100}])
    decision = here.place(ask("gpu"))
    assert decision.verdict == "impossible"
    assert "limit is 100 units for team vision" in decision.why()
    assert here.place(ask("gpu", None)).ok


def test_a_limit_that_can_never_be_kept_is_named_before_one_that_passes() -> None:
    node = sample.node("nv", f"8x{sample.H100}")
    node["used"] = [{"owner": "pod a", "devices": [0, 1, 2, 3], "team": "vision"}]
    limits = [
        {"team": "vision", "per": "class", "name": "gpu", "devices": 8},
        {"team": "vision", "per": "model", "name": "H100", "devices": 5},
    ]
    decision = fleet(node, limits=limits).place(ask("H100:6"))
    assert decision.verdict == "impossible"
    assert quotas(decision) == {("H100", 1, 6, "5 devices of model H100 for team vision", True)}


@pytest.mark.parametrize(
    ("limit", "path", "message"),
    [
        ({"per": "model", "name": "H1000"}, "limits[0].name", "did you mean 'H100'?"),
        ({"per": "vendor", "name": "nvidea"}, "limits[0].name", "no vendor is called 'nvidea'; did you mean 'nvidia'?"),
        ({"per": "family", "name": "zzz"}, "limits[0].name", "no family is called 'zzz'; there is "),
        ({"per": "modle", "name": "H100"}, "limits[0].per", "unknown variant `modle`"),
        ({"per": "sku", "name": "H100"}, "limits[0].name", "'H100' is a model that neither"),
    ],
)
def test_a_limit_of_nothing_is_refused_with_its_place(limit: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        fleet(limits=[{"team": "vision", "devices": 1, **limit}])
    assert refused.value.path == path
    assert message in str(refused.value)
