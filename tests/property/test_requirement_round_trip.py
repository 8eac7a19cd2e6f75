from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.requirement import Choice, ModelName, Precision, Requirement
from hetero_ops.gap.words import ASKED_CLASSES, ASKED_SUPPORTS, LINKS, PRECISIONS, VENDORS
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


@st.composite
def model_names(draw: st.DrawFn, vendor: str | None) -> ModelName:
    vendors = st.sampled_from([None, vendor] if vendor else [None, *VENDORS])
    return ModelName.model_validate(
        {"vendor": draw(vendors), "name": draw(PLAIN_NAMES | ODD_NAMES), "partition": draw(PARTITIONS)}
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
    return Choice.model_validate(
        {
            "names": names,
            "accelerator_class": accelerator_class,
            "vendor": vendor,
            "count": 1 if is_share else draw(st.integers(1, 65536)),
            "share_milli": draw(st.integers(1, 999)) if is_share else 1000,
            "memory_floor_mib": floor,
            "memory_ceiling_mib": ceiling,
            "usable_floor_mib": draw(MEMORY_MIB),
            "precisions": [
                Precision(word=word, support=draw(st.sampled_from(ASKED_SUPPORTS)))
                for word in draw(st.lists(st.sampled_from(PRECISIONS), max_size=3, unique=True))
            ],
            "link": None if has_no_link else draw(st.sampled_from([None, *LINKS])),
            "link_floor_mbps": None if has_no_link else draw(BANDWIDTH_MBPS),
            "compute_floor_tflops": draw(TFLOPS),
            "bandwidth_floor_mbps": draw(BANDWIDTH_MBPS),
        }
    )


REQUIREMENTS = st.lists(choices(), min_size=1, max_size=4).map(lambda found: Requirement(choices=tuple(found)))
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
    plain = choice.model_copy(update={"names": (ModelName(name="H100"),), "compute_floor_tflops": None})
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
