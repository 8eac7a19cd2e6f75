import pickle
import time

import pytest
from pydantic import ValidationError

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.choice import Choice, ModelName, Precision
from hetero_ops.gap.requirement import Requirement

CANONICAL = [
    ("H100:8", "H100:8"),
    ("H100", "H100"),
    ("H100:1", "H100"),
    ("8:GPU", "gpu:8"),
    ("gpu:8 @>=80GiB fp8 nvlink", "gpu:8 >=80GB fp8 nvlink"),
    ("\tgpu:8   nvlink fp8\t>=80GB ", "gpu:8 >=80GB fp8 nvlink"),
    ("A100,A10G", "A100,A10G"),
    ("amd/*:8", "amd/*:8"),
    ("amd/MI300X,nvidia/H100:4", "amd/MI300X,nvidia/H100:4"),
    ("H100/1g.10gb:2", "H100/1g.10gb:2"),
    ("nvidia/H100/1g.10gb", "nvidia/H100/1g.10gb"),
    ("gpu:0.25 >=10GB", "gpu:0.25 >=10GB"),
    ("gpu:0.500", "gpu:0.5"),
    ("80GB+:8", "80GB+:8"),
    ("nvidia:80GB+:8", "nvidia:8 >=80GB"),
    ("nvidia:H100:80GB:8", "nvidia:H100:80GB:8"),
    ("24GB..80GB:2", "24GB..80GB:2"),
    ("gpu:..80GB where >=24GB", "gpu:24GB..80GB"),
    ("gpu:24GB..", "gpu >=24GB"),
    ("cpu:16", "cpu:16"),
    ("910B3:8", "910B3:8"),
    ("gpu int8 fp64 bf16:any fp8:weight", "gpu fp64 bf16:any fp8:weight int8"),
    ("gpu fp8:native", "gpu fp8"),
    ("gpu bw>=3TB/s compute>=400.50 usable>=79GiB", "gpu usable>=79GB compute>=400.5 bw>=3TB/s"),
    ("gpu link>=600GB/s fabric", "gpu fabric link>=600GB/s"),
    ("H100:8|MI300X:8 where >=80GB fp8 fabric", "H100:8 | MI300X:8 where >=80GB fp8 fabric"),
    ("H100:8 >=80GB fp8 | MI300X:8 fp8 >=80GB", "H100:8 | MI300X:8 where >=80GB fp8"),
    ("A100:8 int8 | H100 where fp8 fabric", "A100:8 int8 | H100 fp8 where fabric"),
    ("A100:40GB | H100 where >=80GB", "A100:40GB | H100 >=80GB"),
    ('{"choices": [{"names": [{"name": "H100"}], "count": 8}]}', "H100:8"),
    ("gpu:4..8", "gpu:4..8"),
    ("gpu:4..4", "gpu:4"),
    ("H100!:8", "H100!:8"),
    ("H100/1g.10gb!:2", "H100/1g.10gb!:2"),
    ("B200+:8", "B200+:8"),
    ("tier-a:8", "tier-a:8"),
    ("nvidia/*/1g.10gb:2", "nvidia/*/1g.10gb:2"),
    (
        "H100:8 | MI300X:8 perf>=0.90 | A100:8 quant=int8 where >=80GB fp8 fabric",
        "H100:8 | MI300X:8 perf>=0.9 | A100:8 quant=int8 where >=80GB fp8 fabric",
    ),
    ("gpu:0.25 >=10GB share=mps", "gpu:0.25 >=10GB share=mps"),
    ("npu:2 >=60GB bf16 numa=require", "npu:2 >=60GB bf16 numa=require"),
    ("gpu:8 cost<=60/h power<=5600W", "gpu:8 power<=5600W cost<=60/h"),
    ("gpu cost<=2.5 power<=5.6kW", "gpu power<=5600W cost<=2.5/h"),
    ("gpu:16 nodes=2 rdma wait=1800s", "gpu:16 rdma nodes=2 wait=30m"),
    ("gpu:16 ib nodes=1..2", "gpu:16 ib nodes=1..2"),
    ("H100 | MI300X where confidential mem=HBM", "H100 | MI300X where confidential mem=hbm"),
    ("gpu units=2.50 kind=training min_precision=int8", "gpu units=2.5 min_precision=int8 kind=training"),
    ("gpu impact=10% slo=throughput:50,latency:0.2s", "gpu impact=10% slo=latency:200ms,throughput:50"),
    ("gpu impact=0.1 min_score=60 batch=scale", "gpu batch=scale impact=10% min_score=60"),
    ("gpu runtime=nccl/rccl,cudnn|npu where driver>=570", "gpu runtime=cudnn,nccl/rccl | npu where driver>=570"),
    ("gpu label=zone:b,rack:r1 cluster=west region=eu-1", "gpu cluster=west region=eu-1 label=rack:r1,zone:b"),
    ("gpu data=s3://eu-data compliance=gdpr,hipaa", "gpu compliance=gdpr,hipaa data=s3://eu-data"),
    ("gpu image=registry/train:rocm", "gpu image=registry/train:rocm"),
    ("--gres=gpu:h100:8", "gpu:h100:8"),
    ("nvidia.com/gpu:8", "gpu:nvidia:8"),
    ("nvidia.com/mig-1g.10gb:2", "nvidia/*/1g.10gb:2"),
    ("huawei.com/Ascend910B3:8", "huawei/910B3:8"),
    ("NVIDIA_H100_80GB:2", "NVIDIA_H100_80GB:2"),
    ('{"choices":[{"names":[{"name":"RTX 4090"}]}]}', '{"choices":[{"names":[{"name":"RTX 4090"}]}]}'),
]

