"""The head of a choice, read: parts joined by `:`, in any order, told apart by their shape.

head = part { ":" part }
part = class | vendor | names | size | range | count
"""

import difflib
import re
from collections.abc import Callable

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.dialect import head_of_resource, is_resource_key
from hetero_ops.gap.old_spelling import OLD_VENDORS, current
from hetero_ops.gap.value import MAX_COUNT, MAX_NAMES
from hetero_ops.gap.word import is_word
from hetero_ops.gap.words import ASKED_CLASSES, VENDORS
from hetero_ops.units import parse_memory, quoted

_NUMBER = re.compile(r"[+-].*|nan|inf|infinity|[0-9.][0-9.]*(?:e[+-]?[0-9]*)?", re.IGNORECASE)
_COUNT = re.compile(r"[0-9]+")
_FRACTION = re.compile(r"0\.[0-9]{1,3}")
_SIZE = re.compile(r"[0-9][0-9.]*[A-Za-z]?i?B\+?", re.IGNORECASE)
_MODEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._+-]*[A-Za-z0-9._-])?")
_PARTITION = re.compile(r"[a-z0-9][a-z0-9._+-]*")
_COUNT_RANGE = re.compile(r"(?P<low>[0-9]+)\.\.(?P<high>[0-9]+)")
_OPEN_COUNT_RANGE = re.compile(r"[0-9]+\.\.|\.\.[0-9]+")

Fields = dict[str, object]


def read_head(text: str, position: int) -> Fields:
    """Reads a head.

    Args:
        text: the head, without blanks.
        position: where it begins in the requirement, from 1.

    Returns:
        The fields of a `Choice` that it gives.

    Raises:
        InvalidRequirement: a part has no known shape, or a kind of part comes twice.
    """
    fields: Fields = {}
    seen: set[str] = set()
    for part in text.removeprefix(_slurm_option(text)).split(":"):
        kind, read = _kind_of(part, position)
        if kind in seen:
            raise InvalidRequirement(
                f"second {kind} {quoted(part)} at character {position}; write one {kind} per choice"
            )
        seen.add(kind)
        fields |= read(part, position)
        position += len(part) + 1
    if seen == {"count"}:
        raise InvalidRequirement(f"{quoted(text)} says how many but not of what; write gpu:{text} or H100:{text}")
    return fields


def read_part(text: str, kind: str, example: str) -> Fields:
    """Reads one part that stands alone and must be of a kind, a `count` or a `memory size`.

    Raises:
        InvalidRequirement: it is of another kind, or no such count or size.
    """
    found, read = _kind_of(text, 1) if text else ("", None)
    if read is None or found != kind:
        raise InvalidRequirement(f"{quoted(text)} is no {kind}; write {example}")
    return read(text, 1)


def _kind_of(part: str, position: int) -> tuple[str, Callable[[str, int], Fields]]:
    """Tells a part by its shape; whatever has no other shape is a list of names."""
    if not part:
        raise InvalidRequirement(
            f"empty part at character {position}; write something between the colons, as in H100:8"
        )
    return next((kind, read) for fits, kind, read in _SHAPES if fits(part))


def _read_count(part: str, position: int) -> Fields:
    if _COUNT.fullmatch(part):
        # Digits are counted first: turning a thousand of them into a number is work for nothing.
        digits = part.lstrip("0")
        if len(digits) <= len(str(MAX_COUNT)) and 1 <= int(digits or 0) <= MAX_COUNT:
            return {"count": int(digits)}
        raise InvalidRequirement(f"count {quoted(part)} at character {position}; write 1 to {MAX_COUNT}")
    if _FRACTION.fullmatch(part):
        share_milli = int(part[2:].ljust(3, "0"))
        if share_milli:
            return {"share_milli": share_milli}
    raise InvalidRequirement(
        f"count {quoted(part)} at character {position}; write 1 to {MAX_COUNT}, "
        "or a share of one device from 0.001 to 0.999"
    )


def _read_size(part: str, position: int) -> Fields:
    if part.endswith("+"):
        return {"memory_floor_mib": _memory(part[:-1], position)}
    exactly = _memory(part, position)
    return {"memory_floor_mib": exactly, "memory_ceiling_mib": exactly}


def _read_count_range(part: str, position: int) -> Fields:
    match = _COUNT_RANGE.fullmatch(part)
    if match is None:
        raise InvalidRequirement(
            f"open count range {quoted(part)} at character {position}; write both ends, as in 4..8"
        )
    low, high = (_read_count(match[end], position)["count"] for end in ("low", "high"))
    if not isinstance(low, int) or not isinstance(high, int) or low > high:
        raise InvalidRequirement(
            f"count range {quoted(part)} at character {position}; write the smaller count first, as in 4..8"
        )
    return {"count": low} if low == high else {"count": low, "count_ceiling": high}


