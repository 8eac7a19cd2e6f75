import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.names import Names
from hetero_ops.inventory.printed.product import identify

BUILTIN = Catalog.builtin()


def catalog_with(*models: tuple[str, str, int]) -> Catalog:
    """Make a catalog of GeForce cards, each with SKU, product name and memory."""
    like = BUILTIN["RTX-4090"]
    changes = [{"sku": sku, "product_name": name, "memory_mib": mib, "k8s_label": None} for sku, name, mib in models]
    return Catalog(tuple(like.model_copy(update=change) for change in changes), Names(()), "")


TURING = catalog_with(
    ("RTX-2080-SUPER", "NVIDIA GeForce RTX 2080 SUPER", 8192), ("RTX-2080-TI", "NVIDIA GeForce RTX 2080 Ti", 11264)
)


@pytest.mark.parametrize(
    ("memory_mib", "sku", "code"),
    [
        (8192, "RTX-2080-SUPER", "NAME_CUT"),
        (11264, "RTX-2080-TI", "NAME_CUT"),
        (24576, "unknown", "MODEL_AMBIGUOUS"),
        (None, "unknown", "MODEL_AMBIGUOUS"),
    ],
)
def test_memory_excludes_the_candidates_of_a_cut_name(memory_mib: int | None, sku: str, code: str) -> None:
    product = identify(TURING, ["NVIDIA GeForce RTX 2080 ..."], memory_mib, vendor="nvidia")

    assert (product.fields["sku"], product.doubt and product.doubt[0]) == (sku, code)
    assert product.fields.get("memory_mib") == memory_mib


@pytest.mark.parametrize(
    ("names", "memory_mib", "sku", "code"),
    [
        # A name of one SKU counts whatever the memory is.
        (["MI300A"], 64289, "MI300A", "MEMORY_CONTRADICTS"),
        (["910B4"], 65536, "Ascend-910B4", "MEMORY_CONTRADICTS"),
        (["910B4-1"], 65536, "Ascend-910B4-1", None),
        (["NVIDIA A100-SXM4-80GB"], 40960, "A100-SXM4-80GB", "MEMORY_CONTRADICTS"),
        (["Tesla T4"], 15109, "T4", None),
        (["Tesla T4"], None, "T4", None),
        # Of an open one memory decides, or excludes all.
        (["Ascend910"], 65536, "Ascend-910C", None),
        (["Ascend910"], 32768, "Ascend-910A", None),
        (["Ascend910"], 16384, "unknown", "MODEL_AMBIGUOUS"),
        (["Ascend910"], None, "unknown", "MODEL_AMBIGUOUS"),
        (["NVIDIA A100"], 81920, "unknown", "MODEL_AMBIGUOUS"),
        (["NVIDIA A100", "10de:20b5"], 81920, "A100-PCIE-80GB", None),
        # Names that contradict each other are not believed; one that nothing is known of does not count.
        (["NVIDIA A100-SXM4-80GB", "10de:1eb8"], 81920, "unknown", "MODEL_AMBIGUOUS"),
        (["Tesla T4", "10de:ffff"], 15360, "T4", None),
        (["XPU-9000", "10de:1eb8"], 15360, "T4", None),
        (["GeForce GTX 1070 Ti"], 4096, "unknown", "UNKNOWN_DEVICE"),
        ([], 4096, "unknown", "PRODUCT_NOT_PRINTED"),
    ],
)
def test_one_rule_for_names_and_memory(names: list[str], memory_mib: int | None, sku: str, code: str | None) -> None:
    product = identify(BUILTIN, names, memory_mib)

    assert (product.fields["sku"], product.doubt and product.doubt[0]) == (sku, code)
    assert product.fields.get("memory_mib") == memory_mib  # as printed, always
    assert product.fields.get("product") == (names[0] if names else None)


def test_a_pci_id_is_no_product() -> None:
    assert identify(BUILTIN, ["8086:e20b"], vendor="intel").fields == {"sku": "Arc-B580"}
    unknown = identify(BUILTIN, ["8086:020a"], vendor="intel", accelerator_class="gpu")
    assert unknown.fields == {"sku": "unknown", "vendor": "intel", "class": "gpu"}
    assert unknown.doubt == ("UNKNOWN_DEVICE", "the catalog has no '8086:020a'")


def test_what_an_open_name_means_is_known_as_far_as_all_agree() -> None:
    fields = identify(BUILTIN, ["a100"], accelerator_class="gpu").fields

    assert fields == {"sku": "unknown", "vendor": "nvidia", "class": "gpu", "model": "a100", "product": "a100"}


def test_names_of_other_vendors_are_not_meant() -> None:
    assert identify(BUILTIN, ["Tesla T4"], 15360, vendor="amd").fields["sku"] == "unknown"


def test_an_ellipsis_alone_is_no_beginning() -> None:
    assert identify(BUILTIN, ["NVIDIA ..."], 15360, vendor="nvidia").fields["sku"] == "unknown"
