import os
import re
from pathlib import Path

import pytest

from tests.placement.sample import H100, fleet, node

GOLDEN = Path(__file__).parents[1] / "golden" / "why"
NODES = (
    node("nv-1", f"8x{H100}", used=(0, 1, 2)),
    node("nv-2", f"8x{H100}", state="cordoned"),
    node("amd-1", "8xMI300X"),
    node("edge-1", "4xL4", used=(0,)),
    node("edge-2", {"sku": "T4", "count": 2, "health": "unhealthy"}),
    node("host-1", cpu_milli=64_000, memory_mib=262_144),
)
CASES = {
    "placed": "MI300X:8 fabric bf16",
    "placed-share": "L4:0.25 >=4GB",
    "placed-cpu": "cpu:16 >=64GB",
    "degraded": "H100:8 | MI300X:8 where >=80GB bf16 fabric",
    "busy": "H100:8 fabric",
    "busy-unhealthy": "T4:2",
    "impossible": "B200:8 fabric",
    "impossible-numbers": "gpu:1 >=1TB | L4:3 nvlink | npu:1",
}


def without_trace_id(text: str) -> str:
    """The id follows from the catalog's data too, which may grow."""
    return re.sub(r"(?m)^  trace [0-9a-f]{32}$", "  trace (id)", text)


@pytest.mark.parametrize("name", CASES)
def test_a_decision_in_words(name: str) -> None:
    decision = fleet(*NODES).place(CASES[name])
    assert decision.verdict == name.partition("-")[0]
    text, path = without_trace_id(decision.why()), GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"if this is meant: UPDATE_GOLDEN=1 pytest {__file__}"


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)


def test_the_words_of_a_placement_have_its_numbers() -> None:
    text = fleet(*NODES).place(CASES["placed"]).why()
    assert re.search(r"performance +1\.000 x +50\.0 = +50\.0", text)
    assert re.search(r"^  trace [0-9a-f]{32}$", text, re.MULTILINE)


def test_a_fleet_without_nodes_says_so() -> None:
    assert "the fleet has no nodes" in fleet().place("gpu:1").why()
