"""One model, many spellings: YAML, mappings, lists, Python objects, and what people have from other tools."""

from typing import Any

import pytest

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.choice import Choice, Parallel
from hetero_ops.gap.contract import Checkpoint, Degrade, Footprint
from hetero_ops.gap.requirement import Requirement

WHOLE = """
accelerators:
  count: 8
  need:                       # hard, for every choice unless overridden
    memory: ">=80GB"
    precision: fp8
    link: fabric
    requires: [cudnn|miopen]
  choices:
    - models: [H100]
      wait: 30m
    - models: [MI300X]
      perf: ">=0.9"
      wait: 15m
      with: {image: registry/train:rocm, env: {HSA_NO_SCRATCH_RECLAIM: "1"}}
    - models: [A100-80GB]
      quantize: int8
      with: {image: registry/train:cuda, args: ["--dtype=int8"]}
  footprint: {weights: 140GB@bf16, activations: 24GB}
  quantizable: [int8, fp8]
  share: {mode: exclusive}
  topology: {numa: prefer, nic: same-root, nodes: 1, spread: none}
  power: {per_node: "<=5600W", cap_ok: true}
  cost: {per_hour: "<=60", total: "<=500", currency: USD}
  priority: 50
  preemptible: true
  checkpoint:
    dir: s3://bucket/runs/{run_id}/{task_id}
    every: 10m
    signal: SIGTERM
    grace: 120s
    resume: latest
    saved_exit_codes: [85]
    retry_exit_codes: [75]
  degrade:
    order: [wait, next-choice, quantize, preempt-lower, fail]
    max_wait: 2h
    slo_relax: {latency: 1.05}
    on_unknown_perf: warn
  workload: resnet50-bs256
  team: vision
"""


def test_the_whole_yaml_form_is_read() -> None:
    requirement = Requirement.parse(WHOLE)
    first, second, third = requirement.choices
    common = {"count": 8, "link": "fabric", "memory_floor_mib": 81920, "cost_ceiling_milli": 60_000, "numa": "prefer"}
    for choice in requirement.choices:
        assert {field: getattr(choice, field) for field in common} == common
        assert [precision.word for precision in choice.precisions] == ["fp8"]
        assert choice.runtimes == (("cudnn", "miopen"),)
        assert (choice.share_mode, choice.nic, choice.nodes, choice.spread) == (
            "exclusive",
            "same-root",
            (1, 1),
            "none",
        )
        assert (choice.power_ceiling_mw, choice.may_cap_power) == (5_600_000, True)
    assert (first.wait_s, first.performance_floor_milli, first.image) == (1800, None, None)
    assert (second.wait_s, second.performance_floor_milli, second.image) == (900, 900, "registry/train:rocm")
    assert second.env == (("HSA_NO_SCRATCH_RECLAIM", "1"),)
    assert (third.quantize, third.args, third.wait_s) == ("int8", ("--dtype=int8",), None)
    assert requirement.footprint == Footprint(weights_mib=143360, weights_precision="bf16", activations_mib=24576)
    assert requirement.quantizable == ("fp8", "int8")
    assert requirement.checkpoint == Checkpoint(dir="s3://bucket/runs/{run_id}/{task_id}", every="10m", grace="120s")
    assert requirement.degrade == Degrade(max_wait="2h", preempt="lower", slo_relax={"latency": 1.05})
    assert (requirement.cost_total_milli, requirement.currency, requirement.priority) == (500_000, "USD", 50)
    assert (requirement.preemptible, requirement.workload, requirement.team) == (True, "resnet50-bs256", "vision")


def test_the_whole_form_survives_its_canonical_text() -> None:
    requirement = Requirement.parse(WHOLE)
    assert str(requirement).startswith('{"choices"')
    assert Requirement.parse(str(requirement)) == requirement


