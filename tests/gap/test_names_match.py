"""Labels that machines report against names that people ask for."""

import itertools

import pytest

from hetero_ops.gap.catalog import Catalog, Match

CATALOG = Catalog.builtin()

TRIPLES = """
NVIDIA-A100-SXM4-40GB                | A100-80GB          | no
NVIDIA-A100-SXM4-40GB                | A100               | yes
NVIDIA-A100-SXM4-40GB                | A100-40GB          | yes
NVIDIA-A100-SXM4-40GB                | A100-SXM           | yes
NVIDIA-A100-SXM4-40GB                | A100-PCIe          | no
NVIDIA-A100-SXM4-40GB                | A800               | no
NVIDIA-A100-SXM4-80GB                | A100-80GB          | yes
NVIDIA-A100-80GB-PCIe                | A100-80GB          | yes
NVIDIA-A100-80GB-PCIe                | A100-SXM4          | no
NVIDIA A100 80GB PCIe                | a100-pcie-80gb     | yes
A100-SXM4-40GB                       | NVIDIA-A100        | yes
NVIDIA-A100                          | A100-80GB          | variant
NVIDIA-A100                          | A100               | yes
nvidia-tesla-a100                    | A100-40GB          | yes
nvidia-tesla-a100                    | A100-80GB          | no
nvidia-a100-80gb                     | A100-SXM4-80GB     | yes
NVIDIA-A100-SXM4-40GB-SHARED         | A100-40GB          | yes
NVIDIA-A100-SXM4-40GB-MIG-1g.5gb     | A100-40GB          | yes
NVIDIA-A100-SXM4-40GB-MIG-1g.5gb     | A100-80GB          | no
NVIDIA-A100-SXM4-80GB-MIG-1g.10gb.me | A100-80GB          | yes
NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED | A100            | yes
A100-SXM4-80GB-MIG-INVALID           | A100               | no
NVIDIA-L40S                          | L40                | no
NVIDIA-L40                           | L40S               | no
NVIDIA-L40S                          | L40S               | yes
NVIDIA-L40                           | L4                 | no
NVIDIA-L4                            | L40                | no
NVIDIA-L4                            | l4                 | yes
NVIDIA-L20                           | L20                | yes
NVIDIA-L20                           | L2                 | no
NVIDIA-A10                           | A100               | no
NVIDIA-A10                           | A10                | yes
NVIDIA-A10G                          | A10                | no
NVIDIA-A10                           | A10G               | no
NVIDIA-A16                           | A10                | no
NVIDIA-A2                            | A2                 | yes
NVIDIA-A30                           | A30-24GB           | yes
nvidia-h100-mega-80gb                | H100               | variant
nvidia-h100-mega-80gb                | H100-80GB          | variant
nvidia-h100-mega-80gb                | H100-MEGA          | yes
nvidia-h100-mega-80gb                | H100-PCIe          | no
nvidia-h100-mega-80gb                | A100               | no
nvidia-h100-80gb                     | H100               | yes
nvidia-h100-80gb                     | H100-MEGA          | no
NVIDIA-H100-80GB-HBM3                | H100-MEGA          | no
NVIDIA-H100-80GB-HBM3                | H100               | yes
NVIDIA-H100-80GB-HBM3                | H100-SXM5-80GB     | yes
NVIDIA-H100-80GB-HBM3                | H100-NVL           | no
NVIDIA-H100-80GB-HBM3                | H100-40GB          | no
NVIDIA-H100-80GB-HBM3                | H10                | no
NVIDIA-H100-PCIe                     | H100-SXM           | no
NVIDIA-H100-NVL                      | H100-NVL-94GB      | yes
NVIDIA-H200                          | H200               | yes
NVIDIA-H200                          | H200-NVL           | no
NVIDIA-H200                          | H20                | no
NVIDIA-H20                           | H200               | no
NVIDIA-H20-3e                        | H20                | yes
NVIDIA-H800                          | H100               | no
NVIDIA-GH200-480GB                   | GH200              | yes
NVIDIA-GH200-480GB                   | GH200-96GB         | yes
NVIDIA-GH200-480GB                   | GH200-144GB        | no
NVIDIA GH200 480GB                   | H200               | no
NVIDIA-GH200-144G-HBM3e              | GH200-144GB        | yes
NVIDIA-B200                          | B200               | yes
NVIDIA-GB200                         | B200               | no
NVIDIA-B300-SXM6-AC                  | B300               | yes
nvidia-b200                          | b200-180gb         | yes
Tesla-V100-SXM2-16GB                 | v100               | yes
Tesla-V100-SXM2-16GB                 | V100-32GB          | no
Tesla-V100-SXM2-32GB                 | V100_32GB          | yes
nvidia-tesla-v100                    | V100-16GB          | variant
Iluvatar MR-V100                     | V100               | no
Tesla-T4                             | T4                 | yes
nvidia-tesla-t4                      | NVIDIA T4          | yes
Tesla-P100-PCIE-16GB                 | P100               | yes
Tesla M4                             | M4                 | no
NVIDIA-RTX-6000-Ada-Generation       | RTX-6000-Ada       | yes
NVIDIA-RTX-6000-Ada-Generation       | RTX-A6000          | no
NVIDIA-RTX-A6000                     | A6000              | yes
NVIDIA GeForce RTX 4090              | RTX-4090           | yes
NVIDIA-GeForce-RTX-4090-D            | RTX-4090           | no
NVIDIA GeForce RTX 5090              | RTX 5090           | yes
NVIDIA GeForce RTX 2080 Ti           | RTX-2080           | no
NVIDIA GeForce RTX 2080 Ti           | NVIDIA-GeForce-RTX-2080-Ti | yes
NVIDIA GeForce RTX 2080 SUPER        | NVIDIA-GeForce-RTX-2080 | no
NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition | RTX-PRO-6000 | yes
NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition | RTX-PRO-6000-WS | no
AMD_Instinct_MI300X_OAM              | MI300X             | yes
AMD_Instinct_MI300X_OAM              | mi300x-192gb       | yes
AMD_Instinct_MI300X_OAM              | MI300A             | no
AMD_Instinct_MI300X                  | amd-mi300x         | yes
74a1                                 | MI300X             | yes
1002:74a1                            | MI325X             | no
AMD_Instinct_MI325X_OAM              | MI300X             | no
Instinct_MI210                       | MI210              | yes
Instinct_MI210                       | MI250              | no
AMD Instinct MI250X / MI250          | MI250              | variant
740c                                 | MI250X             | variant
Max_1550                             | Max-1550           | yes
Max_1550                             | Max-1100           | no
Flex_170                             | Flex170            | yes
Intel(R) Arc(TM) B580 Graphics       | Arc-B580           | yes
Intel(R) Arc(TM) B580 Graphics       | Arc-Pro-B60        | no
Intel(R) Arc(TM) Pro B60 Graphics    | Arc Pro B60        | yes
HL-225                               | Gaudi2             | yes
HL-225                               | Gaudi 3            | no
HL-325L                              | Gaudi3             | yes
HL-338                               | Gaudi3-PCIe        | yes
910A                                 | Ascend-910A        | yes
910B3                                | 910B               | yes
910B3                                | Ascend910B2        | no
910B4                                | 910B4              | yes
910B4-1                              | 910B4              | no
910B4                                | 910B4-1            | no
910B4-1                              | 910B-64GB          | yes
910B4                                | 910B-64GB          | no
310P3                                | 310P3              | yes
310P3                                | Atlas-300I-Duo     | variant
910B                                 | 910B2              | variant
a100                                 | A100               | yes
a100                                 | Cloud-AI-100       | no
17cb:a100                            | Cloud-AI-100       | yes
MLU370-X8                            | MLU370             | yes
MTT S4000                            | S4000              | yes
K100_AI                              | K100-AI            | yes
tpu-v5-lite-podslice                 | TPU-v5e            | yes
tpu-v5-lite-podslice                 | TPU-v5p            | no
"""
CASES = [tuple(part.strip() for part in line.split(" | ")) for line in TRIPLES.strip().splitlines()]


