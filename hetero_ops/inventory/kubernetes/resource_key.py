"""Which extended resources are devices, which are amounts on a device, and which are neither.

Keys are matched whole, never as prefixes: `nvidia.com/gpumem` is not `nvidia.com/gpu`. Sources: the READMEs of the
device plugins of the vendors, and the chart of Project-HAMi for its own names.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResourceKey:
    """An extended resource whose units are devices, or shares of devices.

    Attributes:
        vendor: as in the catalog.
        accelerator_class: as in the catalog.
        chip: the product that the key itself names, if it does.
        partition: what each unit is where it is no whole device: nobody tells how many of them a card gives.
        instead_of: another key for the same silicon; when a node offers that one, this one is not counted again.
    """

    vendor: str
    accelerator_class: str
    chip: str | None = None
    partition: str | None = None
    instead_of: str | None = None


# NVIDIA, AMD, Intel GPU, Ascend and Cambricon have readers of their own: they say more than one row can.
RESOURCE_KEYS: dict[str, ResourceKey] = {
    "npu.intel.com/accel": ResourceKey("intel", "npu"),
    "habana.ai/gaudi": ResourceKey("intel", "npu"),
    "intel.com/gaudi": ResourceKey("intel", "npu", instead_of="habana.ai/gaudi"),
    "google.com/tpu": ResourceKey("google", "tpu"),
    "aws.amazon.com/neuron": ResourceKey("aws", "npu"),
    "aws.amazon.com/neuroncore": ResourceKey("aws", "npu", partition="neuroncore", instead_of="aws.amazon.com/neuron"),
    "hygon.com/dcu": ResourceKey("hygon", "gpu"),
    "hygon.com/dcunum": ResourceKey("hygon", "gpu", instead_of="hygon.com/dcu"),
    "dcu.com/gpu": ResourceKey("hygon", "gpu", instead_of="hygon.com/dcu"),
    "iluvatar.com/gpu": ResourceKey("iluvatar", "gpu"),
    "iluvatar.ai/MR-V100-vgpu": ResourceKey("iluvatar", "gpu", chip="MR-V100", partition="vgpu"),
    "iluvatar.ai/MR-V50-vgpu": ResourceKey("iluvatar", "gpu", chip="MR-V50", partition="vgpu"),
    "iluvatar.ai/BI-V100-vgpu": ResourceKey("iluvatar", "gpu", chip="BI-V100", partition="vgpu"),
    "iluvatar.ai/BI-V150-vgpu": ResourceKey("iluvatar", "gpu", chip="BI-V150", partition="vgpu"),
    "mthreads.com/gpu": ResourceKey("moorethreads", "gpu"),
    "mthreads.com/vgpu": ResourceKey("moorethreads", "gpu", partition="vgpu", instead_of="mthreads.com/gpu"),
    "metax-tech.com/gpu": ResourceKey("metax", "gpu"),
    "metax-tech.com/sgpu": ResourceKey("metax", "gpu", partition="sgpu", instead_of="metax-tech.com/gpu"),
    "kunlunxin.com/xpu": ResourceKey("kunlunxin", "npu"),
    "kunlunxin.com/vxpu": ResourceKey("kunlunxin", "npu", partition="vxpu", instead_of="kunlunxin.com/xpu"),
    "enflame.com/gcu": ResourceKey("enflame", "npu"),
    "enflame.com/drs-gcu": ResourceKey("enflame", "npu", partition="drs-gcu", instead_of="enflame.com/gcu"),
    "birentech.com/gpu": ResourceKey("biren", "gpu"),
    "vastaitech.com/va": ResourceKey("vastai", "npu"),
    "qualcomm.com/qaic": ResourceKey("qualcomm", "npu"),
}

# Amounts of something on a device (memory, cores, percent), and watchers of it: no devices themselves.
COMPANION_KEYS = frozenset(
    {
        *(f"nvidia.com/{name}" for name in ("gpumem", "gpumem-percentage", "gpucores", "priority")),
        *(f"amd.com/{name}" for name in ("gpumem", "gpucores")),
        *(f"gpu.intel.com/{name}" for name in ("monitoring", "i915_monitoring", "xe_monitoring")),
        *(f"huawei.com/{name}" for name in ("npu-core", "npu-cpu", "npu-dvpp")),
        *(f"hygon.com/{name}" for name in ("dcumem", "dcucores")),
        *(
            f"iluvatar.ai/{chip}.{what}"
            for chip in ("MR-V100", "MR-V50", "BI-V100", "BI-V150")
            for what in ("vCore", "vMem")
        ),
        *(f"mthreads.com/{name}" for name in ("sgpu-memory", "sgpu-core")),
        *(f"metax-tech.com/{name}" for name in ("vcore", "vmemory")),
        *(f"kunlunxin.com/{name}" for name in ("xpu-memory", "vxpu-memory")),
        *(f"enflame.com/{name}" for name in ("gcu-memory", "gcu-core")),
    }
)
# Domains of extended resources that are no accelerators.
OTHER_DOMAINS = frozenset(
    {"devices.kubevirt.io", "koordinator.sh", "openshift.io", "rdma", "smarter-devices", "vpc.amazonaws.com"}
)
