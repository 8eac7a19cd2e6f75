"""The rows are sound, and the page in the docs shows them."""

import dataclasses
import os
from pathlib import Path

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.driver_table import DriverTable
from hetero_ops.gap.version import parse_version
from hetero_ops.gap.words import VENDORS

TABLE = DriverTable.builtin()
PAGE = Path(__file__).parents[2] / "docs" / "drivers.md"
MARK = "<!-- generated from hetero_ops/gap/data/drivers.toml -->\n"
VERSIONS = ("driver", "kernel", "first", "last", "release", "hdk")


def rows():
    return (*TABLE.cuda, *TABLE.rocm_window, *TABLE.amdgpu, *TABLE.cann, *TABLE.device)


def test_every_row_has_versions_that_read_and_a_source():
    for row in rows():
        cells = dataclasses.asdict(row)
        assert cells["source"], row
        assert all(parse_version(cells[name]) for name in VERSIONS if name in cells), row
        assert all(parse_version(release) for release in cells.get("rocm", ())), row
    assert set(TABLE.vendor_of_key.values()) <= set(VENDORS)


def test_floors_rise_with_the_major():
    floors = [(row.major, parse_version(row.driver)) for row in TABLE.cuda]
    assert floors == sorted(floors)
    assert len({major for major, _ in floors}) == len(floors)


def test_mig_rows_mean_devices_that_have_mig():
    meant = {profile.sku for profile in Catalog.builtin() if TABLE.device_floor("mig", profile.sku)}
    assert all(Catalog.builtin()[sku].partitioning == "mig" for sku in meant)
    assert {"A100-SXM4-40GB", "A30", "H100-NVL-94GB", "H200-SXM-141GB", "RTX-PRO-6000-WS", "GB300-279GB"} <= meant
    # Nothing was read of these.
    assert not meant & {"A800-SXM4-80GB", "H800-SXM5-80GB", "GH200-96GB", "H20-3e-141GB"}


def test_a_pattern_meets_no_other_model():
    assert TABLE.device_floor("mig", "B200-SXM-180GB").driver == "570"
    assert TABLE.device_floor("mig", "B300-SXM6-270GB").driver == "580"
    assert TABLE.device_floor("mig", "GB300-279GB").driver == "595"
    assert TABLE.device_floor("mig", "GH200-96GB") is None


def test_the_page_shows_the_table():
    text = PAGE.read_text()
    prose, mark, _ = text.partition(MARK)
    assert mark
    page = prose + mark + tables()
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page


def tables() -> str:
    cuda = [(f"CUDA {row.major}.x", f">= {row.driver}", row.source) for row in TABLE.cuda]
    windows = [(f"ROCm {row.kernel}", f"{row.first} to {row.last}", row.source) for row in TABLE.rocm_window]
    amdgpu = [(row.driver, ", ".join(row.rocm), row.source) for row in TABLE.amdgpu]
    cann = [(row.release, f"{row.hdk}.x", row.strength, row.source) for row in TABLE.cann]
    device = [(row.feature, ", ".join(row.skus), f"`{row.key}` >= {row.driver}", row.source) for row in TABLE.device]
    parts = [
        section("CUDA", ("toolkit", "`nvidia`", "source"), cuda),
        section("ROCm up to 6.3", ("`rocm-kernel`", "user space", "source"), windows),
        section("ROCm with a driver of its own numbering", ("`amdgpu`", "stated for ROCm", "source"), amdgpu),
        section("CANN", ("CANN", "`huawei` (HDK)", "strength", "source"), cann),
        section("Gaudi", ("software", "`habana`", "source"), [("a.b.c", "a.b.c", TABLE.gaudi_source)]),
        section("Features of devices", ("feature", "devices", "driver", "source"), device),
    ]
    return "".join(parts)


def section(title: str, head: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    table = [head, ("---",) * len(head), *lines]
    return f"\n## {title}\n\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in table)
