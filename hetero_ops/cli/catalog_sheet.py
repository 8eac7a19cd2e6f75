"""One accelerator as text: first how sure we are and why, then every field, then its partitions."""

from hetero_ops.gap.partition import Partition
from hetero_ops.gap.profile import Profile
from hetero_ops.units import format_memory

_FIRST = ("confidence", "confidence_memory", "confidence_compute", "weak_fields", "sources", "notes")
_PARTITION_COLUMNS = ("partition", "memory", "usable", "at most", "slices", "starts", "support", "confidence")


def sheet(profile: Profile) -> str:
    """Every field of a profile, one a line."""
    fields = profile.model_dump(mode="json", exclude={"sku", "partitions"})
    doubts = [(field, fields.pop(field)) for field in _FIRST]
    lines = [profile.sku]
    lines += [f"  {field:<30} {'-' if value is None else _shown(value)}" for field, value in doubts]
    lines += ["", *(f"  {field:<30} {_shown(value)}" for field, value in fields.items())]
    lines += ["", *_table(profile.partitions)] if profile.partitions else [f"  {'partitions':<30} -"]
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_joined(item) for item in value) or "-"
    return str(value)


def _joined(item: object) -> str:
    """One item of a list: a group of devices reads as `{0 1}`."""
    if not isinstance(item, list):
        return str(item)
    return " ".join("{" + " ".join(map(str, part)) + "}" if isinstance(part, list) else str(part) for part in item)


def _table(partitions: tuple[Partition, ...]) -> list[str]:
    rows = [_PARTITION_COLUMNS, *map(_row, partitions)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _row(partition: Partition) -> tuple[str, ...]:
    slices = (
        f"{partition.compute_slices}/{partition.device_compute_slices} compute, "
        f"{partition.memory_slices}/{partition.device_memory_slices} memory"
        if partition.memory_slices
        else "-"
    )
    return (
        partition.name,
        _size(partition.memory_mib),
        _size(partition.usable_mib),
        str(partition.count or "?"),
        slices,
        " ".join(map(str, partition.starts)) or "-",
        "default" if partition.is_default else partition.support,
        partition.confidence,
    )


def _size(memory_mib: int | None) -> str:
    return "?" if memory_mib is None else format_memory(memory_mib)
