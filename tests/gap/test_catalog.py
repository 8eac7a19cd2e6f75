import pytest

from hetero_ops.errors import UnknownDevice
from hetero_ops.gap.catalog import Catalog

CATALOG = Catalog.builtin()

H100 = "H100-SXM5-80GB H100-PCIE-80GB H100-NVL-94GB"
A100 = "A100-SXM4-40GB A100-SXM4-80GB A100-PCIE-40GB A100-PCIE-80GB"
V100 = "V100-SXM2-16GB V100-SXM2-32GB V100-PCIE-16GB V100-PCIE-32GB"
GAUDI3 = "Gaudi3-HL-325L Gaudi3-HL-338"

WRITTEN = [
    ("H100", H100),
    ("h100", H100),
    ("nvidia/H100", H100),
    ("H100-SXM", "H100-SXM5-80GB"),
    ("H100-SXM5-80GB", "H100-SXM5-80GB"),
    ("H100 80GiB", "H100-SXM5-80GB H100-PCIE-80GB"),
    ("NVIDIA_H100_80GB", "H100-SXM5-80GB H100-PCIE-80GB"),
    ("H100-NVL", "H100-NVL-94GB"),
    ("H100-MEGA", ""),
    ("H100-40GB", ""),
    ("AMD-H100", ""),
    ("H10", ""),
    ("GH200", "GH200-96GB GH200-144GB"),
    ("H800", "H800-SXM5-80GB H800-PCIE-80GB"),
    ("H20", "H20-96GB H20-3e-141GB"),
    ("H200", "H200-SXM-141GB H200-NVL-141GB"),
    ("A100", A100),
    ("A100-80GB", "A100-SXM4-80GB A100-PCIE-80GB"),
    ("A100-SXM4", "A100-SXM4-40GB A100-SXM4-80GB"),
    ("A100-80GB-40GB", ""),
    ("A10", "A10"),
    ("A10G", "A10G"),
    ("L40", "L40"),
    ("L40S", "L40S"),
    ("NVIDIA-L40S", "L40S"),
    ("L4", "L4"),
    ("V100", V100),
    ("v100-32gb", "V100-SXM2-32GB V100-PCIE-32GB"),
    ("Tesla V100", V100),
    ("MR-V100", "MR-V100"),
    ("RTX-4090", "RTX-4090"),
    ("GeForce RTX 4090", "RTX-4090"),
    ("RTX-6000-Ada", "RTX-6000-Ada"),
    ("RTX PRO 6000", "RTX-PRO-6000-BSE RTX-PRO-6000-WS"),
    ("A6000", "RTX-A6000"),
    ("MI300X", "MI300X"),
    ("amd/mi300x", "MI300X"),
    ("MI300A", "MI300A"),
    ("MI325X", "MI325X"),
    ("MI250", "MI250"),
    ("MI250X", "MI250X"),
    ("Gaudi3", GAUDI3),
    ("Gaudi-3", GAUDI3),
    ("gaudi 3", GAUDI3),
    ("Gaudi3-PCIe", "Gaudi3-HL-338"),
    ("Max-1550", "Max-1550"),
    ("910B3", "Ascend-910B3"),
    ("Ascend-910B3", "Ascend-910B3"),
    ("910B4", "Ascend-910B4"),
    ("910B4-1", "Ascend-910B4-1"),
    ("910B", "Ascend-910B2 Ascend-910B3 Ascend-910B4 Ascend-910B4-1"),
    ("TPU-v5e", "TPU-v5e"),
    ("Trainium2", "Trainium2"),
    ("K100_AI", "K100_AI"),
    ("80GB", ""),
    ("SXM5", ""),
    ("nvidia", ""),
    ("", ""),
    ("H100" * 1000, ""),
]

