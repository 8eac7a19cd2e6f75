"""The pages on the catalog say what the catalog says."""

import os
import re
from pathlib import Path

import pytest

from hetero_ops import Catalog
from hetero_ops.gap.words import Confidence
from hetero_ops.units import format_memory

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "catalog.md"
WRONG = ROOT / "docs" / "wrong-numbers.md"
CATALOG = Catalog.builtin()
BEGIN, END = "<!-- rows -->\n", "<!-- end of rows -->"


def rows_by_confidence() -> str:
    lines = []
    for confidence in Confidence.__args__:
        found = [profile for profile in CATALOG if profile.confidence == confidence]
        lines += [f"### {confidence} ({len(found)})", "", "| sku | vendor | class | memory | weak fields |"]
        lines += ["| --- | --- | --- | --- | --- |"]
        for profile in found:
            memory = "?" if profile.memory_mib is None else format_memory(profile.memory_mib)
            weak = ", ".join(profile.weak_fields) or "-"
            lines.append(f"| {profile.sku} | {profile.vendor} | {profile.accelerator_class} | {memory} | {weak} |")
        lines.append("")
    return "\n".join(lines)


def test_the_page_lists_the_rows_by_confidence():
    before, _, rest = PAGE.read_text().partition(BEGIN)
    text = f"{before}{BEGIN}{rows_by_confidence()}{END}{rest.partition(END)[2]}"
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text


def test_every_source_is_explained():
    explained = set(re.findall(r"\b[A-Z0-9]+(?:-[A-Z0-9]+)*\b", PAGE.read_text().partition("## Sources")[2]))
    used = {source for profile in CATALOG for source in profile.sources}
    used |= {source for profile in CATALOG for partition in profile.partitions for source in partition.sources}
    assert used - explained == set()


def test_the_example_of_a_sites_file_loads(tmp_path):
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "site.yaml").write_text(example)
    site = Catalog.load(tmp_path / "site.yaml")
    assert len(site) == len(CATALOG) + 2
    assert site["T4"].unit_milli == 300


def test_the_example_in_python_runs(capsys):
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    exec(compile(example, "catalog.md", "exec"), {})  # noqa: S102 - our own text
    assert capsys.readouterr().out == "True\nFalse\n"


RIGHT = [
    ("128 GB HBM2e at 3.7 TB/s", "Gaudi3-HL-325L", "memory_mib", 128 * 1024),
    ("3.7 TB/s; 1677 TFLOPS in bf16", "Gaudi3-HL-325L", "bandwidth_mbps", 3_700_000),
    ("1677 TFLOPS in bf16", "Gaudi3-HL-325L", "bf16", 1677),
    ("1978.9 in fp8", "H100-SXM5-80GB", "fp8", 1978.9),
    ("989.4 in bf16", "H100-SXM5-80GB", "bf16", 989.4),
    ("989.4, 362.05, 65", "L40S", "bf16", 362.05),
    ("989.4, 362.05, 65", "T4", "fp16", 65),
    ("one device of 192 GB", "MI300X", "memory_mib", 192 * 1024),
    ("896 GB/s in all", "MI300X", "interconnect_mbps", 896_000),
    ("128 GB/s for a pair", "MI300X", "pair_mbps", 128_000),
    ("H100 NVL 94", "H100-NVL-94GB", "memory_mib", 94 * 1024),
    ("H20 96", "H20-96GB", "memory_mib", 96 * 1024),
    ("Gaudi 2 96", "Gaudi2-HL-225", "memory_mib", 96 * 1024),
    ("H200 141", "H200-SXM-141GB", "memory_mib", 141 * 1024),
    ("B200 180", "B200-SXM-180GB", "memory_mib", 180 * 1024),
    ("GB200 186", "GB200-186GB", "memory_mib", 186 * 1024),
    ("B300 270", "B300-SXM6-270GB", "memory_mib", 270 * 1024),
    ("MI350X 288", "MI350X", "memory_mib", 288 * 1024),
    ("910B2 353.9 and 64 GB", "Ascend-910B2", "fp16", 353.9),
    ("910B3 294.9 and 64 GB", "Ascend-910B3", "fp16", 294.9),
    ("910B4 about 262.1 and 32 GB", "Ascend-910B4", "fp16", 262.1),
    ("910B4 about 262.1 and 32 GB", "Ascend-910B4", "memory_mib", 32 * 1024),
    ("96 in fp16; 256 is int8 TOPS", "MLU370-X8", "fp16", 96),
    ("96 in fp16; 256 is int8 TOPS", "MLU370-X8", "int8", 256),
    ("MLU-Link has 200 GB/s", "MLU370-X8", "interconnect_mbps", 200_000),
    ("LPDDR5 614.4 GB/s", "MLU370-X8", "bandwidth_mbps", 614_400),
    ("114.7 TFLOPS in bf16", "Xeon-8480P-AMX", "bf16", 114.7),
    ("229.4 TOPS in int8", "Xeon-8480P-AMX", "int8", 229.4),
    ("any pair has the full 900 GB/s", "H100-SXM5-80GB", "pair_mbps", 900_000),
    ("no fp8 on any Ampere part", "A100-SXM4-80GB", "fp8", 0),
    ("150 TOPS dense", "B300-SXM6-270GB", "int8", 150),
    ("use fp8 (4500)", "B300-SXM6-270GB", "fp8", 4500),
    ("four devices of 16 GB", "A16", "memory_mib", 16 * 1024),
    ("two devices of 64 GB", "MI250X", "memory_mib", 64 * 1024),
    ("| 256 GB |", "MI325X", "memory_mib", 256 * 1024),
    ("128 GB at 5.3 TB/s", "MI300A", "memory_mib", 128 * 1024),
    ("128 GB at 5.3 TB/s", "MI300A", "bandwidth_mbps", 5_300_000),
    ("96 GB or 144 GB", "GH200-96GB", "memory_mib", 96 * 1024),
    ("96 GB or 144 GB", "GH200-144GB", "memory_mib", 144 * 1024),
    ("181.05 in bf16", "L40", "bf16", 181.05),
]


@pytest.mark.parametrize(("phrase", "sku", "field", "value"), RIGHT)
def test_the_right_number_is_that_of_the_catalog(phrase, sku, field, value):
    assert phrase in WRONG.read_text()
    profile = CATALOG[sku]
    assert (getattr(profile, field) if field in type(profile).model_fields else profile.rates.of(field)) == value
