"""Exports that are read item by item say the same as those that are read as one piece."""

import json
from pathlib import Path
from typing import Any

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.kubernetes import Imported, read_cluster
from hetero_ops.inventory.kubernetes.export_text import ExportText, read_export
from tests.bench.kube_cluster import items
from tests.inventory.kube import GFD, codes, node, only_node, pod

EXAMPLE = Path(__file__).parents[2] / "examples" / "fleets" / "kube-mixed.json"


def streamed(text: str | bytes) -> Imported:
    data = text.encode() if isinstance(text, str) else text
    read = read_export(data, "kube.json", stream_above_bytes=0)
    assert isinstance(read, ExportText)
    return read_cluster([read], Catalog.builtin())


def whole(text: str) -> Imported:
    return read_cluster([read_export(text.encode(), "kube.json")], Catalog.builtin())


@pytest.mark.parametrize("indent", [None, 4])
def test_both_ways_of_reading_agree(indent: int | None) -> None:
    clusters: list[Any] = [json.loads(EXAMPLE.read_text()), {"kind": "List", "items": list(items(20, 80))}]
    for cluster in clusters:
        text = json.dumps(cluster, indent=indent, ensure_ascii=False)
        assert streamed(text) == whole(text)


def test_the_window_may_end_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [
        node(f"n-{index}", GFD | {"note": "\u00fc\U0001f600\u4e2d" * 3}, {"nvidia.com/gpu": "8"}) for index in range(3)
    ]
    text = json.dumps({"kind": "List", "metadata": {"n": 12345}, "items": nodes, "more": -1.5e3}, ensure_ascii=False)
    expected = whole(text)

    for size in (1, 2, 3, 7, 64):
        monkeypatch.setattr("hetero_ops.inventory.kubernetes.export_text._CHUNK_BYTES", size)
        assert streamed(text) == expected


def test_what_is_no_list_is_read_as_one_piece() -> None:
    for text in (
        '{"kind": "Node", "metadata": {"name": "a"}}',
        "kind: Node\nmetadata: {name: a}\n",
        '[{"kind": "Node", "metadata": {"name": "a"}}]',
    ):
        read = read_export(text.encode(), "f", stream_above_bytes=0)
        assert not isinstance(read, ExportText)
        assert only_node(read_cluster([read], Catalog.builtin()))["name"] == "a"


def test_items_are_found_wherever_they_stand() -> None:
    assert (
        only_node(streamed('{"items": [{"kind": "Node", "metadata": {"name": "a"}}], "kind": "List"}'))["name"] == "a"
    )
    with pytest.raises(InvalidDocument, match="no node among the objects"):
        streamed('{"kind": "List", "items": [ ]}')


def test_other_kinds_are_counted_and_not_kept() -> None:
    services = [{"kind": "Service", "spec": {"selector": {}}}] * 2
    result = streamed(json.dumps({"kind": "List", "items": [node("n"), *services]}))

    assert codes(result) == ["NOT_A_NODE"]


def test_what_is_needed_of_a_pod_is_kept() -> None:
    asking = pod("a", {"nvidia.com/gpu": "1", "cpu": "1"})
    asking["spec"]["initContainers"] = [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}, "env": []}]
    asking["spec"]["overhead"] = {"cpu": "250m"}
    asking["spec"]["priority"] = 7
    text = json.dumps({"kind": "List", "items": [node("n", GFD, {"nvidia.com/gpu": "8"}), asking]})

    assert streamed(text) == whole(text)
    assert only_node(streamed(text))["used"] == [
        {"owner": "pod team/a", "devices": [0], "cpu_milli": 2250, "priority": 7, "assumed": True}
    ]


@pytest.mark.parametrize("indent", [None, 1])
def test_an_error_in_an_item_has_its_line(indent: int | None) -> None:
    broken = node("c", {}, {"cpu": "12x"})
    text = json.dumps({"kind": "List", "items": [node("a"), node("b"), broken]}, indent=indent)
    line = 1 + text[: text.index("12x", text.index("allocatable", text.index('"c"')))].count("\n")

    for read in (streamed, whole):
        with pytest.raises(InvalidDocument, match=rf"^kube\.json:{line}: items\[2\]\.status\.allocatable\.cpu: "):
            read(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind": "List",\n "items": [{}', r"kube.json:2: this is not JSON: Expecting ',' or '\]'"),
        ('{"kind": "List",\n "items": [\n{"a" 1}]}', "kube.json:3: this is not JSON: Expecting ':' delimiter"),
        ('{"kind": "List"\n "items": []}', "kube.json:2: this is not JSON: Expecting ',' or '}'"),
        ('{"kind": "List", "items": []}\n}', "kube.json:2: this is not JSON: Extra data"),
        ('{"kind": "List", "items": [],\n"items": []}', "kube.json:2: the key 'items' is given twice"),
        ('{"items": [\n{"a": NaN}]}', "kube.json:2: 'NaN' is not a number here"),
        ('{"items": [{"kind": "Node", "a": "\\ud800"}]}', "half of a surrogate pair"),
        ('{"items": [' + "[" * 100_000, "nested deeper than 64"),
        ('{"items": [' + "[" * 70 + "]" * 70 + "]}", "nested deeper than 64"),
        ('{"items": [], 1: 2}', "Expecting property name"),
        ("{", "Expecting property name"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        streamed(text)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InvalidDocument, match="this is not utf-8 text"):
        streamed(b'{"kind": "List", "items": [{"a": "\xff"}]}')


def test_the_limit_of_size_can_be_raised() -> None:
    text = json.dumps({"kind": "List", "items": [node("n")]}).encode()

    with pytest.raises(InvalidDocument, match="larger than 10 bytes"):
        read_export(text, "f", max_bytes=10)
    assert read_export(text, "f", max_bytes=len(text)).value["kind"] == "List"