REPORTED = [
    ("NVIDIA-H100-80GB-HBM3", "H100-SXM5-80GB"),
    ("NVIDIA-H100-PCIe", "H100-PCIE-80GB"),
    ("NVIDIA-H200", "H200-SXM-141GB"),
    ("NVIDIA-H200-NVL", "H200-NVL-141GB"),
    ("NVIDIA-GH200-480GB", "GH200-96GB"),
    ("NVIDIA-A100-SXM4-40GB", "A100-SXM4-40GB"),
    ("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "A100-SXM4-40GB"),
    ("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb.me", "A100-SXM4-80GB"),
    ("NVIDIA-A100-SXM4-40GB-SHARED", "A100-SXM4-40GB"),
    ("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED", "A100-SXM4-40GB"),
    ("NVIDIA-A100-80GB-PCIe", "A100-PCIE-80GB"),
    ("A100-SXM4-40GB", "A100-SXM4-40GB"),
    ("Tesla-T4", "T4"),
    ("Tesla-V100-SXM2-16GB", "V100-SXM2-16GB"),
    ("NVIDIA-A100", None),
    ("NVIDIA-H100-MEGA", None),
    ("AMD_Instinct_MI300X_OAM", "MI300X"),
    ("AMD_Instinct_MI300X", "MI300X"),
    ("Instinct_MI210", "MI210"),
    ("AMD Instinct MI250X / MI250", None),
    ("74a1", "MI300X"),
    ("74A1", "MI300X"),
    ("1002:74a1", "MI300X"),
    ("740c", None),
    ("1002:2330", None),
    ("Max_1550", "Max-1550"),
    ("Flex_170", "Flex-170"),
    ("910B3", "Ascend-910B3"),
    ("910A", "Ascend-910A"),
    ("310P3", None),
    ("nvidia-h100-80gb", "H100-SXM5-80GB"),
    ("nvidia-h100-mega-80gb", "H100-SXM5-80GB"),
    ("nvidia-tesla-t4", "T4"),
    ("nvidia-tesla-v100", None),
    ("tpu-v5-lite-podslice", "TPU-v5e"),
]


@pytest.mark.parametrize(("name", "skus"), WRITTEN)
def test_a_written_name_means_exactly_these(name: str, skus: str) -> None:
    assert [profile.sku for profile in CATALOG.resolve(name)] == skus.split()


@pytest.mark.parametrize(("label", "sku"), REPORTED)
def test_a_reported_name_is_identified_or_left_open(label: str, sku: str | None) -> None:
    found = CATALOG.identify(label)
    assert (found.sku if found else None) == sku


def test_an_open_label_lists_its_candidates() -> None:
    assert [profile.sku for profile in CATALOG.candidates("740c")] == ["MI250", "MI250X"]
    assert [profile.sku for profile in CATALOG.candidates("NVIDIA-A100")] == A100.split()


def test_every_sku_is_a_name_of_itself_alone() -> None:
    assert {profile.sku: CATALOG.resolve(profile.sku) for profile in CATALOG} == {
        profile.sku: (profile,) for profile in CATALOG
    }


def test_every_reported_name_of_the_table_finds_its_row() -> None:
    for profile in CATALOG:
        for label in filter(None, (profile.product_name, profile.k8s_label, *profile.gke_labels, *profile.pci_ids)):
            assert profile in CATALOG.candidates(label)


def test_all_rows_load_with_source_and_confidence() -> None:
    assert len(CATALOG) == len(list(CATALOG)) == 105
    assert all(profile.sources and profile.confidence for profile in CATALOG)
    assert next(iter(CATALOG)).sku == "P100-SXM2-16GB"


def test_the_class_follows_vendor_and_family() -> None:
    classes = {profile.sku: profile.accelerator_class for profile in CATALOG}
    assert classes["H100-SXM5-80GB"] == classes["Max-1550"] == classes["MetaX-C500"] == "gpu"
    assert classes["Gaudi3-HL-338"] == classes["Ascend-910C"] == classes["Trainium2"] == "npu"
    assert (classes["TPU-v4"], classes["Groq-LPU-v1"], classes["Xeon-8480P-AMX"]) == ("tpu", "lpu", "cpu")


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [("H10", "H100"), ("H100-MEGA", "H100"), ("Gaudi4", "Gaudi3"), ("RTX-409O", "RTX-4090"), ("zzzzzz", None)],
)
def test_a_wrong_name_gets_a_suggestion_that_means_something(name: str, suggestion: str | None) -> None:
    assert CATALOG.suggest(name) == suggestion
    assert suggestion is None or CATALOG.resolve(suggestion)


def test_an_unknown_sku_is_an_error_with_a_suggestion() -> None:
    assert "T4" in CATALOG
    assert "t5" not in CATALOG
    with pytest.raises(UnknownDevice, match="no accelerator 'H100-SXM6' in the catalog; did you mean 'H100'"):
        CATALOG["H100-SXM6"]


def test_the_catalog_is_read_once_and_has_a_digest() -> None:
    assert Catalog.builtin() is CATALOG
    assert len(CATALOG.digest) == 64
    int(CATALOG.digest, 16)