REFUSED = [
    ("", "empty choice at character 1"),
    ("   ", "empty choice at character 4"),
    ("|", "empty choice at character 1"),
    ("H100 | ", "empty choice at character 8"),
    ("H100 || A100", "empty choice at character 7"),
    ("where fp8", "empty choice at character 1"),
    ("gpu where", "nothing after 'where' at character 10"),
    ("gpu where fp8 | npu", "'|' after 'where' at character 15"),
    ("gpu where fp8 where bf16", "'where' after 'where' at character 15"),
    ("H100:8:4", "second count '4' at character 8"),
    ("gpu:npu", "second class 'npu' at character 5"),
    ("nvidia:amd", "second vendor 'amd' at character 8"),
    ("80GB:24GB+", "second memory size '24GB+' at character 6"),
    ("H100:A100", "second name list 'A100' at character 6"),
    ("A100,:1", "empty name at character 6"),
    ("A100, A10G", "empty name at character 6"),
    ("gpu::8", "empty part at character 5"),
    ("8", "says how many but not of what; write gpu:8"),
    ("gpu:8 80 GB", "stray '80' at character 7"),
    ("gpu:8 80GB", "stray '80GB' at character 7"),
    ("gpu:0", "count '0' at character 5; write 1 to 65536"),
    ("gpu:65537", "count '65537'"),
    ("gpu:1" + "0" * 20, "write 1 to 65536"),
    ("gpu:-1", "count '-1'"),
    ("gpu:nan", "count 'nan'"),
    ("gpu:inf", "count 'inf'"),
    ("gpu:1.5", "count '1.5'"),
    ("gpu:0.0001", "from 0.001 to 0.999"),
    ("gpu:0.000", "from 0.001 to 0.999"),
    ("gpu:1e3", "count '1e3'"),
    ("gpu:..", "open range"),
    ("gpu:8..4", "count range '8..4' at character 5; write the smaller count first"),
    ("gpu:4..", "open count range '4..' at character 5; write both ends, as in 4..8"),
    ("gpu:0..4", "count '0' at character 5"),
    ("gpu:4..8 units=2", "units stand instead of a count"),
    ("gpu perf<=0.9", "write it with >=, as in perf>=0.9"),
    ("gpu perf", "word 'perf' at character 5 needs a value; write it as perf>=0.9"),
    ("gpu perf>=0", "performance floor at character 5: '0' is not a positive number"),
    ("gpu wait=30", "'30' is not a time; write a number and a unit, such as 30m"),
    ("gpu wait=200ms", "'200ms' is not a whole number of seconds"),
    ("gpu wait=9999d", "is too large"),
    ("gpu quant=int9", "'int9' is none of fp64"),
    ("gpu share=mig,mps", "'mig,mps' is none of exclusive, mig"),
    ("gpu:0.5 share=exclusive", "a share of a device is not exclusive"),
    ("gpu nodes=2..1", "'2..1' is no range of nodes"),
    ("gpu nodes=0", "'0' is no range of nodes"),
    ("gpu power<=5600", "'5600' is not a power; write a number and a unit, such as 5600W"),
    ("gpu cost<=free", "'free' is not a positive number"),
    ("gpu driver>=new", "'new' is no version"),
    ("gpu runtime=", "'' is no list of libraries"),
    ("gpu kind=train", "'train' is none of training"),
    ("gpu impact=100%", "is no loss from 0.1% to 99.9%"),
    ("gpu slo=jitter:2ms", "'jitter:2ms' is no target"),
    ("gpu min_score=0", "'0' is no score"),
    ("gpu min_score=101", "'101' is no score"),
    ("gpu :8", "unknown word ':8' at character 5"),
    ("A100:80GB:0.5", "the share alone has the memory of the largest device allowed"),
    ("gpu quant=int4 min_precision=int8", "quant=int4 is below min_precision=int8"),
    ("gpu label=rack", "'rack' is no label; write KEY:VALUE"),
    ("gpu label=rack:a,rack:b", "each key once"),
    ("gpu data=", "'' is no list"),
    ('gpu image="x"', "is not plain text"),
    ("*!", "is not a name"),
    ("amd/*!", "is not a name"),
    ("nvidia.com/gpumem:1", "'nvidia.com/gpumem' at character 1 is no resource key that names devices"),
    ("80GB..24GB", "the memory floor is above the ceiling"),
    ("gpu:\uff18", "'\uff18' at character 5 is not a name"),
    ("gpu:8\n", "unprintable character U+000A at character 6"),
    ("gpu:8\u200b", "unprintable character U+200B at character 6"),
    ("gpu\u00a0fp8", "unprintable character U+00A0 at character 4"),
    ("H100\ud800", "unprintable character U+D800 at character 5"),
    ("gpu:8 fabrik", "unknown word 'fabrik' at character 7; did you mean 'fabric'?"),
    ("gpu:8 FP8", "unknown word 'FP8' at character 7; did you mean 'fp8'?"),
    ("gpu foo=bar", "unknown word 'foo' at character 5; write words such as"),
    ("gpu fp8 fp8", "second fp8 'fp8' at character 9"),
    ("gpu fp8:soft", "fp8 can be fp8:native, fp8:weight or fp8:any"),
    ("gpu nvlink fabric", "second link word 'fabric' at character 12"),
    ("gpu >=80GB >=40GB", "second memory floor '>=40GB' at character 12"),
    ("80GB+:8 >=40GB", "two memory floors in the choice at character 1"),
    ("gpu <=80GB", "or a ceiling in the head as ..80GB"),
    ("gpu link=600GB/s", "write it with >=, as in link>=600GB/s"),
    ("gpu >=0GB", "'0GB' is zero"),
    ("gpu >=nanGB", "is not a memory size"),
    ("gpu compute>=inf", "is not a rate in TFLOPS"),
    ("gpu compute>=0", "is not a rate in TFLOPS"),
    ("fp8", "'fp8' at character 1 is a word, not a device"),
    ("gpu:0.5 fabric", "has no link"),
    ("H100 | cpu:4 where nvlink", "choice at character 8: a share of a device or a cpu has no link"),
    ("gpu:0.5 link>=1GB/s", "has no link"),
    ("cpu:0.5", "write whole cores"),
    ("A100,A100", "the same name twice"),
    ("nvidia:amd/MI300X", "a name of another vendor"),
    ("nvidea/H100", "vendor such as 'nvidia'"),
    ("a/b/c", "is not a partition"),
    ("*", "is not a name"),
    ("A100,80GB", "stands where a model name must"),
    ("|".join(["gpu"] * 17), "17 choices are too many; write at most 16"),
    ('{"choices": []}', "choices: "),
    ('{"choices": [{}]}', "nothing is asked for"),
    ('{"choices": [{"nmes": []}]}', "unknown key 'nmes'; did you mean 'names'?"),
    ('{"choices": [{"count": 1, "count": 2}]}', "key 'count' twice"),
    ('{"choices": [{"vendor": "amd", "count": true}]}', "choices[0].count"),
    ('{"choices": [{"vendor": "amd", "compute_floor_tflops": NaN}]}', "finite"),
    ('{"choices": [{"vendor": "amd", "count": ' + "9" * 5000 + "}]}", "a number is too long"),
    ("{", "not JSON"),
    ("{" * 60_000, "nested more than 10 levels"),
    ("[" * 2_000_000, "too long; write at most 65536 characters"),
    ("g" * 2_000_000, "too long; write at most 4096 characters"),
    ("{" * 2_000_000, "too long; write at most 65536 characters"),
    ('{"' + "\\" * 65_000, "not JSON"),
    (",".join(f"a{number}" for number in range(17)), "17 names at character 1 are too many; write at most 16"),
    ("a,b,", "empty name at character 5"),
    ("a," * 2000, "2001 names at character 1 are too many"),
    ("gpu " + "x" * 4000, "unknown word"),
]


