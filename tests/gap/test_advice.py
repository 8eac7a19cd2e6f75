import os
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.advice import Goal, Rule, advise
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.throughput import Throughput, ThroughputTable, read_throughput

CATALOG = Catalog.builtin()
GAVEL = Path(os.environ.get("HETERO_OPS_TEST_DATA", "../shared/data")) / "gavel" / "throughputs.csv"


def table(**per_second: float) -> ThroughputTable:
    rows = tuple(Throughput("chat", sku, (sku,), 1, None, rate) for sku, rate in per_second.items())
    return ThroughputTable("t.csv", rows)


@pytest.mark.parametrize(
    ("workload", "goal", "names", "need"),
    [
        ("training:13B", None, ("H100", "A100-80GB"), "fabric"),
        ("training:10B", None, ("H100", "A100-80GB"), "fabric"),
        ("training:7B", None, ("H100", "A100", "MI300X", "L40S"), None),
        ("inference:7B", "cost", ("910B",), None),
        ("inference:7B", "speed", ("H100", "L40S"), None),
        ("inference:7B", "domestic", ("910B", "MLU590", "MLU370-X8", "Ascend-310P3"), None),
        ("inference:3B", "latency", ("Groq-LPU-v1",), None),
        ("inference:3B", "cost", ("SPR",), None),
        ("inference:3B", None, ("T4", "L4"), None),
        ("preprocess", None, ("SPR",), None),
    ],
)
def test_the_leaves_of_the_tree(workload: str, goal: Goal | None, names: tuple[str, ...], need: str | None) -> None:
    advice = advise(workload, CATALOG, goal=goal)
    meant = {profile.sku for name in names for profile in CATALOG.named(name)}
    assert {device.sku for device in advice.devices} == meant
    assert advice.need == need
    assert advice.reason


def test_every_name_of_the_rules_is_known() -> None:
    assert [name for rule in Rule.builtin() for name in rule.names if not CATALOG.resolve(name)] == []


def test_every_kind_of_work_and_goal_has_a_rule() -> None:
    for kind in ("training", "inference", "preprocess", "edge"):
        for goal in (None, "speed", "cost", "latency", "domestic"):
            assert advise(kind, CATALOG, goal=goal).devices  # type: ignore[arg-type]


def test_measured_outranks_the_sheet() -> None:
    # By the sheet an H100 is the faster one.
    advice = advise("chat", CATALOG, measured=table(**{"H100-SXM5-80GB": 10, "L40S": 12}))
    assert [device.sku for device in advice.devices] == ["L40S", "H100-SXM5-80GB"]
    assert {device.source for device in advice.devices} == {"table t.csv"}
    assert advice.devices[1].relative == round(10 / 12, 4)


def test_with_the_goal_cost_the_price_counts_and_a_missing_one_is_said() -> None:
    measured = table(**{"H100-SXM5-80GB": 10, "L40S": 6, "T4": 1})
    advice = advise("chat", CATALOG, goal="cost", measured=measured, prices={"H100-SXM5-80GB": 4, "L40S": 1})
    assert [(device.sku, device.per_price) for device in advice.devices] == [
        ("L40S", 6.0),
        ("H100-SXM5-80GB", 2.5),
        ("T4", None),
    ]
    assert "no price of T4" in advice.missing


def test_what_could_not_run_and_what_was_not_measured_is_said() -> None:
    advice = advise("chat", CATALOG, measured=table(T4=0, L4=2))
    assert "T4 could not run it" in advice.missing
    assert f"{len(CATALOG) - 2} devices of the catalog were not measured" in advice.missing
    assert any("no measured throughput" in what for what in advise("inference:7B", CATALOG).missing)


def test_the_size_of_the_model_says_how_many_devices_hold_it() -> None:
    (best, *_) = advise("training:13B", CATALOG).devices
    assert (best.sku, best.least_devices) == ("H100-SXM5-80GB", 3)  # 13e9 x 16 bytes in 80 GiB each
    assert advise("training", CATALOG).devices[0].least_devices is None


@pytest.mark.parametrize("workload", ["foo", "training:13", "inference:B", ""])
def test_an_unknown_workload_is_refused_with_what_is_known(workload: str) -> None:
    with pytest.raises(InvalidRequirement, match="one of training, inference, preprocess, edge"):
        advise(workload, CATALOG)


@pytest.mark.skipif(not GAVEL.exists(), reason=f"no {GAVEL}")
def test_eight_of_gavels_jobs_rank_the_older_card_first() -> None:
    measured = read_throughput(GAVEL, CATALOG)
    firsts = [advise(workload, CATALOG, measured=measured).devices[0].sku[:4] for workload in measured.workloads]
    assert (firsts.count("P100"), firsts.count("V100")) == (8, 18)
