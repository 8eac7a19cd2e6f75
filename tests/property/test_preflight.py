"""Nothing unknown is ok, and a newer driver is never worse."""

from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.gap.preflight import device_verdict, verdict
from hetero_ops.gap.version import parse_version

WORST_FIRST = ("fail", "unknown", "ok-reduced", "ok")
TOOLKITS = st.sampled_from(["cuda", "rocm", "cann", "gaudi", "neuware", "oneapi"])
KEYS = st.sampled_from(["nvidia", "cuda", "amd", "amdgpu", "rocm-kernel", "huawei", "habana", "cambricon"])
NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
VERSIONS = NUMBERS | st.sampled_from(["12.8", "13.0", "6.2", "7.0", "8.5.0", "8.5.0.alpha001", "1.23.0", "12", "14.1"])
TEXTS = st.text(max_size=12) | VERSIONS
UNREADABLE = TEXTS.filter(lambda text: parse_version(text) is None)
DRIVERS = st.tuples(
    st.one_of(st.integers(400, 700), st.sampled_from([450, 525, 580])), st.integers(0, 90), st.integers(0, 9)
)
CEILINGS = st.none() | st.sampled_from(["11.4", "12.2", "12.8", "13.0", "junk"])


@given(TOOLKITS, TEXTS, st.dictionaries(KEYS, UNREADABLE), st.none() | st.sampled_from(["MLU590", "MI300X"]))
def test_without_a_driver_that_reads_nothing_is_ok(toolkit, version, driver, sku):
    assert verdict(toolkit, version, driver, sku=sku).verdict == "unknown"


@given(TOOLKITS, UNREADABLE, st.dictionaries(KEYS, VERSIONS))
def test_without_a_version_that_reads_nothing_is_ok(toolkit, version, driver):
    assert verdict(toolkit, version, driver).verdict == "unknown"


@given(TOOLKITS, TEXTS, st.dictionaries(KEYS, TEXTS))
def test_whatever_is_asked_there_is_an_answer_and_ok_has_a_source(toolkit, version, driver):
    answer = verdict(toolkit, version, driver)
    assert answer.why
    if answer.verdict != "unknown":
        assert answer.source
        assert answer.found in driver.values()


@given(VERSIONS, DRIVERS, DRIVERS, CEILINGS)
def test_a_newer_driver_is_never_worse(version, one, other, ceiling):
    older, newer = sorted((one, other))
    cuda = {} if ceiling is None else {"cuda": ceiling}
    ranks = [
        WORST_FIRST.index(verdict("cuda", version, {"nvidia": "{}.{}.{:02}".format(*driver), **cuda}).verdict)
        for driver in (older, newer)
    ]
    assert ranks == sorted(ranks)


@given(st.sampled_from(["A30", "H200-SXM-141GB", "GB300-279GB", "GH200-96GB"]), DRIVERS, DRIVERS)
def test_a_newer_driver_never_loses_mig(sku, one, other):
    older, newer = sorted((one, other))
    ranks = [
        WORST_FIRST.index(device_verdict("mig", sku, {"nvidia": "{}.{}.{}".format(*driver)}).verdict)
        for driver in (older, newer)
    ]
    assert ranks == sorted(ranks)
