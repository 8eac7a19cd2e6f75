"""The example of a fleet mixed by role: 70 % inference, 20 % training, 10 % older cards."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from hetero_ops.placement.fleet import Fleet

FILE = Path(__file__).parents[2] / "examples" / "fleets" / "role-mix.yaml"
FLEET = Fleet.load(FILE)


def test_shares_of_devices_are_those_of_the_roles() -> None:
    devices: Counter[str | None] = Counter()
    for row in FLEET.overview():
        devices[row["pool"]] += row["devices"]
    shares = {pool: count / devices.total() for pool, count in devices.items()}
    assert shares == pytest.approx({"inference": 0.7, "training": 0.2, "legacy": 0.1}, abs=0.01)


def test_each_role_has_its_models() -> None:
    models = {
        pool: {row["kind"] for row in FLEET.overview() if row["pool"] == pool}
        for pool in ("inference", "training", "legacy")
    }
    assert models == {
        "inference": {"H100-SXM5-80GB", "MI300X"},
        "training": {"B200-SXM-180GB", "MI300X"},
        "legacy": {"A100-PCIE-40GB", "A10", "Gaudi2-HL-225"},
    }


def test_inference_is_four_fifths_of_the_expected_work() -> None:
    mix = yaml.safe_load(FILE.read_text())["mix"]
    weights = {entry["request"]: entry["weight"] for entry in mix}
    inference = sum(weight for request, weight in weights.items() if "fp8" in request)
    assert inference / sum(weights.values()) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("request_", "pools"),
    [
        ("H100:4 | MI300X:4 where >=80GB fp8", {"inf-nv"}),
        ("B200:8 | MI300X:8 where bf16 fabric", {"train-nv"}),
        ("npu:8", {"old-npu"}),
    ],
)
def test_steps_of_each_role_fit(request_: str, pools: set[str]) -> None:
    decision = FLEET.place(request_)
    assert {node.rpartition("-")[0] for node in decision.nodes} == pools
