import csv
import io
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.unit import REFERENCE_SKU, REFERENCE_TFLOPS, derived_coefficient
from hetero_ops.gap.unit_table import COLUMNS, speed, unit_row

CATALOG = Catalog.builtin()
REFERENCE = CATALOG[REFERENCE_SKU]


def test_the_reference_is_one_by_what_was_measured_on_it() -> None:
    assert REFERENCE.is_measured("bf16")
    assert REFERENCE.achieved_tflops("bf16") == pytest.approx(REFERENCE_TFLOPS, rel=1e-3)
    assert REFERENCE.unit_milli == 1000
    assert derived_coefficient(REFERENCE_TFLOPS) == 1
    assert derived_coefficient(None) is None


@pytest.mark.parametrize(
    ("sku", "unit_milli"),
    [("A100-SXM4-80GB", 341), ("Ascend-910B2", 413), ("MI300X", 841), ("T4", 61), ("MR-V100", 79), ("MI308X", None)],
)
def test_a_unit_is_the_achieved_half_precision_rate_against_the_reference(sku: str, unit_milli: int | None) -> None:
    assert CATALOG[sku].unit_milli == unit_milli


def test_measured_beats_assumed_and_the_answer_says_which() -> None:
    mi300x = CATALOG["MI300X"]
    assert mi300x.achieved_tflops("bf16") == pytest.approx(1307.4 * 0.511)
    assert mi300x.achieved_tflops("fp8") == pytest.approx(mi300x.rates.of("fp8") * 0.60)
    assert (mi300x.is_measured("bf16"), mi300x.is_measured("fp8")) == (True, False)
    assert unit_row(mi300x, REFERENCE)["measured"] == ["bf16"]


def test_speed_is_kept_apart_from_billing() -> None:
    row = unit_row(CATALOG["T4"].model_copy(update={"unit_coefficient": 0.3}), REFERENCE)
    assert (row["unit_coefficient"], row["unit_from"]) == (0.3, "site")
    assert (row["fp16_speed"], row["bf16_speed"]) == (0.066, None)
    assert speed(CATALOG["T4"], REFERENCE, "fp4") is None


def test_an_opaque_device_has_neither() -> None:
    row = unit_row(CATALOG["TPU-v5p"], REFERENCE)
    assert row.pop("unit_from") == "opaque"
    assert row.pop("sku") == "TPU-v5p"
    assert not any(row.values())


def printed(tmp_path: Path, **changed: float) -> Path:
    """The table as the command prints it, with some coefficients edited."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    for profile in CATALOG:
        row = unit_row(profile, REFERENCE)
        writer.writerow(
            row | {"measured": ""} | ({"unit_coefficient": changed[profile.sku]} if profile.sku in changed else {})
        )
    file = tmp_path / "units.csv"
    file.write_text(text.getvalue())
    return file


def test_a_printed_table_reads_back(tmp_path: Path) -> None:
    catalog = Catalog.load(printed(tmp_path, T4=0.3))
    assert catalog["T4"].unit_milli == 300
    for profile in CATALOG:
        assert profile.sku == "T4" or catalog[profile.sku].unit_milli == profile.unit_milli


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sku,unit\nT4,1\n", "units.csv:1: no column unit_coefficient"),
        ("sku,unit_coefficient\nT4,1\nT5,1\n", "units.csv:3: units[1].sku: no accelerator 'T5'"),
        ("sku,unit_coefficient\nT4,cheap\n", "units.csv:2: units[0].unit_coefficient: 'cheap' is no coefficient"),
        ("sku,unit_coefficient\nT4,nan\n", "nan is no coefficient"),
        ("sku,unit_coefficient\nT4,0\n", "0.0 is no coefficient"),
        ('sku,unit_coefficient\n"T4,1\n', "this is no table"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "units.csv").write_text(text)
    with pytest.raises(InvalidDocument) as refused:
        Catalog.load(tmp_path / "units.csv")
    assert message in str(refused.value)
