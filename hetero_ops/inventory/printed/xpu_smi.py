"""`xpu-smi discovery` (Intel GPU): a table of `Key: value` lines per device, or JSON."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hetero_ops.document.field import Field
from hetero_ops.document.text import read_text
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.draft import NodeDraft, unreadable
from hetero_ops.inventory.printed.printed_value import identifier, known, name, number, pci_address, pci_id, uuid
from hetero_ops.inventory.printed.table_line import Line, lines_of
from hetero_ops.inventory.printed.terminal_text import plain, shape

_COMMAND = "xpu-smi discovery"
_TABLE = re.compile(r"\|\s*Device ID\s*\|\s*Device Information\s*\|")
_JSON = re.compile(r'"device_list"\s*:|"device_name"\s*:')
_JSON_MARKS = ("pci_bdf_address", "pci_device_id", "vendor_name")
_MEBIBYTES = re.compile(r"(\d{1,9})(?:\.\d+)?\s*MiB")
_BYTES_PER_MIB = 2**20
_PCI_KEY = "PCI BDF Address"
_VENDOR_ID = "8086"
# Keys of the JSON form and the words of the table for the same; those not listed here are read from neither.
_WORDS = {
    "device_id": "Device ID",
    "device_name": "Device Name",
    "device_state": "Device State",
    "driver_version": "Driver Version",
    "gfx_firmware_version": "GFX Firmware Version",
    "memory_physical_size_byte": "Memory Physical Size",
    "pci_bdf_address": _PCI_KEY,
    "pci_device_id": "PCI Device ID",
    "pci_slot": "PCI Slot",
    "serial_number": "Serial Number",
    "uuid": "UUID",
}
_DEVICE_CELLS = 2
_DEVICE_HEADER = "Device ID"


@dataclass(slots=True)
class Printout:
    """What was printed: per device the values by key, exactly as they stand there."""

    devices: dict[int, dict[str, str]] = field(default_factory=dict)
    is_closed: bool = False
    left: list[Line] = field(default_factory=list)


def recognises(text: str) -> bool:
    """Tell whether a text is, or contains, the output of `xpu-smi discovery`."""
    text = shape(text)
    if text.lstrip().startswith("{"):
        return _JSON.search(text) is not None and any(f'"{mark}"' in text for mark in _JSON_MARKS)
    return _TABLE.search(text) is not None


def read(text: str, node: str, catalog: Catalog) -> Fragment:
    """Read `xpu-smi discovery` of one node; it does not tell what is in use.

    Raises:
        InvalidDocument: no device can be read, or JSON that is none.
    """
    text, draft = plain(text), NodeDraft(node, catalog, "intel")
    printout = parse_json(text) if text.lstrip().startswith("{") else parse(text)
    for device_id, printed in printout.devices.items():
        _add(draft, device_id, printed)
    drivers = sorted({value for printed in printout.devices.values() if (value := name(printed.get("Driver Version")))})
    if len(drivers) == 1:
        draft.driver = {"intel": drivers[0]}
    for line in printout.left:
        draft.left_over(line.number)
    if not printout.is_closed:
        draft.note("TRUNCATED", "the table is not closed")
    if not draft.devices:
        raise unreadable(_COMMAND)
    return draft.fragment()


def parse(text: str) -> Printout:
    """Read the table. Only rows below its header are devices: a matrix of links before it lists none."""
    printout = Printout()
    device: dict[str, str] | None = None
    is_inside = False
    for line in lines_of(text):
        if line.is_border:
            printout.is_closed = is_inside
            continue
        if line.cells[:1] == (_DEVICE_HEADER,):
            is_inside = True
            continue
        if not is_inside or len(line.cells) != _DEVICE_CELLS:
            if line.text.strip() != "XPU Discovery:":
                printout.left.append(line)
            continue
        printout.is_closed = False
        device_id, (key, colon, value) = number(line.cells[0]), line.cells[1].partition(":")
        if device_id is not None:
            device = printout.devices.setdefault(device_id, {})
        # Of a line that was cut only an address can be told to be whole.
        is_whole = line.is_closed or (key == _PCI_KEY and pci_address(value) is not None)
        if device is None or not is_whole or not (colon or not line.cells[1]):
            printout.left.append(line)
        elif key:
            device.setdefault(key, value.strip())
    return printout


def parse_json(text: str) -> Printout:
    """Read the JSON form: a list of devices, or one.

    Raises:
        InvalidDocument: this is not JSON, or a value has the wrong type.
    """
    document = read_text(text, _COMMAND)
    root = Field(document.value, document)
    listed = root.get("device_list")
    printout = Printout(is_closed=True)
    for device in [root] if listed.value is None else listed.items():
        printed = dict(_texts(device))
        device_id = number(printed.get("Device ID"))
        if device_id is None:
            raise device.refuse("a device without device_id", f"give the whole output of `{_COMMAND} -j`")
        printout.devices.setdefault(device_id, printed)
    return printout


def _texts(device: Field) -> Iterator[tuple[str, str]]:
    for key, value in device.fields():
        word = _WORDS.get(key)
        if word is None or not isinstance(value.value, str | int):
            continue
        text = str(value.value)
        if word == "Memory Physical Size":
            size = number(text)
            text = "" if size is None else f"{size // _BYTES_PER_MIB} MiB"
        yield word, text


def _add(draft: NodeDraft, device_id: int, printed: dict[str, str]) -> None:
    memory = _MEBIBYTES.fullmatch(printed.get("Memory Physical Size", ""))
    memory_mib = (number(memory[1]) or None) if memory else None
    product, device = name(printed.get("Device Name")), pci_id(_VENDOR_ID, printed.get("PCI Device ID"))
    draft.add(
        device_id,
        draft.identify(device_id, [product, device], memory_mib),
        uuid=uuid(printed.get("SOC UUID") or printed.get("UUID")),
        pci=pci_address(printed.get(_PCI_KEY)),
        serial=identifier(printed.get("Serial Number")),
        firmware=name(printed.get("GFX Firmware Version")),
        slot=name(printed.get("PCI Slot")),
    )
    state = known(printed.get("Device State"))
    if state is not None and state.lower() != "normal":
        draft.note("DEVICE_WARNING", f"xpu-smi prints its state as {state!r}; taken as usable", device_id)
