"""Suggested layouts of partitions serve the mix evenly."""

import pytest

from hetero_ops import Fleet
from hetero_ops.placement.report import PartitionSuggestion
from tests.placement.sample import JSON, document, node

CARD = "A100-SXM4-80GB"


def suggested(number: int, *entries: tuple[str, int], sku: str = CARD) -> PartitionSuggestion:
    mix = [{"request": request, "weight": weight} for request, weight in entries]
    written = document(node("a", {"sku": sku, "count": number}, pool="cut"), mix=mix)
    written["clusters"][0]["pools"] = [{"name": "cut", "repartition": True}]
    return Fleet.from_document(written).suggest_partitions()


def layouts(number: int, *entries: tuple[str, int], sku: str = CARD) -> list[list[str]]:
    return [device["layout"] for device in suggested(number, *entries, sku=sku)["devices"]]


@pytest.mark.parametrize(
    ("request_text", "layout"),
    [
        ("A100/1g.10gb", ["1g.10gb"] * 7),
        ("A100/3g.40gb", ["3g.40gb"] * 2),
        ("A100/4g.40gb", ["4g.40gb", "3g.40gb"]),
        ("gpu:0.25 share=mig", ["2g.20gb"] * 3 + ["1g.20gb"]),
        ("A100", []),
        ("A100:8", []),
        ("H100/1g.10gb", []),
    ],
)
def test_a_layout_serves_what_is_expected(request_text: str, layout: list[str]) -> None:
    assert layouts(1, (request_text, 1)) == [layout]


def test_classes_are_served_by_their_weight() -> None:
    assert sorted(layouts(2, ("A100/3g.40gb", 1), ("A100", 1))) == [[], ["3g.40gb", "3g.40gb"]]
    assert suggested(3, ("A100/7g.80gb", 2), ("A100", 1))["steps"] == [2, 1]


def test_what_no_single_device_serves_is_left_out() -> None:
    found = suggested(1, ("A100:8", 1), ("gpu:0.25 >=4GB", 1), ("A100/1g.10gb", 1))
    assert found["steps"] == [None, None, 7]


def test_a_mode_of_the_whole_node_is_suggested() -> None:
    assert layouts(2, ("MI300X/cpx_nps4", 1), sku="MI300X") == [["cpx_nps4"] * 8] * 2


def test_what_the_process_chooses_is_no_cut() -> None:
    assert layouts(1, ("Max-1550/flat", 1), sku="Max-1550") == [[]]


def test_devices_come_by_name() -> None:
    nodes: list[JSON] = [node(name, {"sku": CARD, "count": 1}, pool="cut") for name in ("b", "a")]
    written = document(*nodes, mix=[{"request": "A100/1g.10gb", "weight": 1}])
    written["clusters"][0]["pools"] = [{"name": "cut", "repartition": True}]
    assert [device["node"] for device in Fleet.from_document(written).suggest_partitions()["devices"]] == ["a", "b"]
