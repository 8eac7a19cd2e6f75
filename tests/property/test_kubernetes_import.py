"""Whatever a damaged input says: a fleet, or `InvalidDocument`."""

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.kubernetes import read_cluster
from hetero_ops.inventory.kubernetes.export_text import read_export
from tests.inventory.kube import AMD, GFD, node, pod

EXAMPLE = json.loads((Path(__file__).parents[2] / "examples" / "fleets" / "kube-mixed.json").read_text())
SHARED = {"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-SHARED"}
ITEMS = [
    node("mig", GFD | {"nvidia.com/mig.strategy": "mixed"}, {"nvidia.com/gpu": "0", "nvidia.com/mig-7g.40gb": "8"}),
    node("shared", GFD | SHARED, {"nvidia.com/gpu": "32", "cpu": "12", "memory": "87425380Ki"}),
    node(
        "placed",
        GFD,
        {"nvidia.com/gpu": "8"},
        annotations={
            "hetero-ops/topology": json.dumps({"islands": [[0, 1]], "numa": [0] * 8, "uuids": list("abcdefgh")})
        },
    ),
    node("npu", {}, {"huawei.com/Ascend910": "8"}, annotations={"huawei.com/Ascend910-Fault": "[]"}),
    {
        "kind": "NodeResourceTopology",
        "metadata": {"name": "shared"},
        "topologyPolicies": ["Restricted"],
        "zones": [
            {
                "name": f"node-{number}",
                "type": "Node",
                "costs": [{"name": "node-0", "value": 10}],
                "resources": [{"name": "nvidia.com/gpu", "capacity": "16"}],
            }
            for number in range(2)
        ],
    },
    node("amd", AMD | {"amd.com/gpu.compute-memory-partition": "cpx"}, {"amd.com/gpu": "64", "cpu": "1e3"}),
    pod("a", {"nvidia.com/gpu": "3", "cpu": "1"}, on="shared"),
    pod("b", {"amd.com/gpu": "65"}, on="amd"),
    *EXAMPLE["items"],
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(
        ["0", "1", "9", "64", "999999999999", "-1", "NVIDIA-H100-80GB-HBM3", "74a1", "cpx_nps4", "x-MIG-INVALID"]
    ),
    st.just([]),
    st.just({}),
    st.just([{}]),
    st.just({"a": {"b": []}}),
)


def places(value: object) -> list[tuple[Any, Any]]:
    """Every container of a document with a key or index in it."""
    pairs: list[tuple[Any, object]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    return [place for key, child in pairs for place in ((value, key), *places(child))]


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    chosen = draw(st.lists(st.sampled_from(ITEMS), min_size=1, max_size=4))
    document = copy.deepcopy({"apiVersion": "v1", "kind": "List", "items": chosen})
    for _ in range(draw(st.integers(1, 4))):
        container, key = draw(st.sampled_from([*places(document), (document, "new")]))
        if key == "new" or draw(st.booleans()):
            container[key] = copy.deepcopy(draw(VALUES))
        else:
            del container[key]
    return document


def assert_ids_are_devices(found: dict[str, Any]) -> None:
    count = sum(group["count"] for group in found.get("devices", []))
    held = [0] * count
    for use in found.get("used", []):
        assert len(set(use.get("devices", []))) == len(use.get("devices", []))
        for device in use.get("devices", []):
            held[device] += use.get("share_milli", 1000)
    assert all(share <= 1000 for share in held)


@given(damaged())
def test_a_damaged_input_is_read_or_refused(document: dict[str, Any]) -> None:
    try:
        result = read_cluster([read_text(json.dumps(document), "f")], Catalog.builtin())
    except InvalidDocument:
        return
    json.dumps(result.document, allow_nan=False)
    for found in result.document["clusters"][0]["nodes"]:
        assert found["name"]
        assert_ids_are_devices(found)


def outcome(data: bytes, stream_above_bytes: int) -> object:
    try:
        text = read_export(data, "f", stream_above_bytes=stream_above_bytes)
        return read_cluster([text], Catalog.builtin())
    except InvalidDocument as error:
        return error.path


@given(damaged(), st.sampled_from([None, 1]))
def test_item_by_item_or_as_one_piece_a_damaged_input_reads_the_same(
    document: dict[str, Any], indent: int | None
) -> None:
    data = json.dumps(document, indent=indent, ensure_ascii=False).encode()

    assert outcome(data, 0) == outcome(data, len(data))


@given(st.binary(max_size=40) | st.text(alphabet="{}[]:,-&*!|>'\"\\%#?~ \n\ta1.eE", max_size=40))
def test_any_text_is_read_or_refused(text: bytes | str) -> None:
    try:
        document = read_text(text, "f")
    except InvalidDocument:
        return
    document.line_of("a[0].a")


@given(st.permutations(ITEMS))
def test_the_order_of_the_input_decides_nothing(items: list[Any]) -> None:
    catalog = Catalog.builtin()
    texts = [read_text(json.dumps({"kind": "List", "items": each}), "f") for each in (items, ITEMS)]

    assert read_cluster([texts[0]], catalog) == read_cluster([texts[1]], catalog)
