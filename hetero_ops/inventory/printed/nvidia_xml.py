"""`nvidia-smi -q -x`: one XML element for each GPU."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from hetero_ops.document.refusal import refusal
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.draft import MOST_DEVICES, NodeDraft, unreadable
from hetero_ops.inventory.printed.link import islands_of
from hetero_ops.inventory.printed.mig import Instance
from hetero_ops.inventory.printed.nvidia_card import Card, Process, add_cards
from hetero_ops.inventory.printed.printed_value import identifier, name, number, pci_address, pci_id, uuid
from hetero_ops.inventory.printed.terminal_text import line_at, plain, shape

_LOG = re.compile(r"<nvidia_smi_log[\s>]")
_GPU = re.compile(r"<gpu(?:\s[^<>]*)?>")
_GPU_END = "</gpu>"
_PRODUCT = "<product_name>"
_OWN_TAGS = ("product_name", "uuid", "serial", "minor_number")
_OWN_ENTITIES = re.compile(r"<!ENTITY|<!DOCTYPE[^<>]*\[")
_MIB = re.compile(r"([0-9]{1,9}) ?MiB")
_VERSION = re.compile(r"<(driver_version|cuda_version)>\s*([0-9]+(?:\.[0-9]+)+)\s*<")
_ATTACHED = re.compile(r"<attached_gpus>\s*([0-9]{1,6})\s*<")
_PCI_ID = re.compile(r"([0-9A-F]{4})10DE", re.IGNORECASE)
_VENDOR_ID = "10de"
_ENGINES = {"copy": "copy_engine_count", "decoder": "decoder_count", "ofa": "ofa_count"}
_DRIVER_KEYS = {"driver_version": "nvidia", "cuda_version": "cuda"}


def recognises(text: str) -> bool:
    """Tell whether a text is such output."""
    return _LOG.search(shape(text)) is not None


def read(text: str, node: str, catalog: Catalog) -> Fragment:
    """Read the GPUs of one node.

    Of a log that was cut or damaged, every GPU is read as far as it goes; findings name the rest.

    Args:
        text: what `nvidia-smi -q -x` printed.
        node: the name of the node.
        catalog: the known accelerators.

    Raises:
        InvalidDocument: no GPU can be read, or the document declares entities of its own.
    """
    text, draft = plain(text), NodeDraft(node, catalog, "nvidia")
    entities = _OWN_ENTITIES.search(text)
    if entities:
        raise refusal(
            "XML with entities of its own", "give the output as printed", line=line_at(text, entities.start())
        )
    text = _first_log(text, draft)
    elements = _counted([_parse(part, draft) for part in _parts(text)], text, draft)
    if not elements:
        raise unreadable("nvidia-smi -q -x")
    cards = [_card(index, element) for index, element in elements.items()]
    fabrics = {index: fabric for index, element in elements.items() if (fabric := _fabric(element))}
    draft.driver = {_DRIVER_KEYS[key]: version for key, version in _VERSION.findall(text)}
    draft.labels = _labels(cards, fabrics)
    draft.sees_processes = all(element.find("processes") is not None for element in elements.values())
    add_cards(draft, cards)
    _add_islands(draft, fabrics)
    return draft.fragment()


@dataclass(frozen=True, slots=True)
class _Part:
    """The text of one `gpu` element, and the line where it begins."""

    text: str
    line: int


def _first_log(text: str, draft: NodeDraft) -> str:
    logs = [match.start() for match in _LOG.finditer(text)]
    if len(logs) <= 1:
        return text
    draft.left_over(line_at(text, logs[1]), "a second log; only the first is read")
    return text[: logs[1]]


def _parts(text: str) -> Iterator[_Part]:
    """Cut the text at its GPUs, so that damage to one leaves the others readable."""
    starts = [match.start() for match in _GPU.finditer(text)]
    if len(starts) > MOST_DEVICES:
        raise refusal(f"more than {MOST_DEVICES} GPUs in one node", "give the output for one node")
    line, before = 1, 0
    for start, following in pairwise([*starts, len(text)]):
        line, before = line + text.count("\n", before, start), start
        end = text.find(_GPU_END, start, following)
        stop = following if end < 0 else end + len(_GPU_END)
        yield _Part(text[start:stop], line)


def _parse(part: _Part, draft: NodeDraft) -> Element | None:
    """Parse as far as it goes; without a document type there are no entities that could grow."""
    parser: XMLPullParser[Element] = XMLPullParser(("start",))
    parser.feed(part.text)
    root: Element | None = None
    try:
        for event in parser.read_events():
            root = event[-1] if root is None and isinstance(event[-1], Element) else root
        parser.close()
    except ParseError as error:
        line = part.line + error.position[0] - 1
        draft.note("TRUNCATED", f"line {line}: the GPU that begins in line {part.line} ends or breaks here")
    if root is None or (root.findtext("product_name") is None and root.findtext("uuid") is None):
        draft.note("TRUNCATED", f"line {part.line}: a GPU without product_name and uuid; left out")
        return None
    if _is_mixed(root):
        draft.note("TRUNCATED", f"line {part.line}: lines of two GPUs with none between them; left out")
        return None
    return root


def _counted(parsed: Sequence[Element | None], text: str, draft: NodeDraft) -> dict[int, Element]:
    """Give the readable GPUs by index, which is their place in the log; one that is left out keeps its place.

    Where as many are readable as the log counts, what is left out was none.
    """
    readable = [element for element in parsed if element is not None]
    attached = _ATTACHED.search(text)
    expected = int(attached[1]) if attached else text.count(_PRODUCT)
    if expected == len(readable):
        return dict(enumerate(readable))
    what = f"the log tells of {expected} GPUs, {len(readable)} were read; indices count those that are printed"
    draft.note("TRUNCATED", what)
    return {index: element for index, element in enumerate(parsed) if element is not None}


def _is_mixed(gpu: Element) -> bool:
    """Tell whether an element has two names: the lines that end one GPU and begin the next were lost."""
    return any(len({child.text for child in gpu.iterfind(tag)}) > 1 for tag in _OWN_TAGS)


def _card(index: int, gpu: Element) -> Card:
    device = _PCI_ID.fullmatch(_text(gpu, "pci/pci_device_id"))
    memory_mib, used_mib = _memory(gpu)
    return Card(
        index=index,
        product=name(gpu.findtext("product_name")),
        memory_mib=memory_mib,
        used_mib=used_mib,
        pci=pci_address(gpu.get("id")) or pci_address(_text(gpu, "pci/pci_bus_id")),
        pci_id=pci_id(_VENDOR_ID, device[1]) if device else None,
        uuid=uuid(gpu.findtext("uuid")),
        serial=identifier(gpu.findtext("serial")),
        is_partitioned=_text(gpu, "mig_mode/current_mig") == "Enabled",
        instances=[instance for each in gpu.iterfind("mig_devices/mig_device") for instance in _instance(each)],
        processes=[_process(each) for each in gpu.iterfind("processes/process_info")],
    )


def _instance(mig: Element) -> Iterator[Instance]:
    gpu_instance = _number(mig, "gpu_instance_id")
    if gpu_instance is None:
        return
    counts = {kind: _number(mig, f"device_attributes/shared/{name}") for kind, name in _ENGINES.items()}
    engines = {kind: count for kind, count in counts.items() if count is not None}
    memory_mib, used_mib = _memory(mig)
    yield Instance(gpu_instance, memory_mib, engines, uuid(mig.findtext("uuid")), used_mib)


def _process(info: Element) -> Process:
    pid = _number(info, "pid")
    return Process(
        _number(info, "gpu_instance_id"),
        "unknown" if pid is None else str(pid),
        _text(info, "type"),
        info.findtext("process_name"),
    )


def _fabric(gpu: Element) -> str | None:
    """Give cluster and clique of the NVLink fabric that a GPU has joined; all zeros mean none beyond the node."""
    cluster, clique = uuid(gpu.findtext("fabric/clusterUuid")), _number(gpu, "fabric/cliqueId")
    if _text(gpu, "fabric/state") != "Completed" or clique is None:
        return None
    return f"{cluster}.{clique}" if cluster and cluster.strip("0-") else None


def _labels(cards: list[Card], fabrics: dict[int, str]) -> dict[str, str]:
    cliques = set(fabrics.values())
    is_one = len(cliques) == 1 and len(fabrics) == len(cards)
    # The label that NVIDIA's feature discovery and DRA driver give such a node.
    return {"nvidia.com/gpu.clique": cliques.pop()} if is_one else {}


def _add_islands(draft: NodeDraft, fabrics: dict[int, str]) -> None:
    """Join the GPUs of one clique; of others the log says nothing."""
    links = {(a, b): True for a in fabrics for b in fabrics if a < b and fabrics[a] == fabrics[b]}
    whole = {index: device for index, device in draft.devices.items() if "partition" not in device}
    for first, islands in islands_of(sorted(fabrics.keys() & whole.keys()), links).items():
        if islands:
            whole[first]["islands"] = islands


def _memory(element: Element) -> tuple[int | None, int | None]:
    """Give memory and how much of it is in use."""
    total, used = (_MIB.fullmatch(_text(element, f"fb_memory_usage/{key}")) for key in ("total", "used"))
    return int(total[1]) or None if total else None, int(used[1]) if used else None


def _number(element: Element, path: str) -> int | None:
    return number(_text(element, path))


def _text(element: Element, path: str) -> str:
    return (element.findtext(path) or "").strip()
