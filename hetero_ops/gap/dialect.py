"""Resource keys of device plugins, as a person asks by them: each is a head of our own grammar.

Keys are matched whole: `nvidia.com/gpumem` is an amount, not devices.
"""

import re

_KEY = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]+/[A-Za-z0-9._+-]+")
_HEADS = {
    "nvidia.com/gpu": "nvidia:gpu",
    "amd.com/gpu": "amd:gpu",
    "gpu.intel.com/i915": "intel:gpu",
    "gpu.intel.com/xe": "intel:gpu",
    "npu.intel.com/accel": "intel:npu",
    "habana.ai/gaudi": "intel:npu",
    "intel.com/gaudi": "intel:npu",
    "huawei.com/npu": "huawei:npu",
    "huawei.com/Ascend910": "huawei:npu",
    "huawei.com/Ascend310": "huawei:npu",
    "huawei.com/Ascend310P": "huawei:npu",
    "huawei.com/Ascend910A": "huawei/910A",
    "huawei.com/Ascend910B2": "huawei/910B2",
    "huawei.com/Ascend910B3": "huawei/910B3",
    "huawei.com/Ascend910B4": "huawei/910B4",
    "huawei.com/Ascend910C": "huawei/910C",
    "cambricon.com/mlu": "cambricon:npu",
    "cambricon.com/mlu370": "cambricon/MLU370",
    "cambricon.com/mlu590": "cambricon/MLU590",
    "google.com/tpu": "google:tpu",
    "aws.amazon.com/neuron": "aws:npu",
    "hygon.com/dcunum": "hygon:gpu",
    "iluvatar.com/gpu": "iluvatar:gpu",
    "mthreads.com/vgpu": "moorethreads:gpu",
    "metax-tech.com/gpu": "metax:gpu",
    "qualcomm.com/qaic": "qualcomm:npu",
}
_PARTITIONS = (
    (re.compile(r"nvidia\.com/mig-(?P<partition>[0-9]g\.[0-9]+gb)(?:\.shared)?"), "nvidia"),
    (re.compile(r"amd\.com/(?P<partition>[a-z]+_nps[0-9])"), "amd"),
)


def is_resource_key(text: str) -> bool:
    """Whether this looks like an extended resource: a domain, a slash and a name."""
    return _KEY.fullmatch(text) is not None


def head_of_resource(key: str) -> str | None:
    """The head that asks for what a resource key counts; `None` when that is no device."""
    for pattern, vendor in _PARTITIONS:
        if match := pattern.fullmatch(key):
            whole = match["partition"].startswith("spx_")
            return f"{vendor}:gpu" if whole else f"{vendor}/*/{match['partition']}"
    return _HEADS.get(key)
