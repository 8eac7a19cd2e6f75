from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.choice import Choice, ModelName, Precision
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.words import (
    ASKED_CLASSES,
    ASKED_SUPPORTS,
    BATCH_WORDS,
    BOUND_WORDS,
    LINKS,
    MEMORY_KINDS,
    NIC_WORDS,
    NUMA_WORDS,
    PRECISIONS,
    RDMA_WORDS,
    STEP_KINDS,
    VENDORS,
)
from hetero_ops.units import MAX_BANDWIDTH_MBPS, MAX_MEMORY_MIB

PRINTABLE = "".join(character for character in map(chr, range(0x21, 0x7F)) if character not in '"\\[]{}')
PLAIN_NAMES = st.sampled_from(["H100", "A100-80GB", "910B3", "K100_AI", "MI300X", "Max-1550"])
ODD_NAMES = st.one_of(
    st.sampled_from(["gpu", "8", "80GB", "0.5", "fabric", "fp8", "where", "RTX 4090", "a:b", "a,b", "tier-a", "nan"]),
    st.text(PRINTABLE, min_size=1, max_size=12),
).filter(lambda name: name != "*")
PARTITIONS = st.sampled_from([None, "1g.10gb", "cpx_nps4", "1g.10gb+me"])
MEMORY_MIB = st.one_of(st.none(), st.sampled_from([24576, 81920, 1048576]), st.integers(1, MAX_MEMORY_MIB))
BANDWIDTH_MBPS = st.one_of(st.none(), st.sampled_from([600_000, 3_000_000]), st.integers(1, MAX_BANDWIDTH_MBPS))
TFLOPS = st.one_of(st.none(), st.integers(1, 10**6).map(float), st.floats(1e-6, 1e9))


MILLI = st.integers(1, 10**6)
TEXT = st.text(PRINTABLE, min_size=1, max_size=12)
TEXT_LISTS = st.lists(TEXT, max_size=3).map(tuple)
SOFTWARE = st.lists(st.sampled_from([("cudnn", "miopen"), ("nccl",), ("tensorrt",)]), max_size=3).map(tuple)
# Every word and key beyond the head, memory, precision, link and rates, but what a CPU or a share forbids.
MORE = st.fixed_dictionaries(
    {},
    optional={
        "memory_kind": st.sampled_from(MEMORY_KINDS),
        "rdma": st.sampled_from(RDMA_WORDS),
        "performance_floor_milli": MILLI,
        "quantize": st.sampled_from(PRECISIONS),
        "least_precision": st.sampled_from(PRECISIONS),
        "is_confidential": st.booleans(),
        "share_mode": st.sampled_from(["mig", "mps", "time-slice", "any"]),
        "isolation": st.sampled_from(["hard", "soft"]),
        "numa": st.sampled_from(NUMA_WORDS),
        "nic": st.sampled_from(NIC_WORDS),
        "bound": st.sampled_from(BOUND_WORDS),
        "nodes": st.tuples(st.integers(1, 4), st.integers(4, 8)),
        "spread": st.sampled_from(["none", "node", "rack", "power"]),
        "groups": st.just(({"accelerator_class": "npu", "count": 2},)),
        "power_ceiling_mw": MILLI,
        "may_cap_power": st.booleans(),
        "cost_ceiling_milli": MILLI,
        "driver_floor": st.sampled_from(["570", "580.65.06"]),
        "runtimes": SOFTWARE,
        "kind": st.sampled_from(STEP_KINDS),
        "batch": st.sampled_from(BATCH_WORDS),
        "impact_milli": st.integers(1, 999),
        "slo": st.sampled_from([(), (("latency", 200),), (("throughput", 50), ("latency", 1))]),
        "min_score": st.integers(1, 100),
        "wait_s": st.integers(1, 10**6),
        "clusters": TEXT_LISTS,
        "regions": TEXT_LISTS,
        "compliance": TEXT_LISTS,
        "data": TEXT_LISTS,
        "labels": st.lists(st.tuples(st.sampled_from(["rack", "zone", "a.b/c"]), st.just("r1")), max_size=2).map(tuple),
        "image": st.sampled_from(["registry/train:rocm", "train@sha256:0f"]),
        "env": st.lists(st.tuples(TEXT, st.text(max_size=8)), max_size=2).map(tuple),
        "args": st.lists(st.text(max_size=8), max_size=2).map(tuple),
    },
)
CONTRACTS = st.fixed_dictionaries(
    {},
    optional={
        "footprint": st.builds(dict, weights_mib=st.integers(1, 10**6), activations_mib=st.integers(0, 10**6)),
        "quantizable": st.lists(st.sampled_from(PRECISIONS), max_size=3).map(tuple),
        "checkpoint": st.builds(dict, dir=TEXT, every_s=st.integers(1, 10**6), grace_s=st.integers(1, 10**4)),
        "degrade": st.builds(dict, max_wait_s=st.integers(1, 10**6), preempt=st.sampled_from(["never", "lower"])),
        "cost_total_milli": MILLI,
        "currency": st.sampled_from(["EUR", "USD"]),
        "priority": st.integers(-100, 100),
        "preemptible": st.booleans(),
        "workload": TEXT,
        "team": TEXT,
    },
)