@pytest.mark.parametrize(("label", "query", "expected"), CASES)
def test_a_label_answers_a_name_by_whole_tokens(label: str, query: str, expected: Match) -> None:
    assert CATALOG.matches(label, query) == expected


def test_there_are_a_hundred_cases_and_each_verdict_is_among_them() -> None:
    assert len(set(CASES)) == len(CASES) >= 100
    assert {verdict for *_, verdict in CASES} == {"yes", "no", "variant"}


def names_of_the_table() -> list[str]:
    reported = [
        name
        for profile in CATALOG
        for name in (profile.sku, profile.product_name, profile.k8s_label, *profile.gke_labels, *profile.pci_ids)
        if name
    ]
    return list(dict.fromkeys([*reported, "H100-MEGA", "A100", "H100", "910B", "NVIDIA-H100-80GB-HBM3-SHARED"]))


def test_names_of_one_device_match_both_ways() -> None:
    meant = {name: frozenset(p.sku for p in CATALOG.candidates(name)) for name in names_of_the_table()}
    pairs = [(a, b) for a, b in itertools.combinations(meant, 2) if meant[a] == meant[b] and meant[a]]
    assert len(pairs) > 100
    special = {"nvidia-h100-mega-80gb", "H100-MEGA"}  # a setting: it answers a plain name, which does not answer it
    for a, b in pairs:
        if len({a, b} & special) != 1:
            assert CATALOG.matches(a, b) == CATALOG.matches(b, a) == "yes", (a, b)


def test_every_name_of_the_table_matches_itself() -> None:
    for name in names_of_the_table():
        assert CATALOG.matches(name, name) == "yes", name


def test_what_a_person_may_ask_for_has_no_setting() -> None:
    assert CATALOG.resolve("H100-MEGA") == ()
    assert CATALOG.suggest("H100-MEGA") == "H100"
