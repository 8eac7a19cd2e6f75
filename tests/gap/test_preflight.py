import pytest

from hetero_ops.gap.preflight import device_verdict, verdict

R535 = {"nvidia": "535.104.05", "cuda": "12.2"}
R570 = {"nvidia": "570.86.15", "cuda": "12.8"}
R580 = {"nvidia": "580.65.06", "cuda": "13.0"}

CUDA = [
    ("12.8", R535, "ok-reduced"),
    ("12.8", {"nvidia": "535.104.05"}, "ok-reduced"),
    ("12.8", {"nvidia": "535"}, "ok-reduced"),
    ("13.0", R570, "fail"),
    ("13.0", {"nvidia": "570.86.15"}, "fail"),
    ("12.8", {}, "unknown"),
    ("12.8", {"cuda": "13.0"}, "unknown"),
    ("12.8", {"amd": "6.10.5"}, "unknown"),
    ("12.8", {"nvidia": "newest"}, "unknown"),
    ("latest", R580, "unknown"),
    ("12.8", R570, "ok"),
    ("12.8.1", R570, "ok"),
    ("12.9", R570, "ok-reduced"),
    ("12.2", R535, "ok"),
    ("12", R535, "ok-reduced"),
    ("12", R580, "ok"),
    ("12.8", R580, "ok"),
    ("12.8", {"nvidia": "580.65.06"}, "ok"),
    ("12.8", R580 | {"cuda": "none"}, "ok"),
    ("12.8", {"nvidia": "580.65.06", "cuda": "12.2"}, "ok-reduced"),
    ("12.0", {"nvidia": "520.61.05", "cuda": "11.8"}, "fail"),
    ("11.8", {"nvidia": "450.80.02", "cuda": "11.0"}, "ok-reduced"),
    ("11.8", {"nvidia": "450.80.01"}, "fail"),
    ("11.8", {"nvidia": "450"}, "unknown"),
    ("10.2", {"nvidia": "440.33.01"}, "unknown"),
    ("10.2", {"nvidia": "470.57.02"}, "ok"),
    ("14.0", {"nvidia": "640.10.01"}, "unknown"),
    ("14.0", {"nvidia": "640.10.01", "cuda": "14.1"}, "ok"),
]
ROCM = [
    ("6.2", {"amd": "6.10.5"}, "unknown"),
    ("6.2", {"amd": "6.10.5", "rocm-kernel": "6.3"}, "ok"),
    ("6.2.4", {"rocm-kernel": "6.3.1"}, "ok"),
    ("6.0", {"rocm-kernel": "6.3"}, "fail"),
    ("6.3", {"rocm-kernel": "6.0"}, "fail"),
    ("5.7", {"rocm-kernel": "6.1"}, "ok"),
    ("6.4", {"rocm-kernel": "6.4"}, "unknown"),
    ("6.2", {"rocm-kernel": "mainline"}, "unknown"),
    ("7.0", {"amdgpu": "30.30.2"}, "ok"),
    ("7.2.1", {"amd": "30.30.3"}, "ok"),
    ("6.2", {"amdgpu": "30.30.2"}, "unknown"),
    ("7.0", {"amdgpu": "30.30.1"}, "unknown"),
    ("7", {"amdgpu": "30.30.2"}, "unknown"),
    ("6.2", {}, "unknown"),
]
OTHERS = [
    ("cann", "8.5.0.alpha001", {"huawei": "25.2.0"}, "ok"),
    ("cann", "8.5.0.alpha001", {"huawei": "25.5.0"}, "fail"),
    ("cann", "8.5.0.alpha001", {"huawei": "25"}, "unknown"),
    ("cann", "8.5.0", {"huawei": "25.5.1"}, "ok"),
    ("cann", "8.5.0", {"huawei": "25.2.0"}, "unknown"),
    ("cann", "9.0.0", {"huawei": "25.5.0"}, "unknown"),
    ("cann", "8.5.0", {}, "unknown"),
    ("gaudi", "1.23.0", {"habana": "1.23.0-695"}, "ok"),
    ("gaudi", "1.23.0", {"habana": "1.22.0-740"}, "unknown"),
    ("gaudi", "1.23", {"habana": "1.23.0"}, "unknown"),
    ("gaudi", "1.23.0", {}, "unknown"),
    ("oneapi", "2025.1", {"intel": "1.6"}, "unknown"),
    ("CUDA", "12.8", R570, "ok"),
]


@pytest.mark.parametrize(("version", "driver", "expected"), CUDA)
def test_cuda(version, driver, expected):
    assert verdict("cuda", version, driver).verdict == expected


@pytest.mark.parametrize(("version", "driver", "expected"), ROCM)
def test_rocm(version, driver, expected):
    assert verdict("rocm", version, driver).verdict == expected


@pytest.mark.parametrize(("toolkit", "version", "driver", "expected"), OTHERS)
def test_other_toolkits(toolkit, version, driver, expected):
    assert verdict(toolkit, version, driver).verdict == expected


@pytest.mark.parametrize(
    ("sku", "driver", "expected"),
    [
        ("MLU370-X8", {"cambricon": "4.20.8"}, "fail"),
        ("MLU370-X8", {"cambricon": "4.20.9"}, "unknown"),
        ("MLU590", {"cambricon": "4.20.9"}, "fail"),
        ("MLU590", {}, "unknown"),
        (None, {"cambricon": "4.20.8"}, "unknown"),
    ],
)
def test_neuware_knows_only_which_driver_is_too_old(sku, driver, expected):
    assert verdict("neuware", "1.0", driver, sku=sku).verdict == expected


@pytest.mark.parametrize(
    ("feature", "sku", "driver", "expected"),
    [
        ("mig", "H200-SXM-141GB", {"nvidia": "535.104.05"}, "fail"),
        ("mig", "H200-SXM-141GB", {"nvidia": "550.54.14"}, "ok"),
        ("mig", "A100-SXM4-40GB", {"nvidia": "450.80.02"}, "ok"),
        ("mig", "GB300-279GB", {"nvidia": "580.65.06"}, "fail"),
        ("mig", "A800-SXM4-80GB", {"nvidia": "570.86.15"}, "unknown"),
        ("mig", "H200-SXM-141GB", {}, "unknown"),
        ("smlu", "MLU590", {"cambricon": "5.10.26"}, "fail"),
        ("smlu", "MLU590", {"cambricon": "5.10"}, "unknown"),
    ],
)
def test_features_of_devices(feature, sku, driver, expected):
    assert device_verdict(feature, sku, driver).verdict == expected


def test_the_answer_says_what_was_wanted_and_found_and_why():
    answer = verdict("cuda", "13.0", R570)
    assert (answer.toolkit, answer.wanted, answer.found) == ("cuda", "13.0", "570.86.15")
    assert answer.why == "CUDA 13 needs driver 580 or newer"
    assert answer.source == "NVIDIA CUDA Compatibility, minor version compatibility"
    unknown = verdict("cuda", "13.0", {})
    assert (unknown.found, unknown.why) == (None, "the node states no driver version for nvidia")
    assert "no rule for oneapi; known are cuda, rocm" in verdict("oneapi", "1", {}).why
