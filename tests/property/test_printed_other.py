"""Whatever a damaged print-out says: a fragment that loads, with no model that it does not name, or a clear refusal."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import FindingCode
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.intake import Handed, Hints, gather, without_defaults
from hetero_ops.inventory.printed import asset_table, hl_smi, npu_smi, scontrol, xpu_smi
from hetero_ops.inventory.printed.dispatch import Reader
from hetero_ops.inventory.printed.product import is_fitting, meanings
from hetero_ops.inventory.printed.terminal_text import plain
from hetero_ops.placement.fleet import Fleet

CATALOG = Catalog.builtin()
SAMPLES: list[tuple[Reader, str]] = [
    (npu_smi, "npu-smi/8npu-32gb-name-masked.txt"),
    (npu_smi, "npu-smi/910b4-1-masked-bus.txt"),
    (npu_smi, "npu-smi/910b4-in-use-cut.txt"),
    (hl_smi, "hl-smi/gaudi2-8-hl-1.22.txt"),
    (xpu_smi, "xpu-smi/arc-b580-detail.txt"),
    (xpu_smi, "xpu-smi/arc-pro-b60-8gpu-topology-cut.txt"),
    (xpu_smi, "xpu-smi/unnamed-0x020a-discovery.json"),
    (scontrol, "scontrol/3-cloud-nodes-no-gres.txt"),
    (scontrol, "scontrol/gres-lines-only.txt"),
]
SLURM = """\
NodeName=a CPUTot=72 OS=Linux #1 RealMemory=4 AllocMem=1 Gres=gpu:h200:4(S:0-1),gpu:t4:1 GresUsed=gpu:h200:2(IDX:1,3) \
State=MIXED+DRAIN AllocTRES=cpu=16,gres/gpu:h200=2,gres/gpu=3 Reason=(null)
NodeName=b State=IDLE* Gres=npu:910b3:8 CfgTRES=gres/npu=8
"""
ASSETS = """\
node,cluster,model,count,memory,serial,pci,numa,state,driver,island,used
a,,H200,4,141GB,,,0,burn-in,580.65.06,0,"[{""owner"": ""x"", ""devices"": [1]}]"
a,,T4,,15360MiB,S1,C3:00.0,,,,none,
b,,MI300X,8,,,,,,,,
"""
OURS: list[tuple[Reader, str]] = [(scontrol, SLURM), (asset_table, ASSETS)]
JSON_CELL = re.compile(r"\.(used|taints|labels)\b")
NOISE = st.sampled_from(
    [
        "|",
        "+",
        "-",
        " ",
        "\n",
        "\t",
        ",",
        ";",
        '"',
        "=",
        ":",
        "(",
        "0",
        "9",
        "99999999999999999999",
        "x",
        "xx",
        "\ufeff",
        "\0",
        "é",
        "٣",
        "{",
        "}",
    ]
)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """A text with a few lines or characters lost, doubled, swapped, changed or added."""
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["cut", "head", "drop", "double", "swap", "change", "insert", "delete"]))
        lines = text.splitlines(keepends=True)
        if kind == "cut":
            text = text[: draw(st.integers(0, len(text)))]
        elif kind == "head":
            text = text[draw(st.integers(0, len(text))) :]
        elif kind in ("drop", "double", "swap") and lines:
            one, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
            if kind == "swap":
                lines[one], lines[other] = lines[other], lines[one]
            lines[one : one + 1] = {"drop": [], "double": [lines[one]] * 2, "swap": [lines[one]]}[kind]
            text = "".join(lines)
        elif text:
            at = draw(st.integers(0, len(text) - 1))
            new = "" if kind == "delete" else draw(NOISE)
            text = text[:at] + new + text[at + (kind != "insert") :]
    return text


def check(reader: Reader, fragment: Fragment, text: str) -> None:
    """No device is taken for what the text does not say: its product stands there, and means this model."""
    text = plain(text)  # what a terminal does not show stands between no letters
    for node in fragment.nodes:
        for device in node.get("devices", []):
            if device["sku"] == "unknown":
                continue
            profile = CATALOG[device["sku"]]
            is_by_id = any(f"0x{pci_id[5:]}" in text for pci_id in profile.pci_ids)
            if "product" not in device:
                assert is_by_id or device["sku"] in text
            else:
                assert device["product"] in " ".join(text.split())
                # A table that gives the nameplate of a device adds nothing to its SKU.
                memory = device.get("memory_mib", profile.memory_mib if reader is asset_table else None)
                meant = meanings(CATALOG, device["product"], profile.vendor)
                fitting = [each for each in meant if is_fitting(each, memory)]
                assert [profile] in (meant, fitting) or (is_by_id and (profile in meant or not meant))
    for finding in fragment.findings:
        assert finding.code in FindingCode.__args__
    clusters = [{"name": "c", "nodes": list(fragment.nodes)}]
    load({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters})


def load(document: dict[str, Any]) -> None:
    """Load a document; what a table says in JSON is checked by the core alone, which may refuse it."""
    try:
        Fleet.from_document(document)
    except InvalidDocument as error:
        if not JSON_CELL.search(error.path):
            raise


def read(reader: Reader, text: str) -> None:
    reader.recognises(text)
    try:
        fragment = reader.read(text, "n", CATALOG)
    except InvalidDocument:
        return
    check(reader, fragment, text)


@pytest.mark.parametrize(("reader", "name"), SAMPLES, ids=[name for _, name in SAMPLES])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=settings().max_examples // 3)
@given(data=st.data())
def test_damaged_samples(test_data: Callable[[str], Path], reader: Reader, name: str, data: st.DataObject) -> None:
    text = test_data(f"samples/{name}").read_text(encoding="utf-8")
    read(reader, data.draw(damaged(text)))


@pytest.mark.parametrize(("reader", "text"), OURS, ids=["scontrol", "asset table"])
@given(data=st.data())
def test_damaged_texts_of_ours(reader: Reader, text: str, data: st.DataObject) -> None:
    read(reader, data.draw(damaged(text)))


@given(data=st.data())
def test_any_mix_is_imported_or_refused(data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.sampled_from([text for _, text in OURS]).flatmap(damaged), min_size=1, max_size=3))
    handed = [Handed(f"a.{at}.txt", text.encode("utf-8", "surrogatepass")) for at, text in enumerate(texts)]
    try:
        document = without_defaults(gather(handed, CATALOG, Hints()).document)
    except InvalidDocument:
        return
    load(document)


def test_what_a_terminal_does_not_show_is_no_part_of_a_name():
    shown = "| 0 | Device Name: Intel(R) Arc(TM) Pro B60 Graphics |"
    hidden = shown.replace("Pro", "\ufeffP\x00ro")
    assert plain(hidden) == shown
