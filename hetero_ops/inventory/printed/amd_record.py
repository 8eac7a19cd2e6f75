"""What `amd-smi` prints of each GPU, as text or as JSON, in one form: values by dotted key, as `asic.market_name`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hetero_ops.document.json_text import read_json
from hetero_ops.inventory.printed.draft import NodeDraft
from hetero_ops.inventory.printed.terminal_text import numbered_lines

_BEGIN = re.compile(r"(GPU|CPU):\s*([0-9]{1,6})")
_KEY = re.compile(r"[A-Z][A-Z0-9_ ]{0,60}")
_INDEX = re.compile(r"[0-9]{1,6}")
_MAX_DEPTH = 16
# What tells one GPU from the others.
_OWN_KEYS = ("bdf", "bus.bdf", "asic.asic_serial", "asic.oam_id", "kfd_id")


@dataclass(slots=True)
class Record:
    """One GPU as printed, in the order of its index."""

    gpu: int
    values: dict[str, str] = field(default_factory=dict)

    def get(self, *keys: str) -> str:
        """Give the value of the first of these keys that is there; empty when none is."""
        return next((self.values[key] for key in keys if key in self.values), "")


def records_of_text(text: str, draft: NodeDraft) -> list[Record]:
    """Read blocks that begin with `GPU: 0`, with sections of indented `KEY: value` lines."""
    records: dict[int, Record] = {}
    record: Record | None = None
    section = ""  # with a dot at its end
    for line, row in numbered_lines(text):
        key, colon, value = (part.strip() for part in row.partition(":"))
        begin = _BEGIN.fullmatch(row.strip())
        if begin:
            record, section = _begin(records, begin, line, draft), ""
        elif not colon or not _KEY.fullmatch(key):
            draft.left_over(line, "not understood")
        elif record is None:
            draft.left_over(line, "of no GPU, or of one that was read before")
        elif value:
            record = _put(record, f"{section}{_word(key)}", value, line, draft)
        else:
            section = f"{_word(key)}."
    return [record for record in records.values() if record.values]


def records_of_json(text: str, draft: NodeDraft) -> list[Record]:
    """Read a list of objects with a `gpu` each, alone or under `gpu_data`.

    Raises:
        InvalidDocument: the text is no JSON.
    """
    value = read_json(text, "", _MAX_DEPTH)
    if isinstance(value, dict):
        value = value.get("gpu_data", [value])
    records: dict[int, Record] = {}
    for item in value if isinstance(value, list) else []:
        flat = dict(_flat(item))
        index = flat.pop("gpu", "")
        if not _INDEX.fullmatch(index) or not flat:
            draft.note("TEXT_LEFT_OVER", "an entry of the list that tells of no GPU")
        elif int(index) in records:
            draft.note("TEXT_LEFT_OVER", "it is there again; the first entry counts", int(index))
        elif draft.is_index(int(index)):
            records[int(index)] = Record(int(index), flat)
    return list(records.values())


def _begin(records: dict[int, Record], begin: re.Match[str], line: int, draft: NodeDraft) -> Record | None:
    """Begin a block; of a GPU that was read before, or a CPU, there is none."""
    index = int(begin[2])
    if begin[1] == "CPU" or not draft.is_index(index):
        return None
    if index in records and records[index].values:
        draft.left_over(line, "a GPU that was read before; the first counts")
        return None
    return records.setdefault(index, Record(index))


def _put(record: Record, key: str, value: str, line: int, draft: NodeDraft) -> Record | None:
    """Put a value into a block. A second name in it means that the first line of the next GPU was lost."""
    if record.values.setdefault(key, value) == value or key not in _OWN_KEYS:
        return record
    draft.left_over(line, f"another {key} of one GPU; its block is left out")
    record.values.clear()
    return None


def _word(key: str) -> str:
    return key.lower().replace(" ", "_")


def _flat(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Walk the leaves of a value with their dotted paths; amounts, `{"value": 5, "unit": "MB"}`, are one leaf."""
    if isinstance(value, dict) and value.keys() == {"value", "unit"}:
        yield path, f"{value['value']} {value['unit']}"
    elif isinstance(value, dict | list):
        children = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in children:
            yield from _flat(child, f"{path}.{key}" if path else str(key))
    elif value is not None:
        yield path, str(value)