@st.composite
def model_names(draw: st.DrawFn, vendor: str | None) -> ModelName:
    vendors = st.sampled_from([None, vendor] if vendor else [None, *VENDORS])
    return ModelName.model_validate(
        {
            "vendor": draw(vendors),
            "name": draw(PLAIN_NAMES | ODD_NAMES),
            "partition": draw(PARTITIONS),
            "match": draw(st.sampled_from(["any", "exact", "newer"])),
        }
    )


@st.composite
def choices(draw: st.DrawFn) -> Choice:
    vendor = draw(st.sampled_from([None, *VENDORS]))
    accelerator_class = draw(st.sampled_from([None, *ASKED_CLASSES]))
    is_share = accelerator_class != "cpu" and draw(st.booleans())
    has_no_link = is_share or accelerator_class == "cpu"
    names = draw(
        st.lists(model_names(vendor), min_size=0 if vendor or accelerator_class else 1, max_size=3, unique=True)
    )
    floor, ceiling = draw(MEMORY_MIB), draw(MEMORY_MIB)
    if floor is not None and ceiling is not None and floor > ceiling:
        floor, ceiling = ceiling, floor
    more = draw(MORE)
    if more.get("share_mode") in {"mps", "time-slice"}:
        more.pop("isolation", None)
    if more.get("quantize") and more.get("least_precision"):
        more["least_precision"] = more["quantize"]
    if is_share and "share_mode" not in more and more.get("kind") == "training":
        more["share_mode"] = "any"
    return Choice.model_validate(
        {
            "names": names,
            "accelerator_class": accelerator_class,
            "vendor": vendor,
            "count": 1 if is_share else draw(st.integers(1, 65536)),
            "share_milli": draw(st.integers(1, 999)) if is_share else 1000,
            "memory_floor_mib": floor,
            "memory_ceiling_mib": None if is_share else ceiling,
            "usable_floor_mib": draw(MEMORY_MIB),
            "precisions": [
                Precision(word=word, support=draw(st.sampled_from(ASKED_SUPPORTS)))
                for word in draw(st.lists(st.sampled_from(PRECISIONS), max_size=3, unique=True))
            ],
            "link": None if has_no_link else draw(st.sampled_from([None, *LINKS])),
            "link_floor_mbps": None if has_no_link else draw(BANDWIDTH_MBPS),
            "compute_floor_tflops": draw(TFLOPS),
            "bandwidth_floor_mbps": draw(BANDWIDTH_MBPS),
            **more,
        }
    )


REQUIREMENTS = st.builds(
    lambda found, contract: Requirement(choices=tuple(found), **contract),
    st.lists(choices(), min_size=1, max_size=4),
    st.just({}) | CONTRACTS,
)
PARTS = (
    "H100 gpu cpu nvidia amd/* : :: 8 0.25 , | || where >= 80GB 80GB+ .. fp8 fp8:any fabric link>=600GB/s bw>=3TB/s "
    'compute>=400 perf>=0.9 { } [ ] " \\ {"choices": "names" 99999999999999999999 nan -1 \u200b \u0661 / ! @'
)
FRAGMENTS = st.sampled_from(PARTS.split())
TEXTS = st.one_of(st.text(max_size=200), st.lists(FRAGMENTS | st.just(" "), max_size=40).map("".join))


@given(REQUIREMENTS)
def test_a_requirement_is_read_back_from_what_it_prints(requirement: Requirement) -> None:
    text = str(requirement)
    again = Requirement.parse(text)
    assert again == requirement
    assert str(again) == text
    assert hash(again) == hash(requirement)
    assert "\n" not in text


@given(choices())
def test_a_plain_choice_prints_as_shorthand(choice: Choice) -> None:
    # Rates of more than three decimals, odd names, and what only YAML has no word for.
    odd = ["compute_floor_tflops", "isolation", "groups", "may_cap_power", "env", "args"]
    odd += ["image", "clusters", "regions", "compliance", "data"]
    blank = Choice("H100")
    plain = choice.model_copy(
        update={"names": blank.names, "vendor": None, **{field: getattr(blank, field) for field in odd}}
    )
    assert not str(Requirement(choices=(plain,))).startswith("{")


@given(TEXTS)
@settings(deadline=timedelta(milliseconds=500))
def test_no_text_is_answered_by_anything_but_a_requirement_or_its_error(text: str) -> None:
    try:
        requirement = Requirement.parse(text)
    except InvalidRequirement as error:
        assert str(error).isprintable()  # noqa: PT017 - not raising is as good
        return
    assert Requirement.parse(str(requirement)) == requirement
