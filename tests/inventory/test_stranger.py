import stat
from pathlib import Path

import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory import this_machine
from hetero_ops.inventory.intake import Handed, Hints, gather
from hetero_ops.inventory.stranger import entries_of

CATALOG = Catalog.builtin()


def entries(*devices):
    node = {"name": "a", "devices": list(devices)}
    return entries_of({"clusters": [{"name": "west", "nodes": [node]}]}, CATALOG)


def unknown(product, vendor="intel", **more):
    return {"sku": "unknown", "vendor": vendor, "class": "gpu", "product": product, **more}


def test_an_unknown_product_becomes_an_entry_that_names_it():
    (entry,) = entries(unknown("Intel(R) Arc(TM) Pro Z99 Graphics", memory_mib=23_900))
    assert entry == {
        "sku": "Arc-Pro-Z99-Graphics",
        "vendor": "intel",
        "class": "gpu",
        "model": "Arc Pro Z99 Graphics",
        "product_name": "Intel(R) Arc(TM) Pro Z99 Graphics",
        "memory": "24576MB",
        "reported_memory": "23900MB",
    }


def test_eight_of_one_product_are_one_entry():
    assert len(entries(*[unknown("XPU-1")] * 8)) == 1


@pytest.mark.parametrize(
    "device",
    [
        unknown("NVIDIA GeForce RTX 2080 ...", "nvidia"),
        unknown("NVIDIA H100 80GB HBM3", "nvidia"),
        unknown(None),
        {"sku": "unknown", "class": "gpu", "product": "XPU-1"},
        unknown("XPU-1", partition="1g.5gb"),
        {"sku": "L4", "count": 2},
    ],
)
def test_what_is_known_or_cannot_be_named_is_left_out(device):
    assert entries(device) == []


def test_what_is_added_is_found_again(tmp_path, test_data):
    text = test_data("samples/nvidia-smi-xml/gtx1070ti-schema-v10.xml").read_bytes()
    before = gather([Handed("ws.xml", text)], CATALOG, Hints()).document
    (entry,) = entries_of(before, CATALOG)
    file = tmp_path / "mine.yaml"
    lines = "".join(f"    {key}: {value}\n" for key, value in entry.items() if key != "sku")
    file.write_text(f"apiVersion: hetero-ops/v1\nkind: Catalog\nentries:\n  - sku: {entry['sku']}\n{lines}")
    catalog = Catalog.load(file)
    after = gather([Handed("ws.xml", text)], catalog, Hints()).document
    assert after["clusters"][0]["nodes"][0]["devices"][0]["sku"] == "GeForce-GTX-1070-Ti"
    assert entries_of(after, catalog) == []


def a_tool(folder: Path, name: str, script: str):
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_the_tools_of_this_machine_are_run(tmp_path, monkeypatch, test_data):
    sample = test_data("samples/nvidia-smi-xml/gtx1070ti-schema-v10.xml")
    a_tool(tmp_path, "nvidia-smi", f'[ "$1" = -q ] && /bin/cat "{sample}"')
    a_tool(tmp_path, "hl-smi", "exit 1")
    a_tool(tmp_path, "npu-smi", ":")
    monkeypatch.setenv("PATH", str(tmp_path))
    (output,) = this_machine.printed()
    assert output.name == "nvidia-smi -q -x"
    (entry,) = entries_of(gather([output], CATALOG, Hints(node="here")).document, CATALOG)
    assert entry["model"] == "GeForce GTX 1070 Ti"


def test_a_tool_that_hangs_is_left_out(tmp_path, monkeypatch):
    a_tool(tmp_path, "hl-smi", "exec /bin/sleep 60")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(this_machine, "_TIMEOUT_S", 0.2)
    assert this_machine.printed() == []


def test_a_machine_without_tools_prints_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert this_machine.printed() == []