@pytest.mark.parametrize(("text", "canonical"), CANONICAL)
def test_a_requirement_prints_in_one_canonical_way(text: str, canonical: str) -> None:
    requirement = Requirement.parse(text)
    assert str(requirement) == canonical
    assert Requirement.parse(canonical) == requirement


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_wrong_is_refused_at_once_with_place_and_fix(text: str, message: str) -> None:
    began = time.perf_counter()
    with pytest.raises(InvalidRequirement) as refused:
        Requirement.parse(text)
    assert time.perf_counter() - began < 0.5
    assert message in str(refused.value)
    assert len(str(refused.value)) < 300


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidRequirement, match="set is no form of a requirement"):
        Requirement.parse({"H100"})


def test_a_requirement_parses_to_itself() -> None:
    requirement = Requirement.parse("H100:8")
    assert Requirement.parse(requirement) is requirement


def test_all_fields_of_a_choice_are_read() -> None:
    (choice,) = Requirement.parse(
        "gpu:nvidia:H100,A100/1g.10gb:40GB..80GB:4 "
        "usable>=39GB fp8:any bf16 fabric link>=600GB/s compute>=400 bw>=2TB/s"
    ).choices
    assert choice == Choice(
        names=(ModelName(name="H100"), ModelName(name="A100", partition="1g.10gb")),
        accelerator_class="gpu",
        vendor="nvidia",
        count=4,
        memory_floor_mib=40 * 1024,
        memory_ceiling_mib=80 * 1024,
        usable_floor_mib=39 * 1024,
        precisions=(Precision(word="bf16"), Precision(word="fp8", support="any")),
        link="fabric",
        link_floor_mbps=600_000,
        compute_floor_tflops=400,
        bandwidth_floor_mbps=2_000_000,
    )


