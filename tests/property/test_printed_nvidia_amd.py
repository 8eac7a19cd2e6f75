"""Whatever happened to a paste: what is left is read, or refused; never made into something else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.printed import amd_smi, nvidia_table, nvidia_topo, nvidia_xml, rocm_smi
from hetero_ops.inventory.printed.terminal_text import plain
from tests.inventory.printed import outcome

CATALOG = Catalog.builtin()
READERS = {
    "nvidia-smi-xml": nvidia_xml,
    "nvidia-smi-table": nvidia_table,
    "nvidia-smi-topo": nvidia_topo,
    "amd-smi": amd_smi,
    "rocm-smi-showtopo": rocm_smi,
}
# The product strings and device ids that the samples print of models in the catalog.
PRODUCTS = ("NVIDIA H100 80GB HBM3", "NVIDIA GB200", "Tesla T4", "MI300A", "0x74a0")
# Offered whole where its MIG mode was cut off, with a finding.
WHOLE_H100 = {"id": 0, "sku": "H100-SXM5-80GB", "memory_mib": 81559, "pci": "0000:00:09.0"}
ESCAPES = ("\x1b[4m", "\x1b[0m", "\x1b[1;32m", "\x1b]0;title\x07", "\x1b[K", "\r", "\x00")


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    for _ in range(draw(st.integers(1, 6))):
        lines = text.splitlines(keepends=True)
        at = draw(st.integers(0, max(len(lines) - 1, 0)))
        place = draw(st.integers(0, len(text)))
        kind = draw(st.sampled_from(["drop", "drop many", "repeat", "head", "tail", "blank", "escape"]))
        if kind == "drop":
            text = "".join(lines[:at] + lines[at + 1 :])
        elif kind == "drop many":
            text = "".join(lines[:at] + lines[at + draw(st.integers(1, 12)) :])
        elif kind == "repeat":
            text = "".join(lines[: at + 1] + lines[at : at + draw(st.integers(1, 4))] + lines[at + 1 :])
        elif kind == "head":
            text = text[:place]
        elif kind == "tail":
            text = text[place:]
        elif kind == "blank":
            text = text[:place] + " " * draw(st.integers(1, 3)) + text[place:]
        else:
            text = text[:place] + draw(st.sampled_from(ESCAPES)) + text[place:]
    return text


def is_less_of(device: dict[str, Any], whole: dict[str, Any], folder: str) -> bool:
    """Tell whether a device is one of the undamaged text, of which perhaps less is known."""
    keys = ["sku", "memory_mib", "partition"]
    # These say all of a GPU on one line; elsewhere a hole may join two GPUs that nothing tells apart any more.
    keys += ["id", "numa", "pci"] if folder in ("nvidia-smi-topo", "rocm-smi-showtopo") else []
    return all(device.get(key) in (None, "unknown", "mig", whole.get(key)) for key in keys)


def islands(devices: list[dict[str, Any]]) -> list[set[int]]:
    return [set(island) for device in devices for island in device.get("islands", [])]


@given(data=st.data())
def test_a_damaged_paste_is_read_or_refused(test_data: Callable[[str], Path], data: st.DataObject) -> None:
    folder = data.draw(st.sampled_from(sorted(READERS)))
    reader = READERS[folder]
    file = data.draw(st.sampled_from(sorted(test_data(f"samples/{folder}").glob("*.[txj]*"))))
    text = data.draw(damaged(file.read_text()))
    reader.recognises(text)
    try:
        found = outcome.devices(fragment := reader.read(text, "n1", CATALOG))
    except InvalidDocument:
        return
    outcome.loaded(fragment)
    whole = outcome.devices(reader.read(file.read_text(), "n1", CATALOG))
    for device in found:
        assert any(is_less_of(device, other, folder) for other in [*whole, WHOLE_H100])
        assert device.get("islands") != [] or whole[device["id"]].get("islands") == []
    for island in islands(found):
        # A log of XML numbers its GPUs by their place only, which a lost or repeated line shifts.
        same = len(island) if folder == "nvidia-smi-xml" else len(island & islands(whole)[0])
        assert len(island) == same <= len(islands(whole)[0])
    said = " ".join(plain(text).split())
    meant = {profile.sku for product in PRODUCTS if product in said for profile in CATALOG.candidates(product)}
    assert {device["sku"] for device in found} <= meant | {"unknown"}


@given(st.text(alphabet='GPU0123[]:|+-= \n\tXNVMiB.<>/"{}gpu_', max_size=200), st.sampled_from(sorted(READERS)))
def test_any_text_is_read_or_refused(text: str, folder: str) -> None:
    for dressed in (
        text,
        f"<nvidia_smi_log><gpu>{text}</gpu>",
        f"\tGPU0\tCPU Affinity\n{text}",
        f"GPU: 0\n  BDF: {text}",
    ):
        try:
            outcome.loaded(READERS[folder].read(dressed, "n1", CATALOG))
        except InvalidDocument:
            continue
