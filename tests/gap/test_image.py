import pytest

from hetero_ops.gap.image import wanted_toolkit

BRANDS = "brand=tesla,driver>=470,driver<471 brand=nvidia,driver>=470,driver<471"


@pytest.mark.parametrize(
    ("environment", "version", "variable"),
    [
        ({"CUDA_VERSION": "12.8.1", "NVIDIA_REQUIRE_CUDA": "cuda>=12.8"}, "12.8.1", "CUDA_VERSION"),
        ({"NVIDIA_REQUIRE_CUDA": f"cuda>=12.4 {BRANDS}"}, "12.4", "NVIDIA_REQUIRE_CUDA"),
        ({"CUDA_VERSION": "unknown", "NVIDIA_REQUIRE_CUDA": "cuda>=13.0"}, "13.0", "NVIDIA_REQUIRE_CUDA"),
    ],
)
def test_cuda_images_say_their_version(environment, version, variable):
    wanted = wanted_toolkit(environment)
    assert (wanted.toolkit, wanted.version, wanted.variable) == ("cuda", version, variable)


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"CUDA_VERSION": ""},
        {"NVIDIA_VISIBLE_DEVICES": "all"},
        {"NVIDIA_REQUIRE_CUDA": BRANDS},
        {"NVIDIA_REQUIRE_CUDA": "cuda>=12.4,driver>=525"},
        {"NVIDIA_REQUIRE_CUDA": "cuda>=11.8 cuda>=12.4"},
        {"NVIDIA_REQUIRE_CUDA": "cuda<13.0"},
    ],
)
def test_no_version_or_several_is_unknown(environment):
    assert wanted_toolkit(environment) is None