def test_the_share_is_in_thousandths_of_one_device() -> None:
    (choice,) = Requirement.parse("gpu:0.25").choices
    assert (choice.count, choice.share_milli) == (1, 250)


def test_an_exact_size_is_floor_and_ceiling() -> None:
    (choice,) = Requirement.parse("A100:80GB").choices
    assert choice.memory_floor_mib == choice.memory_ceiling_mib == 81920


def test_a_word_of_a_choice_replaces_the_common_word_of_its_kind() -> None:
    own, common = Requirement.parse("A100 int8 xgmi >=40GB | H100 where fp8 bf16 fabric >=80GB bw>=2TB/s").choices
    assert own == Requirement.parse("A100 int8 xgmi >=40GB bw>=2TB/s").choices[0]
    assert common == Requirement.parse("H100 fp8 bf16 fabric >=80GB bw>=2TB/s").choices[0]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("H100:8 fp8", "H100"),
        ("gpu:0.5", "gpu"),
        ("A100,A10G:2 >=24GB", "A100,A10G"),
        ("amd/*:8", "amd/*"),
        ("80GB+:8", "80GB+"),
    ],
)
def test_the_label_is_the_head_without_the_count(text: str, label: str) -> None:
    assert Requirement.parse(text).choices[0].label == label


def test_a_model_built_by_hand_is_checked_as_well() -> None:
    with pytest.raises(ValidationError, match="a share is of one device"):
        Choice(accelerator_class="gpu", count=2, share_milli=500)
    with pytest.raises(ValidationError, match="needs a vendor"):
        ModelName(name="*")
    with pytest.raises(ValidationError, match="frozen"):
        Requirement.parse("gpu").choices = ()  # type: ignore[misc]


def test_a_changed_copy_prints_and_hashes_anew() -> None:
    requirement = Requirement.parse("H100:8")
    assert str(requirement) == "H100:8"
    changed = requirement.model_copy(update={"choices": Requirement.parse("A100").choices})
    assert str(changed) == "A100"
    with pytest.raises(ValidationError):
        requirement.model_copy(update={"choices": ()})


def test_equal_requirements_hash_alike_and_survive_pickling() -> None:
    requirement = Requirement.parse("H100:8 | A100 where fp8")
    twin = Requirement.parse("H100:8 fp8|A100 fp8")
    assert (requirement, hash(requirement)) == (twin, hash(twin))
    assert pickle.loads(pickle.dumps(requirement)) == requirement  # noqa: S301 - our own bytes
