from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed import nvidia_topo
from hetero_ops.inventory.printed.draft import NodeDraft
from hetero_ops.inventory.printed.nvidia_topo import Matrix, read_matrix
from tests.inventory.printed.outcome import codes, devices, largest_island, loaded, values

NEAR = ("PIX", "PXB", "PHB")


def read(text: str) -> Fragment:
    return nvidia_topo.read(text, "n1", Catalog.builtin())


def matrix(text: str) -> Matrix:
    return read_matrix(text, NodeDraft("n1", Catalog.builtin(), "nvidia"))


def near_nics(found: Matrix, gpu: str) -> list[str]:
    return [name for name, link in found.links(gpu).items() if name.startswith("NIC") and link in NEAR]


@pytest.fixture
def sample(test_data: Callable[[str], Path]) -> Callable[[str], str]:
    return lambda name: test_data(f"samples/nvidia-smi-topo/{name}").read_text()


def test_eight_gpus_in_one_island_and_eight_nics_that_are_none(sample: Callable[[str], str]) -> None:
    text = sample("hgx-h100-8gpu-8nic.txt")
    found = read(text)

    assert nvidia_topo.recognises(text)
    assert values(found, "id") == list(range(8))
    assert values(found, "islands") == [[list(range(8))]] + [None] * 7
    assert largest_island(found) == 8
    assert {link for gpu in range(8) for name, link in matrix(text).links(f"GPU{gpu}").items() if "GPU" in name} == {
        "NV18",
        "X",
    }
    assert values(found, "numa") == [0] * 4 + [1] * 4
    assert values(found, "nic") == [True] * 8
    assert values(found, "sku") == ["unknown"] * 8
    assert codes(found) == ["PRODUCT_NOT_PRINTED"]


def test_cpus_and_near_nics_stand_in_their_columns(sample: Callable[[str], str]) -> None:
    found = matrix(sample("hgx-h100-8gpu-8nic.txt"))

    cpus = [found.rows[f"GPU{gpu}"].after["CPU Affinity"] for gpu in range(8)]
    assert cpus == ["0-55,112-167"] * 4 + ["56-111,168-223"] * 4
    pairs = {0: ["NIC0", "NIC1"], 2: ["NIC2", "NIC3"], 4: ["NIC4", "NIC5"], 6: ["NIC6", "NIC7"]}
    for gpu, nics in pairs.items():
        assert near_nics(found, f"GPU{gpu}") == near_nics(found, f"GPU{gpu + 1}") == nics


def test_no_link_is_no_island_and_numa_comes_from_its_column(sample: Callable[[str], str]) -> None:
    text = sample("pcie-8gpu-all-sys-2nic.txt")
    found = read(text)

    assert values(found, "id") == list(range(8))
    assert values(found, "islands") == [[]] * 8
    assert largest_island(found) == 0
    assert matrix(text).links("GPU0")["GPU1"] == "SYS"  # although both are on NUMA node 0
    assert values(found, "numa") == [0] * 4 + [1] * 4
    assert [gpu for gpu in range(8) if near_nics(matrix(text), f"GPU{gpu}")] == [6]


def test_one_bridged_pair_as_the_matrix_says(sample: Callable[[str], str]) -> None:
    text = sample("pcie-4gpu-one-nvlink-pair-old-header.txt")
    found = read(text)

    assert values(found, "id") == [0, 1, 2, 3]
    assert values(found, "islands") == [[[0, 1]], None, [], []]
    assert matrix(text).links("GPU0")["GPU1"] == "NV12"
    assert matrix(text).links("GPU2")["GPU3"] == "NODE"
    assert values(found, "numa") == [0, 0, 1, 1]
    assert matrix(text).labels()[4:] == ["mlx5_0", "mlx5_1"]
    assert largest_island(found) == 2


def test_two_cards_of_a_workstation(sample: Callable[[str], str]) -> None:
    found = read(sample("workstation-2gpu-phb.txt"))

    assert values(found, "id") == [0, 1]  # the line of the legend that begins with NV# is none
    assert values(found, "islands") == [[], []]
    assert values(found, "numa") == [0, 0]
    assert codes(found) == ["PRODUCT_NOT_PRINTED"]


def test_underlines_of_the_terminal_hide_nothing(sample: Callable[[str], str]) -> None:
    text = sample("single-gpu-ansi-underline.txt")
    found = read(text)

    assert nvidia_topo.recognises(text)
    assert devices(found) == [{"id": 0, "sku": "unknown", "vendor": "nvidia", "class": "gpu", "numa": 0, "islands": []}]
    assert matrix(text).rows["GPU0"].after == {"CPU Affinity": "0-7", "NUMA Affinity": "0", "GPU NUMA ID": ""}
    assert loaded(found).place("gpu:1").ok


