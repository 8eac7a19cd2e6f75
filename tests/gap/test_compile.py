import json
from typing import Any

import pytest

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.compile import compile_request, compile_tasks
from hetero_ops.gap.contract import Footprint
from hetero_ops.gap.requirement import Requirement
from tests.placement.sample import fleet, node

CATALOG = Catalog.builtin()
XPU = {"sku": "unknown", "count": 2, "vendor": "intel", "class": "npu", "model": "XPU-9000"}


def compiled(request: str, *models: str) -> list[dict[str, Any]]:
    text = compile_request(Requirement.parse(request), CATALOG, models)
    choices: list[dict[str, Any]] = json.loads(text)["choices"]
    return choices


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InvalidRequirement, match=r"'H1000' .* did you mean 'H100'\?"):
        compiled("H1000:8")
    with pytest.raises(InvalidRequirement, match="hetero-ops catalog list"):
        compiled("zzzzzzzz:1")
    with pytest.raises(InvalidRequirement, match="'MI300X' is of amd, not of nvidia; drop the vendor"):
        compiled("nvidia/MI300X")
    with pytest.raises(InvalidRequirement, match=r"did you mean 'XPU-9000'\?"):
        compiled("XPU-900:1", "XPU-9000")


def test_a_model_of_the_fleet_can_be_named_in_any_case() -> None:
    with pytest.raises(InvalidRequirement):
        compiled("xpu-9000")
    assert compiled("xpu-9000", "XPU-9000")[0]["names"][0]["models"] == ["XPU-9000"]
    lab = fleet(node("a", XPU))
    assert lab.place("XPU-9000:2").ok
    assert lab.place("intel/XPU-9000:1").ok
    assert lab.place("npu:2").ok
    assert not lab.place("npu:1 bf16").ok  # unknown is not enough


def test_a_vendor_before_a_model_of_the_fleet_counts() -> None:
    decision = fleet(node("a", XPU)).place("nvidia/XPU-9000:1")
    assert (decision.verdict, decision.codes) == ("impossible", ["MODEL_MISMATCH"])


def test_a_name_means_every_memory_size_and_form_factor_of_it() -> None:
    assert compiled("A100")[0]["names"][0]["skus"] == [
        *("A100-SXM4-40GB", "A100-SXM4-80GB", "A100-PCIE-40GB", "A100-PCIE-80GB")
    ]
    assert compiled("A100-80GB")[0]["names"][0]["skus"] == ["A100-SXM4-80GB", "A100-PCIE-80GB"]
    assert compiled("A100-PCIE-40GB")[0]["names"][0]["skus"] == ["A100-PCIE-40GB"]


def test_a_floor_picks_among_the_sizes_of_a_name() -> None:
    both = fleet(node("a", "4xA100-SXM4-40GB"), node("b", "4xA100-SXM4-80GB"))
    assert json.loads(both.place("A100:4 >=80GB fabric").to_json())["nodes"] == ["b"]
    assert json.loads(both.place("A100:..40GB:4").to_json())["nodes"] == ["a"]
    assert json.loads(both.place("A100-80GB").to_json())["nodes"] == ["b"]


def test_cores_and_host_memory() -> None:
    (choice,) = compiled("cpu:16 >=64GB")
    assert (choice["count"], choice["cpu_milli"], choice["host_memory_mib"]) == (0, 16_000, 65_536)
    assert (choice["class"], choice["memory_floor_mib"]) == ("cpu", None)


@pytest.mark.parametrize("words", ["fp8", "usable>=10GB", "bw>=1TB/s", "compute>=10"])
def test_words_of_devices_mean_nothing_for_cores(words: str) -> None:
    with pytest.raises(InvalidRequirement, match="a cpu choice takes a count and a memory floor"):
        compiled(f"H100:1 | cpu:16 where {words}")


def test_words_reach_the_core() -> None:
    (choice,) = compiled("amd:2 xgmi fp8:weight bf16 link>=400GB/s bw>=3TB/s compute>=400")
    assert choice["link"] == {"kind": "brand", "brand": "infinity_fabric"}
    assert choice["precisions"] == [{"word": "bf16", "path": "native"}, {"word": "fp8", "path": "weight"}]
    assert (choice["vendor"], choice["class"], choice["count"]) == ("amd", None, 2)
    assert (choice["link_floor_mbps"], choice["bandwidth_floor_mbps"]) == (400_000, 3_000_000)
    assert choice["compute_floor_tflops"] == 400
    assert compiled("gpu:2 fabric")[0]["link"] == {"kind": "fabric"}
    assert compiled("accel:1")[0]["class"] is None
    assert compiled("amd/*:1")[0]["names"] == [
        {"skus": [], "models": [], "is_any_model": True, "vendor": "amd", "partition": None}
    ]


def test_tasks_of_a_trace_may_name_what_nobody_knows() -> None:
    tasks = compile_tasks(["T4", "G9"], count=1, share_milli=500, cpu_milli=4000, catalog=CATALOG)
    assert [(name["skus"], name["models"]) for name in tasks["names"]] == [(["T4"], ["T4"]), ([], ["G9"])]
    assert compile_tasks([], count=0, share_milli=0, cpu_milli=1, catalog=CATALOG)["share_milli"] == 1000


def test_an_exact_name_means_a_model_that_only_the_fleet_has() -> None:
    assert compiled("XPU-9000!", "XPU-9000")[0]["names"][0]["models"] == ["XPU-9000"]
    assert compiled("H100!", "H100")[0]["names"][0]["models"] == []


def test_a_class_of_speed_has_no_newer_one() -> None:
    with pytest.raises(InvalidRequirement, match=r"tier-b\+: a class of speed is of any year; list classes"):
        compiled("tier-b+")


def test_a_job_on_cores_needs_its_footprint_as_host_memory() -> None:
    asked = Requirement.parse({"choices": ["H100", "cpu:16"], "footprint": {"weights": "140GB"}})
    choices = json.loads(compile_request(asked, CATALOG, ()))["choices"]
    assert [choice["host_memory_mib"] for choice in choices] == [0, 140 * 1024]


@pytest.mark.parametrize(("isolation", "sizes"), [("soft", (4096, None)), ("hard", (None, 4096))])
def test_a_share_by_its_memory_is_as_large_as_it_says(isolation: str, sizes: tuple[int | None, int | None]) -> None:
    asked = Choice(accelerator_class="gpu", share_memory_mib=4096, isolation=isolation)
    requirement = Requirement(choices=(asked,), footprint=Footprint(weights_mib=30 * 1024))
    (choice,) = json.loads(compile_request(requirement, CATALOG, ()))["choices"]
    assert (choice.get("share_memory_mib"), choice["memory_floor_mib"]) == sizes
    assert choice.get("job_memory_mib") is None


def test_a_clause_that_cores_do_not_have_is_called_as_in_the_grammar() -> None:
    with pytest.raises(InvalidRequirement, match="this one has cost ceiling;"):
        compiled("cpu:16 cost<=1/h")
