import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.printed.mig import Instance, profile_name

# SKU and its memory; memory of the instance, copy engines, decoders, optical flow engines; the name of the profile.
# All but the 40 GB card are rows of `nvidia-smi mig -lgip` that were published with the support for the card.
ROWS = [
    ("A100-SXM4-40GB", 40960, 4864, 1, 0, 0, "1g.5gb"),
    ("A100-SXM4-40GB", 40960, 4864, 1, 1, 1, "1g.5gb+me"),
    ("A100-SXM4-40GB", 40960, 9856, 1, 1, 0, "1g.10gb"),
    ("A100-SXM4-40GB", 40960, 9856, 2, 1, 0, "2g.10gb"),
    ("A100-SXM4-40GB", 40960, 20096, 3, 2, 0, "3g.20gb"),
    ("A100-SXM4-40GB", 40960, 20096, 4, 2, 0, "4g.20gb"),
    ("A100-SXM4-40GB", 40960, 40192, 7, 5, 1, "7g.40gb"),
    ("A30", 24576, 5952, 1, 0, 0, "1g.6gb"),
    ("A30", 24576, 12032, 2, 2, 1, "2g.12gb+me"),
    ("A30", 24576, 24125, 4, 4, 1, "4g.24gb"),
    ("H100-NVL-94GB", 95830, 11008, 1, 1, 0, "1g.12gb"),
    ("H100-NVL-94GB", 95830, 22144, 1, 1, 0, "1g.24gb"),
    ("H100-NVL-94GB", 95830, 22144, 2, 2, 0, "2g.24gb"),
    ("H200-SXM-141GB", 143771, 16384, 1, 1, 1, "1g.18gb+me"),
    ("H200-SXM-141GB", 143771, 33024, 1, 1, 0, "1g.35gb"),
    ("H200-SXM-141GB", 143771, 71168, 3, 3, 0, "3g.71gb"),
    ("B200-SXM-180GB", 183359, 20992, 2, 1, 0, "1g.23gb"),
    ("B200-SXM-180GB", 183359, 45312, 2, 1, 0, "1g.45gb"),
    ("B200-SXM-180GB", 183359, 45312, 4, 2, 0, "2g.45gb"),
    ("GB200-186GB", 189471, 46592, 4, 2, 0, "2g.47gb"),
    ("RTX-PRO-6000-BSE", 97887, 23675, 1, 1, 0, "1g.24gb"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}/{row[-1]}")
def test_profiles_are_named_as_the_driver_names_them(row: tuple[str, int, int, int, int, int, str]) -> None:
    sku, card_mib, memory_mib, copy, decoder, ofa, name = row
    instance = Instance(1, memory_mib, {"copy": copy, "decoder": decoder, "ofa": ofa})

    assert profile_name(instance, card_mib, Catalog.builtin()[sku]) == name


@pytest.mark.parametrize(
    ("instance", "card", "sku"),
    [
        (Instance(1, None, {"copy": 1}), 40960, "A100-SXM4-40GB"),
        (Instance(1, 4864, {"copy": 1}), None, "A100-SXM4-40GB"),
        (Instance(1, 4864, {}), 40960, "A100-SXM4-40GB"),
        (Instance(1, 4864, {"copy": 9}), 40960, "A100-SXM4-40GB"),
        (Instance(1, 50000, {"copy": 1}), 40960, "A100-SXM4-40GB"),
        (Instance(1, 4864, {"copy": 1}), 15360, "T4"),
        (Instance(1, 4864, {"copy": 1}), 40960, None),
    ],
)
def test_no_name_is_guessed(instance: Instance, card: int | None, sku: str | None) -> None:
    assert profile_name(instance, card, Catalog.builtin()[sku] if sku else None) is None
