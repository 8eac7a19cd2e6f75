"""Rows of the tables of MIG profiles and of partition modes, turned into partitions by SKU."""

import csv
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from hetero_ops.gap.cell import CLAIMS, Row, scaled, split
from hetero_ops.gap.partition import Partition

_MIB_PER_GIB = 1024

BySku = dict[str, tuple[Partition, ...]]


def read_mig(table: str) -> BySku:
    """Reads `mig.csv`: one row per SKU and MIG profile, sizes in GiB; `memory_gib` is that of the profile's name.

    Raises:
        ValueError: a cell is not what its column promises.
        KeyError: a column is missing.
    """
    return _by_sku(table, _mig)


def read_modes(table: str) -> BySku:
    """Reads `partitions.csv`: one row per SKU and mode, sizes in GiB of one part.

    Raises:
        ValueError: a cell is not what its column promises.
        KeyError: a column is missing.
    """
    return _by_sku(table, _mode)


def _by_sku(table: str, read: Callable[[Row], dict[str, Any]]) -> BySku:
    found: defaultdict[str, list[Partition]] = defaultdict(list)
    for row in csv.DictReader(table.splitlines()):
        shared = {
            "memory_mib": scaled(row["memory_gib"], _MIB_PER_GIB),
            "usable_mib": scaled(row["usable_memory_gib"], _MIB_PER_GIB),
            "units": scaled(row["units"]),
            "confidence": row["confidence"],
            "sources": split(row["sources"]),
            "notes": row["notes"] or None,
        }
        found[row["sku"]].append(Partition.model_validate(shared | read(row)))
    return {sku: tuple(partitions) for sku, partitions in found.items()}


def _mig(row: Row) -> dict[str, Any]:
    return {
        "name": row["profile"],
        "count": scaled(row["max_instances"]),
        "compute_slices": scaled(row["compute_slices"]),
        "memory_slices": scaled(row["memory_slices"]),
        "device_compute_slices": scaled(row["device_compute_slices"]),
        "device_memory_slices": scaled(row["device_memory_slices"]),
        "starts": tuple(map(int, split(row["starts"]))),
        "has_media_engines": CLAIMS[row["has_media_engines"] or "unknown"],
    }


def _mode(row: Row) -> dict[str, Any]:
    return {
        "name": row["mode"],
        "count": scaled(row["count"]),
        "memory_domain_mib": scaled(row["memory_domain_gib"], _MIB_PER_GIB),
        "is_default": CLAIMS[row["is_default"]],
        "support": row["support"],
    }
