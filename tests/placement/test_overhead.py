"""Code that is translated and cards behind a hypervisor: refused unless allowed, and slower."""

import json
from typing import Any

import pytest

from hetero_ops import Fleet, NoFit, Placement, Requirement
from hetero_ops.gap.overhead import overheads
from tests.placement.sample import H100, JSON, fleet, node


def two() -> Fleet:
    return fleet(node("amd", "8xMI300X"), node("nv", f"8x{H100}", used=(0,)))


def performance(decision: Placement | NoFit) -> JSON:
    assert isinstance(decision, Placement), decision.why()
    found: JSON = json.loads(decision.to_json())["performance"]
    return found


def step(*choices: JSON, **fields: Any) -> JSON:
    return {"choices": [{"count": 8, **choice} for choice in choices], **fields}


def test_code_for_one_vendor_does_not_run_on_devices_of_another() -> None:
    refused = two().place({"class": "gpu", "count": 8, "toolkit": "cuda"})
    assert isinstance(refused, NoFit)
    assert set(refused.codes) == {"COUNT_SHORT", "IMAGE_VENDOR_MISMATCH"}
    assert two().place({"class": "gpu", "count": 8, "toolkit": "rocm"}).nodes == ["amd"]
    assert two().place({"class": "gpu", "count": 7, "toolkit": "cuda"}).nodes == ["nv"]
    unknown = fleet(node("x", {"sku": "unknown", "class": "gpu", "model": "G9", "count": 1}))
    assert not unknown.place({"class": "gpu", "toolkit": "cuda"}).ok


def test_translation_must_be_allowed_and_costs_speed() -> None:
    asked: JSON = {"class": "gpu", "count": 8, "toolkit": "cuda"}
    assert two().place(asked | {"translate": True}).nodes == ["amd"]
    native = performance(two().place(step({"models": ["H100"]}, {"models": ["MI300X"]})))
    code = {"toolkit": "cuda", "translate": True}
    decision = two().place(step({"models": ["H100"]} | code, {"models": ["MI300X"]} | code))
    translated = performance(decision)
    assert translated["ratio"] == pytest.approx(0.8 * native["ratio"], abs=2e-4)
    assert translated["source"] == "roofline, cuda code translated x 0.80"
    assert "(roofline, cuda code translated x 0.80)" in decision.why()
    floor = code | {"perf": ">=0.8"}
    slow = two().place(step({"models": ["H100"]} | code, {"models": ["MI300X"]} | floor))
    assert isinstance(slow, NoFit)
    assert "PERF_BELOW_FLOOR" in slow.codes


def test_there_is_no_translation_that_nobody_knows() -> None:
    refused = two().place({"models": ["H100"], "count": 1, "toolkit": "rocm", "translate": True})
    assert isinstance(refused, NoFit)
    assert refused.codes == ["IMAGE_VENDOR_MISMATCH", "MODEL_MISMATCH"]


def test_a_virtual_card_is_slower_than_the_card() -> None:
    group = {"sku": "T4", "count": 2, "vgpu": True}
    mixed = fleet(node("a", group), node("b", "2xT4"))
    need = {"class": "gpu", "precision": "fp16", "compute": 65}
    explained = mixed.explain(need)
    terms = {c["node"]: c["terms"][0] for c in explained["choices"][0]["candidates"]}
    assert terms["b"]["value"] == 1 > terms["a"]["value"]
    assert terms["a"]["why"] == "65 TFLOPS fp16 needed, virtual GPU x 0.90"
    assert explained["decision"]["nodes"] == ["b"]
    only = fleet(node("a", group), node("c", "8xL4", used=tuple(range(8))))
    assert performance(only.place("L4:1 | T4:1"))["source"] == "roofline, virtual GPU x 0.90"


def test_every_factor_has_a_source_and_is_a_loss() -> None:
    table = overheads()
    assert all(table.sources)
    factors = [milli for vendors in table.toolkits.values() for milli in vendors.values()]
    assert all(0 < milli <= 1000 for milli in [*factors, table.virtual_milli])
    assert all(1000 in vendors.values() for vendors in table.toolkits.values())


def test_the_words_travel() -> None:
    written = Requirement.parse({"class": "gpu", "toolkit": "cuda", "translate": True})
    assert Requirement.parse(str(written)) == written
    assert (written.choices[0].toolkit, written.choices[0].may_translate) == ("cuda", True)