HEADING = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"


@pytest.mark.parametrize(
    ("row", "numa"),
    [
        ("GPU0\t X \tSYS\t0-7\t1\t\tN/A", 1),
        ("GPU0\t X \tSYS\t0-7\tN/A\t\tN/A", None),
        ("GPU0\t X \tSYS\t\t\t\t1", None),
        ("GPU0\t X \tSYS\t0-7\t0-1\t\tN/A", None),
        ("GPU0\t X \tSYS\t0-7", None),
        ("GPU0  X  SYS  0-7  1 N/A", 1),
        ("GPU0  X  SYS  1", None),
        ("GPU0  X  SYS  0-7  1", None),
        ("GPU0  X  SYS  0-55,11 2-167  1 N/A", None),
        ("GPU0  X  SYS  0-7  1 2 N/A", None),
    ],
)
def test_numa_is_unknown_unless_its_column_says_one_node(row: str, numa: int | None) -> None:
    found = read(f"{HEADING}{row}\nGPU1\tSYS\t X \t0-7\t0\t\tN/A\n")

    assert values(found, "numa") == [numa, 0]
    assert values(found, "islands") == [[], []]


@pytest.mark.parametrize(
    ("text", "islands"),
    [
        (f"{HEADING}GPU0\t X \tNV4\n", [[[0, 1]], None]),
        (f"{HEADING}GPU0\t X \tSYS\n", [[], []]),
        (f"{HEADING}GPU0\t X \n", [None, None]),
        (f"{HEADING}GPU0\tSYS\t X \n", [None, None]),
        (f"{HEADING}GPU0\t X \tN V4\n", [None, None]),
        (f"{HEADING}GPU0\t X \t???\n", [None, None]),
    ],
)
def test_what_a_damaged_matrix_leaves_open_stays_unknown(text: str, islands: list[object]) -> None:
    found = read(text)

    assert values(found, "islands") == islands
    assert "TRUNCATED" in codes(found)
    assert loaded(found).place("gpu:2").ok


def test_a_row_that_is_there_twice_counts_once() -> None:
    found = read(f"{HEADING}GPU0\t X \tSYS\t0-7\t0\nGPU0\t X \tNV4\t0-7\t1\nGPU1\tSYS\t X \t0-7\t1\n")

    assert (values(found, "numa"), values(found, "islands")) == ([0, 1], [[], []])
    assert [finding.message for finding in found.findings if finding.code == "TEXT_LEFT_OVER"] == [
        "line 3: no row of the matrix, a damaged one, or one that was read before"
    ]


def test_a_gpu_that_no_node_has_is_left_out() -> None:
    found = read("\tGPU0\tGPU9999\tCPU Affinity\nGPU0\t X \tSYS\nGPU9999\tSYS\t X \n")

    assert values(found, "id") == [0]
    assert "TEXT_LEFT_OVER" in codes(found)


@pytest.mark.parametrize("text", ["", "Legend:\n  X = Self\n", "GPU0\t X \tSYS\t0-7\t0\n"])
def test_a_text_without_a_heading_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument, match="give all that `nvidia-smi topo -m` prints"):
        read(text)
    assert not nvidia_topo.recognises(text)


def test_gpus_behind_one_bridge_share_a_switch() -> None:
    names = [f"GPU{i}" for i in range(5)]
    pairs = {frozenset((0, 1)): "PIX", frozenset((2, 3)): "PIX", frozenset((1, 2)): "PXB"}
    rows = [
        "\t".join(
            [name, *("X" if i == j else pairs.get(frozenset((i, j)), "NODE") for j in range(5)), "0-31", "0", "N/A"]
        )
        for i, name in enumerate(names)
    ]
    heading = "\t" + "\t".join([*names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])
    assert values(read("\n".join([heading, *rows])), "switch") == [0, 0, 1, 1, None]


@pytest.mark.parametrize(
    ("links", "is_near"),
    [(("PHB", "SYS"), True), (("NODE", "PXB"), True), (("NODE", "SYS"), False), (("NODE",), None), ((), None)],
)
def test_a_network_card_is_near_below_the_same_host_bridge(links: tuple[str, ...], is_near: object) -> None:
    row = "\t".join(["GPU0", "X", *links])
    assert values(read(f"\tGPU0\tNIC0\tNIC1\n{row}"), "nic") == [is_near]
    assert values(read("\tGPU0\nGPU0\tX"), "nic") == [None]
