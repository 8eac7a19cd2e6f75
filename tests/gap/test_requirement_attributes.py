"""Each hard need of a device can be stated in a line, in YAML and in Python, and is read back from all of them."""

from typing import Any, NamedTuple

import pytest
import yaml

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.compile import compile_choice
from hetero_ops.gap.requirement import Requirement


class Attribute(NamedTuple):
    """One need: after a head, as keys below `need`, as the fields that it sets, and what the core is asked."""

    words: str
    need: dict[str, Any]
    fields: dict[str, Any]
    asked: dict[str, Any]


ATTRIBUTES = {
    "memory": Attribute(">=128GB", {"memory": ">=128GB"}, {"memory_floor_mib": 131072}, {"memory_floor_mib": 131072}),
    "memory of a kind": Attribute(
        ">=80GB mem=hbm",
        {"memory": ">=80GB", "memory_type": "hbm"},
        {"memory_floor_mib": 81920, "memory_kind": "hbm"},
        {"memory_floor_mib": 81920, "memory_kind": "hbm"},
    ),
    "usable memory": Attribute(
        "usable>=79GB", {"usable": ">=79GB"}, {"usable_floor_mib": 80896}, {"usable_floor_mib": 80896}
    ),
    "compute": Attribute(
        "bf16 compute>=1000",
        {"precision": "bf16", "compute": ">=1000"},
        {"precisions": ({"word": "bf16"},), "compute_floor_tflops": 1000.0},
        {"precisions": [{"word": "bf16", "path": "native"}], "compute_floor_tflops": 1000.0},
    ),
    "memory bandwidth": Attribute(
        "bw>=3TB/s", {"bandwidth": ">=3TB/s"}, {"bandwidth_floor_mbps": 3_000_000}, {"bandwidth_floor_mbps": 3_000_000}
    ),
    "NUMA": Attribute("numa=require", {"topology": {"numa": "require"}}, {"numa": "require"}, {"one_numa_node": True}),
    "link": Attribute(
        "nvlink link>=900GB/s",
        {"link": {"class": "nvlink", "bandwidth": ">=900GB/s"}},
        {"link": "nvlink", "link_floor_mbps": 900_000},
        {"link": {"kind": "brand", "brand": "nvlink"}, "link_floor_mbps": 900_000},
    ),
    "precision": Attribute(
        "fp8:weight int8",
        {"precision": ["fp8:weight", "int8"]},
        {"precisions": ({"word": "fp8", "support": "weight"}, {"word": "int8"})},
        {"precisions": [{"word": "fp8", "path": "weight"}, {"word": "int8", "path": "native"}]},
    ),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_a_need_is_the_same_in_every_form_and_read_back(name: str) -> None:
    words, need, fields, _ = ATTRIBUTES[name]
    line = Requirement.parse(f"gpu:2 {words}")
    document = yaml.safe_dump({"accelerators": {"count": 2, "need": need, "choices": [{"class": "gpu"}]}})
    built = Requirement(choices=[Choice(accelerator_class="gpu", count=2, **fields)])
    spelled = Requirement(choices=[{"class": "gpu"}], count=2, need=need)
    assert {Requirement.parse(document), built, spelled} == {line}
    assert str(line) == f"gpu:2 {words}"
    for text in (str(line), line.model_dump_json()):
        assert Requirement.parse(text) == line


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_a_need_reaches_the_core(name: str) -> None:
    attribute = ATTRIBUTES[name]
    (choice,) = Requirement.parse(f"gpu:2 {attribute.words}").choices
    compiled = compile_choice(choice, Catalog.builtin(), ())
    assert {key: compiled[key] for key in attribute.asked} == attribute.asked
