import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.names import Names
from hetero_ops.inventory.printed.model import describe
from hetero_ops.inventory.printed.reading import Reading


def catalog_with(*models: tuple[str, str, int]) -> Catalog:
    """Make a catalog of GeForce cards, each with SKU, product name and memory."""
    like = Catalog.builtin()["RTX-4090"]
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
    reading = Reading("n1", "nvidia", TURING)
    device = describe(reading, 0, "NVIDIA GeForce RTX 2080 ...", memory_mib)

    assert device["sku"] == sku
    assert [finding.code for finding in reading.fragment().findings] == [code]


def test_names_of_other_vendors_are_not_meant() -> None:
    reading = Reading("n1", "amd", Catalog.builtin())

    assert describe(reading, 0, "Tesla T4", 15360)["sku"] == "unknown"


def test_an_ellipsis_alone_is_no_beginning() -> None:
    device = describe(Reading("n1", "nvidia", Catalog.builtin()), 0, "NVIDIA ...", 15360)

    assert device["sku"] == "unknown"
