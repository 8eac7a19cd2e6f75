"""Labels of a node that name the model of its accelerators, in the order in which we believe them.

The vendor's own discovery comes first (its reader knows it), then what a cloud or a plug-in wrote, then a name inside
of the instance type, then what a person wrote: discovery knows better than a label that nobody updates.
"""

import re

USER_MODEL_LABEL = "hetero-ops/product"
INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"

# Of clouds and plug-ins. AWS uses a key of its own for each way to run nodes (EKS guide).
MODEL_LABELS: dict[str, tuple[str, ...]] = {
    "nvidia": (
        "cloud.google.com/gke-accelerator",
        "gpu.nvidia.com/class",
        "karpenter.k8s.aws/instance-gpu-name",
        "eks.amazonaws.com/instance-gpu-name",
    ),
    "google": ("cloud.google.com/gke-tpu-accelerator",),
    "aws": ("karpenter.k8s.aws/instance-accelerator-name", "eks.amazonaws.com/instance-accelerator-name"),
    "cambricon": ("Model",),
}
# Koordinator names the vendor beside the model.
_KOORDINATOR_VENDOR, _KOORDINATOR_MODEL = "node.koordinator.sh/gpu-vendor", "node.koordinator.sh/gpu-model"
# Instance types that carry the name of the accelerator: Nebius `gpu-h100-sxm`, AWS `trn2.48xlarge`.
_IN_INSTANCE_TYPE = {"nvidia": re.compile(r"gpu-([a-z0-9-]+)"), "aws": re.compile(r"((?:trn|inf)\d)\.\w+")}

# Labels worth keeping in a fleet document: a placement selects nodes by them.
KEPT_LABELS = frozenset(
    {
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        INSTANCE_TYPE_LABEL,
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
        "feature.node.kubernetes.io/amd-vgpu",
        "feature.node.kubernetes.io/rdma.available",
        "feature.node.kubernetes.io/rdma.capable",
        "gpu.intel.com/family",
        "gpu.intel.com/product",
        "intel.feature.node.kubernetes.io/gaudi",
        "intel.feature.node.kubernetes.io/gpu",
        "intel.feature.node.kubernetes.io/npu",
        "accelerator",
        "accelerator-type",
        "servertype",
        "node.kubernetes.io/npu.chip.name",
        "mind-cluster/npu-chip-memory",
        "cloud.google.com/gke-tpu-topology",
        "kubernetes.azure.com/accelerator",
        _KOORDINATOR_VENDOR,
        _KOORDINATOR_MODEL,
        USER_MODEL_LABEL,
        *(label for labels in MODEL_LABELS.values() for label in labels),
    }
)
KEPT_PREFIXES = ("topology.kubernetes.io/", "huawei.com/topotree.")


def written_models(labels: dict[str, str], vendor: str) -> list[tuple[str, str]]:
    """Give what clouds and plug-ins wrote of a vendor's model: label and value, the most reliable first."""
    written = [(label, labels[label]) for label in MODEL_LABELS.get(vendor, ()) if labels.get(label, "").strip()]
    if labels.get(_KOORDINATOR_VENDOR) == vendor and labels.get(_KOORDINATOR_MODEL, "").strip():
        written.append((_KOORDINATOR_MODEL, labels[_KOORDINATOR_MODEL]))
    return written


def instance_type_model(labels: dict[str, str], vendor: str) -> str | None:
    """Give the part of the instance type that may name a vendor's model: most types name none."""
    pattern = _IN_INSTANCE_TYPE.get(vendor)
    match = pattern.fullmatch(labels.get(INSTANCE_TYPE_LABEL, "")) if pattern else None
    return None if match is None else match[1]