def _read_range(part: str, position: int) -> Fields:
    low, high = part.split("..", maxsplit=1)
    if not low and not high:
        raise InvalidRequirement(f"open range '..' at character {position}; write 24GB..80GB, 24GB.. or ..80GB")
    fields: Fields = {}
    if low:
        fields["memory_floor_mib"] = _memory(low, position)
    if high:
        fields["memory_ceiling_mib"] = _memory(high, position + len(low) + 2)
    return fields


def _memory(text: str, position: int) -> int:
    try:
        return parse_memory(text)
    except ValueError as error:
        raise InvalidRequirement(f"at character {position}: {error}") from None


def _read_names(part: str, position: int) -> Fields:
    if part.count(",") >= MAX_NAMES:
        raise InvalidRequirement(
            f"{part.count(',') + 1} names at character {position} are too many; write at most {MAX_NAMES} per choice"
        )
    names = []
    for name in part.split(","):
        names.append(_read_name(name, position))
        position += len(name) + 1
    return {"names": tuple(names)}


def _read_resource(part: str, position: int) -> Fields:
    head = head_of_resource(part)
    if head is None:
        raise InvalidRequirement(
            f"{quoted(part)} at character {position} is no resource key that names devices; "
            "write a class, a vendor or a model, as in nvidia:gpu:8"
        )
    return read_head(head, position)


def _slurm_option(text: str) -> str:
    """`--gres=` and its like, as they stand before what is asked for."""
    match = re.match(r"--(?:gres|gpus|gpus-per-node|gpus-per-task)=", text)
    return match.group() if match else ""


def _read_name(text: str, position: int) -> Fields:
    """Reads `MODEL`, `vendor/MODEL`, `MODEL/PARTITION`, `vendor/MODEL/PARTITION` or `vendor/*`; then `!` or `+`."""
    is_exact = text.endswith("!")
    segments = text.removesuffix("!").split("/")
    vendor = _vendor(segments.pop(0)) if len(segments) > 1 and _is_vendor(segments[0]) else None
    model, *partitions = segments
    is_or_newer = model.endswith("+") and not partitions and not is_exact
    model = model.removesuffix("+") if is_or_newer else model
    if not (model == "*" and vendor and not is_exact):
        _check_model(model, position)
    if len(partitions) > 1 or not all(map(_PARTITION.fullmatch, partitions)):
        raise InvalidRequirement(
            f"{quoted('/'.join(partitions))} in {quoted(text)} at character {position} is not a partition; "
            f"write MODEL/1g.10gb in lower case, or vendor/MODEL with a known vendor{_similar_vendor(model)}"
        )
    match = "exact" if is_exact else "newer" if is_or_newer else "any"
    return {"vendor": vendor, "name": model, "partition": partitions[0] if partitions else None, "match": match}


def _check_model(model: str, position: int) -> None:
    if not model:
        raise InvalidRequirement(
            f"empty name at character {position}; write a name such as H100, without blanks around"
        )
    if is_word(model):
        raise InvalidRequirement(
            f"{quoted(model)} at character {position} is a word, not a device; write it after a head, as in gpu {model}"
        )
    if not _MODEL.fullmatch(model):
        raise InvalidRequirement(
            f"{quoted(model)} at character {position} is not a name; use ASCII letters, digits and . _ + - only"
        )
    if _NUMBER.fullmatch(model) or _SIZE.fullmatch(model) or model.lower() in (*ASKED_CLASSES, *VENDORS):
        raise InvalidRequirement(
            f"{quoted(model)} at character {position} stands where a model name must; "
            "write counts, sizes, classes and vendors as parts of their own, as in nvidia:H100:80GB:8"
        )


def _is_vendor(word: str) -> bool:
    return word.lower() in (*VENDORS, *OLD_VENDORS)


def _vendor(word: str) -> str:
    return current(word, OLD_VENDORS).lower()


def _similar_vendor(word: str) -> str:
    close = difflib.get_close_matches(word[:20].lower(), VENDORS, n=1)
    return f" such as {close[0]!r}" if close else ""


_SHAPES: tuple[tuple[Callable[[str], object], str, Callable[[str, int], Fields]], ...] = (
    (lambda part: _COUNT_RANGE.fullmatch(part) or _OPEN_COUNT_RANGE.fullmatch(part), "count", _read_count_range),
    (lambda part: ".." in part, "memory size", _read_range),
    (_NUMBER.fullmatch, "count", _read_count),
    (_SIZE.fullmatch, "memory size", _read_size),
    (lambda part: part.lower() in ASKED_CLASSES, "class", lambda word, _: {"accelerator_class": word.lower()}),
    (_is_vendor, "vendor", lambda word, _: {"vendor": _vendor(word)}),
    (is_resource_key, "resource key", _read_resource),
    (lambda _: True, "name list", _read_names),
)