def test_python_objects_mean_the_same_as_text() -> None:
    built = Requirement(
        count=8,
        need={"memory": ">=80GB", "precision": "fp8", "link": "fabric"},
        choices=[
            Choice("H100", wait="30m"),
            Choice("MI300X", perf=">=0.9", image="registry/train:rocm"),
            Choice("A100-80GB", quantize="int8"),
        ],
    )
    choices = "H100:8 wait=30m | MI300X:8 perf>=0.9 image=registry/train:rocm | A100-80GB:8 quant=int8"
    text = f"{choices} where >=80GB fp8 fabric"
    assert built == Requirement.parse(text)
    assert str(built) == text


SAME = [
    ("H100:8", {"H100": 8}),
    ("H100:8", "H100: 8"),
    ("H100:8", ["H100:8"]),
    ("H100:8", {"accelerators": "H100:8"}),
    ("H100:8", {"accelerators": {"H100": 8}}),
    ("H100:8", '{"accelerators": {"H100": 8}}'),
    ("H100:8", {"models": "H100", "count": 8}),
    ("H100:8", Choice("H100", count=8)),
    ("A100,A10G:2", {"models": ["A100", "A10G"], "count": 2}),
    ("H100:8 | A100-80GB:8", ["H100:8", "A100-80GB:8"]),  # Modal
    ("H100:8 | A100-80GB:8", '["H100:8", "A100-80GB:8"]'),
    ("H100:8 | MI300X:8", "- H100:8\n- MI300X:8\n"),
    ("H100!:8", ["H100!:8"]),
    (
        "H100:8 cost<=60/h | MI300X:8 cost<=60/h",  # SkyPilot
        {"resources": {"max_hourly_cost": 60, "ordered": [{"accelerators": name} for name in ("H100:8", "MI300X:8")]}},
    ),
    ("H100:8 | A100:8", {"resources": {"any_of": [{"accelerators": {"H100": 8}}, {"accelerators": "A100:8"}]}}),
    ("80GB+:8", {"resources": {"accelerators": "80GB+:8"}}),
    ("nvidia:8 >=80GB cost<=60/h", {"resources": {"gpu": "nvidia:80GB..:8"}, "max_price": 60}),  # dstack
    ("amd:8 >=80GB", {"resources": {"gpu": {"vendor": "amd", "memory": "80GB..", "count": 8}}}),
    ("H100,MI300X:8", {"gpu": {"name": "H100,MI300X", "count": 8}}),
    ("24GB..80GB:2", {"gpu": "24GB..80GB:2"}),
    ("gpu:nvidia:8", {"nvidia.com/gpu": 8}),  # Kubernetes
    ("gpu:nvidia:8", "nvidia.com/gpu: 8"),
    ("gpu:nvidia:8", {"resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "16", "memory": "64Gi"}}}),
    ("nvidia/*/1g.10gb:2", {"limits": {"nvidia.com/mig-1g.10gb": 2}}),
    ("amd/*/cpx_nps4:3", {"amd.com/cpx_nps4": 3}),
    ("gpu:amd:3", {"amd.com/spx_nps1": 3}),
    ("npu:intel:8", {"habana.ai/gaudi": 8}),
    ("gpu:h100:8", "--gres=gpu:h100:8"),  # Slurm
    ("NVIDIA_H100_80GB:8", {"NVIDIA_H100_80GB": 8}),  # enum names
    ("gpu:0.25 >=10GB share=mps", {"class": "gpu", "share": {"fraction": 0.25, "memory": ">=10GB", "mode": "mps"}}),
    ("gpu:4..8", {"class": "gpu", "count": "4..8"}),
    ("gpu fp8:weight int8", {"class": "gpu", "precision": ["fp8:weight", "int8"]}),
    ("gpu fabric link>=600GB/s", {"class": "gpu", "link": {"class": "fabric", "bandwidth": ">=600GB/s"}}),
    ("gpu:24GB..80GB", {"class": "gpu", "memory": "24GB..80GB"}),
    ("gpu slo=latency:200ms", {"class": "gpu", "slo": {"latency": "200ms"}}),
    ("gpu label=rack:r1,zone:a", {"class": "gpu", "labels": {"zone": "a", "rack": "r1"}}),
    ("gpu driver>=570 min_score=60 units=2.5", {"class": "gpu", "driver": 570, "min_score": 60, "units": 2.5}),
    ("gpu confidential", {"class": "gpu", "confidential": True}),
    ("gpu", {"class": "gpu", "confidential": False}),
    ("gpu:8 >=80GB fp8 fabric", {"class": "gpu", "count": 8, "need": ">=80GB fp8 fabric"}),
    ("tier-a:8", {"tier": "a", "count": 8}),
    ("gpu:nvidia:8", {"class": "GPU", "vendor": "NVIDIA", "count": 8}),
    ("gpu:0.5", {"gpu": 0.5}),
    ("gpu:8 wait=30m", {"gpu": 8, "wait": "30m"}),
    ("gpu:nvidia:8", {"limits": {"nvidia.com/gpu": 8}, "requests": {"nvidia.com/gpu": "8", "cpu": 4}}),
    ("H100:8 | gpu:amd:8", [{"H100": 8}, {"amd.com/gpu": 8}]),
    ("H100:8", {8: "H100"}),
    # A choice that says how many says all of it.
    ("H100:2 | A100:4..8 | L4:0.5", {"count": "4..8", "choices": ["H100:2", "A100", "L4:0.5"]}),
    ("A100:8", {"count": 0.5, "choices": [Choice("A100", count=8)]}),
]


@pytest.mark.parametrize(("text", "form"), SAME)
def test_every_form_means_the_same(text: str, form: Any) -> None:
    assert Requirement.parse(form) == Requirement.parse(text)


REFUSED = [
    (
        {"choices": [{"models": ["H100"]}, {"models": ["A100"], "prf": 0.9}]},
        "choices[1].prf: unknown key 'prf'; did you",
    ),
    ({"cuont": 8, "class": "gpu"}, "unknown key 'cuont'; did you mean 'count'?"),
    ({"class": "gpu", "perf": "fast"}, "perf: 'fast' is not a positive number"),
    ({"class": "gpu", "share": {"mod": "mps"}}, "share.mod: unknown key 'mod'; did you mean 'mode'?"),
    ({"class": "gpu", "confidential": "yes"}, "confidential: 'yes' is not true or false"),
    ({"class": "gpu", "memory": ">=80GB", "memory_floor_mib": 1024}, "given twice"),
    ({"class": "gpu", "topology": {"nic": "near"}}, "topology.nic: 'near' is none of same-root, prefer, any"),
    ({"class": "gpu", "degrade": {"order": ["fail", "wait"]}}, "degrade.order: "),
    ({"class": "gpu", "degrade": {"max_wait": "soon"}}, "degrade.max_wait: 'soon' is not a time"),
    ({"class": "gpu", "checkpoint": {"every": "10m"}}, "checkpoint.dir: Field required"),
    ({"class": "gpu", "footprint": {"weights": "140GB@bf15"}}, "footprint.weights_precision"),
    ({"class": "gpu", "count": 8, "parallel": {"tp": 4}}, "tp 4 x pp 1 x dp 1 is 4 devices, but the count is 8"),
    ({"class": "gpu", "nearness": "switch"}, "nearness without groups"),
    ({"class": "gpu", "groups": [{"class": "npu", "groups": [{"class": "gpu"}]}]}, "a group within a group"),
    ({"resources": {"accelerators": "H100:8", "cpus": 16}}, "resources.cpus: cores and memory of the host"),
    ({"resources": {"limits": {"cpu": 8}}}, "resources.limits"),
    ({"resources": 8}, "resources"),
    ({"choices": 3}, "choices: '3' is no list"),
    ({}, "nothing is asked for"),
    ({"class": "gpu", "wiat": None}, "wiat: unknown key 'wiat'"),
    ({"class": "gpu", "checkpont": {}}, "unknown key 'checkpont'; did you mean 'checkpoint'?"),
    ({"class": "gpu", "checkpoint": {"dri": "x"}}, "checkpoint.dri: unknown key 'dri'; did you mean 'dir'?"),
    (
        {"class": "gpu", "degrade": {"max_wiat": "2h"}},
        "degrade.max_wiat: unknown key 'max_wiat'; did you mean 'max_wait'?",
    ),
    ({"class": "gpu", "degrade": {"slo_relax": {"latncy": 1.1}}}, "'latency' or 'throughput', not 'latncy'"),
    ({"class": "gpu", "footprint": {"weights": "9GB", "activations": 2}}, "footprint.activations: '2' is not a memory"),
    ({"class": "gpu", "count": float("inf")}, "count: inf is no share of one device"),
    ({"class": "gpu", "count": float("nan")}, "count: nan is no share of one device"),
    ({"class": "gpu", "count": 8.0}, "count: 8.0 is no share of one device; write a whole number"),
    ('{"class": "gpu", "count": 1e999}', "count: inf is no share"),
    ({"class": "gpu", "share": float("inf")}, "share: inf is no share"),
    ({"class": "gpu", "count": "amd"}, "count: 'amd' is no count; write 8, 4..8"),
    ({"class": "gpu", "memory": "H100"}, "memory: 'H100' is no memory size; write >=80GB"),
    ({"class": "gpu", "memory": "80GB:8"}, "memory: '80GB:8' is no memory size"),
    ({"class": "gpu", "memory": 80}, "memory: '80' is no memory size"),
    ({"class": "gpu", "vendor": "nvdia"}, "vendor: 'nvdia' is none of nvidia, amd"),
    ({"class": "gpu", "driver": 580.10}, "driver: 580.1 may have lost a zero"),
    ({"class": "gpu", "labels": {"is-gpu": True}}, "labels: True is not text or a number"),
    ({"class": "gpu", "labels": {"a": "b,c:d"}}, "labels: 'b,c:d' holds a comma"),
    ({"class": "gpu", "topology": {"nic": []}}, "topology.nic: [] is none of same-root, prefer, any"),
    ({"class": "gpu", "is_confidential": 1}, "is_confidential: '1' is not true or false"),
    ({"class": "gpu", "preemptible": "yes"}, "preemptible: 'yes' is not true or false"),
    ({"class": "gpu", "compute_floor_tflops": True}, "compute_floor_tflops: "),
    ({"class": "gpu", "args": "--x"}, "args: '--x' is no list; write one, as in [a, b]"),
    ({"class": "gpu", "count": "4..8", "parallel": {"tp": 4}}, "parallel ranks fix the count"),
    ({"class": "gpu", "share": {"mode": "mps", "isolation": "hard"}}, "mps has no hard isolation; write share=mig"),
    ({"nvidia.com/gpu": True}, "nvidia.com/gpu: True is no count"),
    ({"accelerators": 8}, "accelerators: 8 says how many but not of what"),
    ({"limits": {"nvidia.com/gpu": 8}, "requests": {"nvidia.com/gpu": 4}}, "requests.nvidia.com/gpu: 4 differs from"),
    ({"choices": [{"H100": 8, "A100": 8}]}, "choices[0]: several choices in one entry"),
    ([], "choices"),
    ([["H100"]], "choices[0]"),
    ({"limits": {"nvidia.com/gpu": 8, "amd.com/gpu": 8}}, "a pod gets all of them, and this would take either"),
    ({"class": "gpu", "share": {"memory": "10GB"}, "memory": ">=8GB"}, "has no fraction and no memory floor beside it"),
    ({"class": "gpu", "share": {"memory": "10GB"}, "count": 2}, "a share is of one device"),
    ({"class": "gpu", "share": {"memory": "much"}}, "share.memory: 'much' is not a memory size"),
    ({"nvidia.com/gpumem": 8}, "is no resource key that names devices"),
    ("choices:\n  - models: [H100]\n  - modles: [A100]\n", "line 3: choices[1].modles: unknown key 'modles'"),
    ("accelerators:\n  count: 8\n  need: {memory: 80GB+}\n  choices:\n    - H100\n    - A100 fp9\n", "line 6: "),
    ("class: gpu\ncount: 0\n", "line 2: choices[0].count"),
    ("need:\n  memory: 80GB+\n  vendor: nvdia\nclass: gpu\n", "line 3: need.vendor"),
    ("- H100\n- {models: [A100], bogus: 1}\n", "line 2: [1].bogus: unknown key"),
    ('ordered:\n  - {accelerators: "H100:8"}\n  - {accelerators: "H100:x:y"}\n', "line 3: ordered[1].accelerators: "),
    ("count: [", "this is not YAML"),
    ("count: 1\ncount: 2\n", "count"),
]


@pytest.mark.parametrize(("form", "message"), REFUSED)
def test_a_wrong_form_is_refused_with_its_place(form: Any, message: str) -> None:
    with pytest.raises(InvalidRequirement) as refused:
        Requirement.parse(form)
    assert message in str(refused.value)
    assert len(str(refused.value)) < 300


HUGE: list[Any] = [
    {"choices": ["H100"] * 100_000},
    {f"model{number}": 1 for number in range(100_000)},
    {"models": [f"H{number}" for number in range(100_000)]},
]


@pytest.mark.parametrize("form", HUGE)
def test_what_is_far_too_much_is_refused_without_reading_all_of_it(form: Any) -> None:
    with pytest.raises(InvalidRequirement, match="too many"):
        Requirement.parse(form)


def test_what_holds_itself_is_refused() -> None:
    within: dict[str, Any] = {}
    within["accelerators"] = within
    with pytest.raises(InvalidRequirement, match="nested too deeply"):
        Requirement.parse(within)


def test_a_requirement_whose_text_nobody_could_read_has_none() -> None:
    requirement = Requirement.parse({"class": "gpu", "args": ["x" * 100] * 1000})
    with pytest.raises(InvalidRequirement, match="too long; write at most 65536"):
        str(requirement)


def test_the_path_of_a_mistake_can_be_read_by_programs() -> None:
    with pytest.raises(InvalidRequirement) as refused:
        Requirement.parse({"choices": [{"models": "H100", "wait": "long"}]})
    assert refused.value.path == "choices[0].wait"


def test_parallel_ranks_give_the_count() -> None:
    choice = Requirement.parse({"models": "H100", "parallel": {"tp": 8, "dp": 2}}).choices[0]
    assert (choice.count, choice.parallel) == (16, Parallel(tp=8, dp=2))


def test_a_share_by_memory_has_no_shorthand() -> None:
    requirement = Requirement.parse({"class": "gpu", "share": {"memory": ">=10GB", "mode": "mps"}})
    assert requirement.choices[0].share_memory_mib == 10240
    assert str(requirement) == '{"choices":[{"accelerator_class":"gpu","share_memory_mib":10240,"share_mode":"mps"}]}'
    assert Requirement.parse(str(requirement)) == requirement


def test_groups_are_further_devices_of_one_choice() -> None:
    requirement = Requirement.parse({"class": "gpu", "groups": ["npu:2 >=60GB"], "nearness": "switch"})
    assert requirement.choices[0].groups == Requirement.parse("npu:2 >=60GB").choices
    assert Requirement.parse(str(requirement)) == requirement


def test_weights_shrink_with_their_precision_and_activations_do_not() -> None:
    footprint = Footprint.model_validate({"weights": "140GB@bf16", "activations": "24GB"})
    assert footprint.total_mib() == 164 * 1024
    assert footprint.total_mib("int8") == (70 + 24) * 1024
    assert footprint.total_mib("fp32") == (280 + 24) * 1024
