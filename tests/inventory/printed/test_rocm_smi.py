from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed import rocm_smi
from tests.inventory.printed.outcome import codes, largest_island, loaded, values


def read(text: str) -> Fragment:
    return rocm_smi.read(text, "n1", Catalog.builtin())


@pytest.fixture
def sample(test_data: Callable[[str], Path]) -> Callable[[str], str]:
    return lambda name: test_data(f"samples/rocm-smi-showtopo/{name}").read_text()


def test_four_gpus_over_pcie_are_alone_and_their_numa_nodes_unknown(sample: Callable[[str], str]) -> None:
    text = sample("4gpu-pcie-weight52.txt")
    found = read(text)

    assert rocm_smi.recognises(text)
    assert values(found, "id") == [0, 1, 2, 3]
    assert values(found, "islands") == [[]] * 4
    assert largest_island(found) == 0
    assert values(found, "numa") == [None] * 4
    assert codes(found) == ["PRODUCT_NOT_PRINTED"]
    assert loaded(found).place("gpu:4").ok


def test_hops_and_weights_are_read_beside_the_links(sample: Callable[[str], str]) -> None:
    tables = rocm_smi.tables_of(sample("4gpu-pcie-weight52.txt"))

    hops = {cell for (one, other), cell in tables["Hops between two GPUs"].cells.items() if one != other}
    weights = {cell for (one, other), cell in tables["Weight between two GPUs"].cells.items() if one != other}
    assert (hops, weights) == ({"3"}, {"52"})  # three hops are two sockets


def test_numa_alone_leaves_islands_unknown(sample: Callable[[str], str]) -> None:
    text = sample("8gpu-numa-only.txt")
    found = read(text)

    assert rocm_smi.recognises(text)
    assert values(found, "id") == list(range(8))
    assert values(found, "numa") == [0] * 4 + [1] * 4
    assert values(found, "islands") == [None] * 8


def test_xgmi_joins() -> None:
    table = (
        "== Link Type between two GPUs ==\n     GPU0 GPU1 GPU2\nGPU0 0 XGMI PCIE\nGPU1 XGMI 0 PCIE\nGPU2 PCIE PCIE 0\n"
    )

    assert values(read(table), "islands") == [[[0, 1]], None, []]


def test_a_numa_node_of_minus_one_is_unknown() -> None:
    found = read("GPU[0]\t: (Topology) Numa Node: -1\nGPU[0]\t: (Topology) Numa Affinity: 0\n")

    assert values(found, "numa") == [None]


@pytest.mark.parametrize(
    "text", ["", "== Numa Nodes ==\n", "== Link Type between two GPUs ==\n", "GPU[9999]\t: (Topology) Numa Node: 0\n"]
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument, match="give all that `rocm-smi --showtopo` prints"):
        read(text)


def test_other_output_of_the_tool_is_not_recognised() -> None:
    assert not rocm_smi.recognises("===== ROCm System Management Interface =====\n==== Concise Info ====\n")
