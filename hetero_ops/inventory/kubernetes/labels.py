"""The one table of vendors here: which resource keys are devices, and which labels name their model.

Keys are matched whole, never as prefixes: `nvidia.com/gpumem` is not `nvidia.com/gpu`.
"""

from dataclasses import dataclass

# What a person wrote on the node comes last: discovery knows better than a label that nobody updates.
USER_MODEL_LABEL = "hetero-ops/product"

# Labels of clouds and plug-ins that name the model, in the order in which we believe them.
MODEL_LABELS: dict[str, tuple[str, ...]] = {
    "nvidia": (
        "cloud.google.com/gke-accelerator",
        "gpu.nvidia.com/class",
        "karpenter.k8s.aws/instance-gpu-name",
        "eks.amazonaws.com/instance-gpu-name",
    ),
    "huawei": ("node.kubernetes.io/npu.chip.name",),
    "google": ("cloud.google.com/gke-tpu-accelerator",),
    "aws": ("karpenter.k8s.aws/instance-accelerator-name",),
}

# Labels worth keeping in a fleet document: a placement selects nodes by them.
KEPT_LABELS = frozenset(
    {
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "node.kubernetes.io/instance-type",
        "nvidia.com/gpu.clique",
        "nvidia.com/gpu.family",
        "nvidia.com/gpu.product",
        "nvidia.com/mig.strategy",
        "amd.com/gpu.device-id",
        "amd.com/gpu.family",
        "amd.com/gpu.product-name",
        "beta.amd.com/gpu.device-id",
        "beta.amd.com/gpu.product-name",
        "feature.node.kubernetes.io/amd-gpu",
        "gpu.intel.com/family",
        "gpu.intel.com/product",
        "intel.feature.node.kubernetes.io/gaudi",
        "intel.feature.node.kubernetes.io/gpu",
        "intel.feature.node.kubernetes.io/npu",
        "accelerator",
        "accelerator-type",
        "cloud.google.com/gke-tpu-topology",
        USER_MODEL_LABEL,
        *(label for labels in MODEL_LABELS.values() for label in labels),
    }
)
KEPT_PREFIXES = ("topology.kubernetes.io/", "huawei.com/topotree.")


@dataclass(frozen=True, slots=True)
class ResourceKey:
    """An extended resource whose units are devices.

    Attributes:
        vendor: as in the catalog.
        accelerator_class: as in the catalog.
        chip: the product that the key itself names, if it does.
        instead_of: another key for the same silicon; when a node offers that one, this one is not counted again.
    """

    vendor: str
    accelerator_class: str
    chip: str | None = None
    instead_of: str | None = None


# NVIDIA, AMD and Intel GPU have readers of their own: their keys and labels say more than one row can.
RESOURCE_KEYS: dict[str, ResourceKey] = {
    "npu.intel.com/accel": ResourceKey("intel", "npu"),
    "habana.ai/gaudi": ResourceKey("intel", "npu"),
    "intel.com/gaudi": ResourceKey("intel", "npu", instead_of="habana.ai/gaudi"),
    "huawei.com/Ascend910": ResourceKey("huawei", "npu"),
    "huawei.com/Ascend310": ResourceKey("huawei", "npu"),
    "huawei.com/Ascend310P": ResourceKey("huawei", "npu"),
    "huawei.com/Ascend310P-V": ResourceKey("huawei", "npu"),
    "huawei.com/Ascend310P-VPro": ResourceKey("huawei", "npu"),
    "huawei.com/Ascend310P-IPro": ResourceKey("huawei", "npu"),
    "huawei.com/npu": ResourceKey("huawei", "npu"),
    "huawei.com/Ascend910A": ResourceKey("huawei", "npu", chip="910A"),
    "huawei.com/Ascend910B2": ResourceKey("huawei", "npu", chip="910B2"),
    "huawei.com/Ascend910B3": ResourceKey("huawei", "npu", chip="910B3"),
    "huawei.com/Ascend910B4": ResourceKey("huawei", "npu", chip="910B4"),
    "huawei.com/Ascend910B4-1": ResourceKey("huawei", "npu", chip="910B4-1"),
    "huawei.com/Ascend910C": ResourceKey("huawei", "npu", chip="910C"),
    "cambricon.com/mlu": ResourceKey("cambricon", "npu"),
    "cambricon.com/mlu370": ResourceKey("cambricon", "npu"),
    "cambricon.com/mlu590": ResourceKey("cambricon", "npu"),
    "google.com/tpu": ResourceKey("google", "tpu"),
    "aws.amazon.com/neuron": ResourceKey("aws", "npu"),
    "aws.amazon.com/neuroncore": ResourceKey("aws", "npu", instead_of="aws.amazon.com/neuron"),
    "hygon.com/dcu": ResourceKey("hygon", "gpu"),
    "hygon.com/dcunum": ResourceKey("hygon", "gpu"),
    "dcu.com/gpu": ResourceKey("hygon", "gpu"),
    "iluvatar.com/gpu": ResourceKey("iluvatar", "gpu"),
    "iluvatar.ai/MR-V100-vgpu": ResourceKey("iluvatar", "gpu", chip="MR-V100"),
    "iluvatar.ai/MR-V50-vgpu": ResourceKey("iluvatar", "gpu", chip="MR-V50"),
    "iluvatar.ai/BI-V100-vgpu": ResourceKey("iluvatar", "gpu", chip="BI-V100"),
    "iluvatar.ai/BI-V150-vgpu": ResourceKey("iluvatar", "gpu", chip="BI-V150"),
    "mthreads.com/gpu": ResourceKey("moorethreads", "gpu"),
    "mthreads.com/vgpu": ResourceKey("moorethreads", "gpu", instead_of="mthreads.com/gpu"),
    "metax-tech.com/gpu": ResourceKey("metax", "gpu"),
    "metax-tech.com/sgpu": ResourceKey("metax", "gpu", instead_of="metax-tech.com/gpu"),
    "kunlunxin.com/xpu": ResourceKey("kunlunxin", "npu"),
    "kunlunxin.com/vxpu": ResourceKey("kunlunxin", "npu", instead_of="kunlunxin.com/xpu"),
    "enflame.com/gcu": ResourceKey("enflame", "npu"),
    "enflame.com/drs-gcu": ResourceKey("enflame", "npu", instead_of="enflame.com/gcu"),
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
        *(f"{key}-{what}" for key in RESOURCE_KEYS if key.startswith("huawei.com/") for what in ("memory", "core")),
        *(f"cambricon.com/mlu.smlu.{name}" for name in ("vcore", "vmemory")),
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
