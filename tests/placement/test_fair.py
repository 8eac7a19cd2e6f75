"""Fair order: of one priority, teams take turns by the part of their quotas that they have."""

import pytest

from hetero_ops import Fleet, Placement
from hetero_ops.placement.batch import Step
from tests.placement import sample

H100 = {"per": "model", "name": "H100"}


def fleet(*limits: dict, nodes: int = 1) -> Fleet:
    made = [sample.node(f"n{at}", f"8x{sample.H100}") for at in range(nodes)]
    return sample.fleet(*made, limits=list(limits))


def step(team: str | None, count: int = 1, age_s: int = 0, priority: int = 0) -> Step:
    asked = {"accelerators": f"H100:{count}", **({"team": team} if team else {})}
    return Step(asked, priority=priority, age_s=age_s)


def given(on: Fleet, steps: list[Step], solver: str = "greedy") -> dict[str | None, int]:
    plan = on.place_all(steps, solver=solver, objective="fair", steps=200, threads=1)
    counts: dict[str | None, int] = {}
    for asked, decision in zip(plan.steps, plan.decisions, strict=True):
        if isinstance(decision, Placement):
            team = asked.request.get("team")
            counts[team] = counts.get(team, 0) + len(decision.devices)
    return counts


@pytest.mark.parametrize("solver", ["greedy", "search", "genetic"])
def test_equal_quotas_share_equally_whoever_waited_longer(solver: str) -> None:
    here = fleet({"team": "a", **H100, "devices": 8}, {"team": "b", **H100, "devices": 8})
    steps = [step("a", age_s=100 + at) for at in range(8)] + [step("b", age_s=at) for at in range(8)]
    assert given(here, steps, solver) == {"a": 4, "b": 4}
    by_age = here.place_all(steps, solver=solver, objective="order", steps=200, threads=1)
    assert {s.request["team"] for s, d in zip(by_age.steps, by_age.decisions, strict=True) if d.ok} == {"a"}


def test_a_quota_three_times_as_large_gets_three_times_as_much() -> None:
    here = fleet({"team": "a", **H100, "devices": 12}, {"team": "b", **H100, "devices": 4})
    assert given(here, [step(team) for team in "ab" for _ in range(8)]) == {"a": 6, "b": 2}


def test_what_a_team_has_already_counts() -> None:
    here = fleet({"team": "a", **H100, "devices": 8}, {"team": "b", **H100, "devices": 8})
    here.commit(here.place({"accelerators": "H100:4", "team": "a"}))
    assert given(here, [step(team) for team in "ab" for _ in range(4)]) == {"b": 4}


def test_the_tightest_quota_counts() -> None:
    here = fleet(
        {"team": "a", "per": "class", "name": "gpu", "devices": 100},
        {"team": "a", **H100, "devices": 8},
        {"team": "b", **H100, "devices": 8},
    )
    assert given(here, [step(team) for team in "ab" for _ in range(8)]) == {"a": 4, "b": 4}


def test_priority_goes_before_turns_and_age_within_a_team() -> None:
    here = fleet({"team": "a", **H100, "devices": 8}, {"team": "b", **H100, "devices": 8})
    steps = [step("a", 8, age_s=5), step("b", 4, age_s=1, priority=1), step("b", 4, age_s=9)]
    plan = here.place_all(steps, solver="greedy", objective="fair")
    assert [decision.ok for decision in plan.decisions] == [False, True, True]  # 8 do not fit beside the important one


def test_a_team_without_a_quota_takes_its_turns_too() -> None:
    here = fleet({"team": "a", **H100, "devices": 8})
    assert given(here, [step(team) for team in ("a", None) for _ in range(8)]) == {"a": 4, None: 4}
