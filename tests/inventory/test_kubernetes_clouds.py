"""Labels of managed clouds and of persons, and which of several sources counts."""

import pytest

from hetero_ops.inventory.finding import Finding
from tests.inventory.kube import GFD, devices, doubted, imported, node, only_node

GKE, KARPENTER, USER = "cloud.google.com/gke-accelerator", "karpenter.k8s.aws/instance-gpu-name", "hetero-ops/product"
NVIDIA = {"sku": "unknown", "vendor": "nvidia", "class": "gpu"}


@pytest.mark.parametrize(
    ("labels", "sku"),
    [
        # Google, as SkyPilot and Ray list the values of the label: two patterns of names.
        ({GKE: "nvidia-tesla-t4"}, "T4"),
        ({GKE: "nvidia-tesla-a100"}, "A100-SXM4-40GB"),
        ({GKE: "nvidia-a100-80gb"}, "A100-SXM4-80GB"),
        ({GKE: "nvidia-l4"}, "L4"),
        ({GKE: "nvidia-h100-80gb"}, "H100-SXM5-80GB"),
        ({GKE: "nvidia-h100-mega-80gb"}, "H100-SXM5-80GB"),
        ({GKE: "nvidia-b200"}, "B200-SXM-180GB"),
        # Karpenter, as the AWS EKS guide has it.
        ({KARPENTER: "l40s"}, "L40S"),
        ({KARPENTER: "t4"}, "T4"),
        # CoreWeave, as SkyPilot reads it.
        ({"gpu.nvidia.com/class": "L40S"}, "L40S"),
        # Koordinator names the vendor too.
        ({"node.koordinator.sh/gpu-vendor": "nvidia", "node.koordinator.sh/gpu-model": "NVIDIA-L20"}, "L20"),
        # Nebius, as SkyPilot reads it: the instance type names the card.
        ({"node.kubernetes.io/instance-type": "gpu-h100-sxm"}, "H100-SXM5-80GB"),
        ({USER: "RTX-4090"}, "RTX-4090"),
    ],
)
def test_clouds_and_persons_name_the_model(labels: dict[str, str], sku: str) -> None:
    assert devices(labels, {"nvidia.com/gpu": "8"}) == [{"sku": sku, "count": 8}]


def test_a_name_of_several_variants_names_none_of_them() -> None:
    found, codes = doubted({KARPENTER: "a100"}, {"nvidia.com/gpu": "8"})

    assert found == [NVIDIA | {"model": "a100", "product": "a100", "count": 8}]
    assert codes == ["MODEL_AMBIGUOUS"]


def test_a_person_settles_what_a_cloud_leaves_open() -> None:
    assert devices({KARPENTER: "a100", USER: "A100-SXM4-80GB"}, {"nvidia.com/gpu": "8"}) == [
        {"sku": "A100-SXM4-80GB", "count": 8}
    ]


def test_a_person_cannot_make_it_another_model() -> None:
    found, codes = doubted({KARPENTER: "a100", USER: "H100-SXM5-80GB"}, {"nvidia.com/gpu": "8"})

    assert [group["sku"] for group in found] == ["unknown"]
    assert codes == ["LABEL_CONFLICT", "MODEL_AMBIGUOUS"]


@pytest.mark.parametrize(
    "labels",
    [
        {"node.kubernetes.io/instance-type": "gpu-standard-v3"},
        {"node.kubernetes.io/instance-type": "p5.48xlarge"},
        {"node.kubernetes.io/instance-type": "gpu-a100"},
        {"kubernetes.azure.com/accelerator": "nvidia"},
        {"node.koordinator.sh/gpu-vendor": "huawei", "node.koordinator.sh/gpu-model": "910B3"},
        {USER: " "},
    ],
)
def test_a_label_that_names_no_model_is_none(labels: dict[str, str]) -> None:
    assert doubted(labels, {"nvidia.com/gpu": "8"}) == ([NVIDIA | {"count": 8}], ["UNLABELLED"])


def test_sources_are_believed_in_their_order() -> None:
    labels = {"node.kubernetes.io/instance-type": "gpu-h100-sxm", USER: "L4"}

    # Discovery, then the cloud, then its instance type, then a person; each time the first that is there.
    for label, value, sku in (("nvidia.com/gpu.product", "NVIDIA-L20", "L20"), (GKE, "nvidia-tesla-t4", "T4")):
        found, codes = doubted(labels | {label: value}, {"nvidia.com/gpu": "1"})
        assert (found, codes) == ([{"sku": sku, "count": 1}], ["LABEL_CONFLICT"])
    found, codes = doubted(labels, {"nvidia.com/gpu": "1"})
    assert (found, codes) == ([{"sku": "H100-SXM5-80GB", "count": 1}], ["LABEL_CONFLICT"])


def test_a_conflict_names_both_labels() -> None:
    result = imported(node("n", GFD | {GKE: "nvidia-l4"}, {"nvidia.com/gpu": "8"}))

    message = (
        "nvidia.com/gpu.product says 'NVIDIA-A100-SXM4-40GB' (A100-SXM4-40GB), "
        "cloud.google.com/gke-accelerator says 'nvidia-l4' (L4); the first counts"
    )
    assert result.findings == (Finding("LABEL_CONFLICT", "n", message),)


def test_a_label_of_a_person_is_of_one_vendor() -> None:
    found, codes = doubted({USER: "MI210"}, {"nvidia.com/gpu": "1", "amd.com/gpu": "1"})

    assert found == [NVIDIA | {"count": 1}, {"sku": "MI210", "count": 1}]
    assert codes == ["UNLABELLED"]


def test_cards_that_gke_counts_otherwise_are_in_doubt() -> None:
    labels = {GKE: "nvidia-l4", "cloud.google.com/gke-accelerator-count": "2"}

    assert devices(labels, {"nvidia.com/gpu": "2"}) == [{"sku": "L4", "count": 2}]
    assert doubted(labels, {"nvidia.com/gpu": "20"})[1] == ["MODEL_AMBIGUOUS"]


@pytest.mark.parametrize(
    ("value", "sku"),
    [("tpu-v5-lite-podslice", "TPU-v5e"), ("tpu-v5p-slice", "TPU-v5p"), ("tpu-v6e-slice", "TPU-v6e")],
)
def test_a_tpu_slice_keeps_its_topology(value: str, sku: str) -> None:
    labels = {"cloud.google.com/gke-tpu-accelerator": value, "cloud.google.com/gke-tpu-topology": "2x4"}
    found = only_node(imported(node("n", labels, {"google.com/tpu": "4"})))

    assert found["devices"] == [{"sku": sku, "count": 4}]
    assert found["labels"] == labels


def test_an_instance_type_of_aws_names_its_accelerator() -> None:
    labels = {"node.kubernetes.io/instance-type": "trn2.48xlarge"}

    assert devices(labels, {"aws.amazon.com/neuron": "16"}) == [{"sku": "Trainium2", "count": 16}]
