"""Accelerators that people talk about are in the catalog, under the names that they use."""

import pytest

from hetero_ops.gap.catalog import Catalog

CATALOG = Catalog.builtin()

NAMES = """
P100 V100 T4 A2 A10 A10G A16 A30 A40 A100 A800 L2 L4 L20 L40 L40S H20 H100 H100-SXM H100-PCIe H100-NVL H200
H800 GH200 B100 B200 GB200 B300 GB300 GB10 RTX-4090 RTX-5090 RTX-A6000 RTX-6000-Ada RTX-PRO-6000 MI100 MI210
MI250 MI250X MI300A MI300X MI308X MI325X MI350X MI355X W7900 Gaudi1 Gaudi2 Gaudi3 Max-1550 Max-1100 Flex-170
Flex-140 Arc-B580 Arc-Pro-B60 910A 910B 910B2 910B3 910B4 910B4-1 910C 310P3 Atlas-300I-Duo MLU370 MLU370-X8
MLU590 Z100L K100_AI BW1000 BI-V150 MR-V100 S4000 C500 TPU-v4 TPU-v5e TPU-v5p TPU-v6e TPU7x Trainium1
Trainium2 Trainium3 Inferentia2 Groq-LPU Cloud-AI-100 WSE-2 WSE-3 Cerebras-WSE M4 Apple-M4 Apple-NE Movidius
Hexagon Sapphire-Rapids Sapphire-Rapids-AMX Intel-AMX
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_it_resolves_and_says_where_its_figures_are_from(name: str) -> None:
    profiles = CATALOG.resolve(name)
    assert profiles, name
    assert all(profile.sources and profile.confidence for profile in profiles)


@pytest.mark.parametrize("name", ["A100-NVL-40G", "Gaudi4", "H100-240GB", "WSE-9"])
def test_what_does_not_exist_resolves_to_nothing(name: str) -> None:
    assert CATALOG.resolve(name) == ()


OPAQUE = ["TPU-v4", "TPU-v5e", "TPU-v5p", "TPU-v6e", "TPU-7x", "WSE-2", "WSE-3", "Groq-LPU", "Cloud-AI-100"]


@pytest.mark.parametrize("name", OPAQUE)
def test_an_opaque_device_has_no_rate_that_could_rank_it(name: str) -> None:
    for profile in CATALOG.resolve(name):
        assert profile.is_opaque
        assert profile.for_core()["is_opaque"] is True
        assert profile.achieved_tflops("bf16") is None
        assert profile.unit_milli is None


def test_no_gpu_is_opaque() -> None:
    assert not [profile.sku for profile in CATALOG if profile.is_opaque and profile.accelerator_class == "gpu"]


@pytest.mark.parametrize(
    ("sku", "memory_gib", "bandwidth_mbps"),
    [
        ("H100-SXM5-80GB", 80, 3_350_000),
        ("H200-SXM-141GB", 141, 4_800_000),
        ("B200-SXM-180GB", 180, 7_700_000),
        ("A100-SXM4-80GB", 80, 2_039_000),
        ("T4", 16, 320_000),
        ("MI300X", 192, 5_300_000),
        ("MI325X", 256, 6_000_000),
        ("Gaudi3-HL-325L", 128, 3_700_000),
        ("Ascend-910B4", 32, 800_000),
        ("Ascend-910B4-1", 64, 1_600_000),
        ("MLU370-X8", 48, 614_400),
    ],
)
def test_memory_and_bandwidth_are_those_of_the_data_sheets(sku: str, memory_gib: int, bandwidth_mbps: int) -> None:
    profile = CATALOG[sku]
    assert (profile.memory_mib, profile.bandwidth_mbps) == (memory_gib * 1024, bandwidth_mbps)


@pytest.mark.parametrize(
    ("sku", "devices", "domain"),
    [
        ("MI250", 8, 8),
        ("MI250X", 8, 8),
        ("Ascend-910C", 16, 768),
        ("AIC100-Ultra", 32, 1),
        ("GB200-186GB", 4, 72),
        ("H100-SXM5-80GB", 8, 8),
    ],
)
def test_a_node_is_counted_in_devices_never_in_packages(sku: str, devices: int, domain: int) -> None:
    core = CATALOG[sku].for_core()
    assert (core["max_per_node"], core["scaleup_domain"]) == (devices, domain)


def test_a_pair_of_bridged_cards_has_no_made_up_bandwidth() -> None:
    assert CATALOG["H200-NVL-141GB"].pair_mbps is None
