import os
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.throughput import ThroughputTable, read_throughput

CATALOG = Catalog.builtin()
GAVEL = Path(os.environ.get("HETERO_OPS_TEST_DATA", "../shared/data")) / "gavel" / "throughputs.csv"


def table_of(tmp_path: Path, text: str, name: str = "t.csv") -> ThroughputTable:
    (tmp_path / name).write_text(text)
    return read_throughput(tmp_path / name, CATALOG)


def test_a_row_counts_for_every_device_that_its_name_means(tmp_path: Path) -> None:
    table = table_of(tmp_path, "workload,device,devices,precision,throughput\nchat,A100-80GB,2,bf16,31.5\n")
    (row,) = table.rows
    assert (row.workload, row.devices, row.precision, row.per_second) == ("chat", 2, "bf16", 31.5)
    assert row.skus == ("A100-SXM4-80GB", "A100-PCIE-80GB")


def test_yaml_and_csv_say_the_same(tmp_path: Path) -> None:
    csv = table_of(tmp_path, "workload,device,throughput\nchat,L4,5\nchat,T4,2.5\n")
    yaml = table_of(
        tmp_path,
        "rows:\n- {workload: chat, device: L4, throughput: 5}\n- {workload: chat, device: T4, throughput: 2.5}\n",
        "t.yaml",
    )
    assert csv.rows == yaml.rows


def test_a_device_outside_the_catalog_is_kept_under_its_name(tmp_path: Path) -> None:
    table = table_of(tmp_path, "workload,device,throughput\nchat,xpu-9000,5\n")
    assert table.unknown == ("xpu-9000",)
    assert table.for_core(["XPU-9000"])["rows"][0]["models"] == ["XPU-9000"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "workload,device\nchat,L4\n", "t.csv:1: no column throughput"),
        ("t.csv", "workload,device,throughput,steps_per_second\n", "more than one column throughput"),
        ("t.csv", "workload,device,throughput\nchat,L4,fast\n", "t.csv:2: throughput is 'fast'"),
        ("t.csv", "workload,device,throughput\nchat,L4,-1\n", "throughput is '-1'"),
        ("t.csv", "workload,device,throughput\nchat,L4,nan\n", "throughput is 'nan'"),
        ("t.csv", "workload,device,throughput\n,L4,1\n", "workload is ''"),
        ("t.csv", "workload,device,devices,throughput\nchat,L4,0,1\n", "devices is '0'"),
        ("t.csv", "workload,device,precision,throughput\nchat,L4,fp9,1\n", "'fp9' is no precision"),
        ("t.csv", "workload,device,throughput\nchat,L4,1\nchat,l4,2\n", "t.csv:3: the same measurement"),
        ("t.yaml", "workload: chat\n", "no rows"),
        ("t.yaml", "rows:\n- {workload: chat, devise: L4, throughput: 1}\n", "t.yaml:2: rows[0].devise: unknown key"),
        ("t.yaml", "rows:\n- {workload: chat, device: 4, throughput: 1}\n", "device is 4"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        table_of(tmp_path, text, name)
    assert message in str(refused.value)


def test_a_missing_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="cannot be read: No such file"):
        read_throughput(tmp_path / "none.csv", CATALOG)


@pytest.mark.skipif(not GAVEL.exists(), reason=f"no {GAVEL}")
def test_gavels_table_says_what_its_source_says_of_it() -> None:
    table = read_throughput(GAVEL, CATALOG)
    one = {(row.workload, row.device): row.per_second for row in table.rows if row.devices == 1 and row.device != "k80"}
    ratios = [rate / one[workload, "p100"] for (workload, device), rate in one.items() if device == "v100"]
    assert (len(ratios), round(min(ratios), 2), round(max(ratios), 2)) == (26, 0.43, 1.84)
    assert sum(ratio < 1 for ratio in ratios) == 8
    assert table.unknown == ("k80",)
