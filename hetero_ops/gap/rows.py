"""Rows of the accelerator table, turned into profiles; the only place that knows the names of its columns."""

import csv
from collections.abc import Mapping
from typing import NamedTuple

from hetero_ops.gap.cell import CLAIMS, Row, scaled, share, split
from hetero_ops.gap.partition import Partition
from hetero_ops.gap.partition_rows import read_mig, read_modes
from hetero_ops.gap.profile import Groups, Profile
from hetero_ops.gap.rates import RATE_COLUMNS, Precisions, Rates
from hetero_ops.gap.words import PRECISIONS, PrecisionWord, Support

_MBPS_PER_GBPS = 1000
_MIB_PER_GIB = 1024
_MILLIWATTS_PER_WATT = 1000
_MEASURED_AS: dict[str, PrecisionWord] = {**{word: word for word in PRECISIONS}, "nvfp4": "fp4"}

_TEXTS = {
    "vendor": "vendor",
    "accelerator_class": "accelerator_class",
    "family": "family",
    "architecture": "architecture",
    "model": "model",
    "sku": "sku",
    "form_factor": "form_factor",
    "compute_target": "compute_target",
    "precision_notes": "precision_notes",
    "memory_type": "memory_type",
    "compute_unit_kind": "compute_unit_kind",
    "interconnect": "intra_node_interconnect",
    "interconnect_topology": "interconnect_topology",
    "partitioning": "partitioning",
    "product_name": "product_name",
    "k8s_label_key": "k8s_product_label_key",
    "k8s_label": "k8s_product_label",
    "k8s_resource_name": "k8s_resource_name",
    "confidence": "confidence",
    "confidence_memory": "confidence_memory",
    "confidence_compute": "confidence_compute",
    "notes": "notes",
}
_WHOLE_NUMBERS = {
    "launch_year": "launch_year",
    "matrix_flops_per_clk_per_unit": "matrix_flops_per_clk_per_unit",
    "peak_clock_mhz": "peak_clock_mhz",
    "reported_memory_mib": "reported_memory_mib",
    "package_l2_mib": "l2_mib",
    "package_llc_mib": "llc_mib",
    "package_compute_units": "compute_units",
    "dies_per_package": "dies_per_package",
    "devices_per_package": "devices_per_package",
    "pcie_gen": "pcie_gen",
    "pcie_lanes": "pcie_lanes",
    "max_per_node": "max_devices_per_node",
    "scaleup_domain": "scaleup_devices",
    "max_partitions": "max_partitions",
    "mig_driver_branch": "mig_driver_branch",
}
_CLAIMS = {
    "is_confidential_capable": "supports_confidential_compute",
    "supports_mps": "supports_mps",
    "supports_sriov": "supports_sriov",
    "supports_vgpu": "supports_vgpu",
    "supports_mixed_precision": "supports_mixed_precision",
    "supports_sparsity": "supports_sparsity",
    "is_opaque": "is_opaque",
    "is_inventory_only": "inventory_only",
}
_LISTS = {"gke_labels": "gke_accelerator_label", "pci_ids": "pci_ids", "weak_fields": "weak_fields"}


class Tables(NamedTuple):
    """The text of each table, in the order in which their digest is made."""

    accelerators: str
    achieved: str
    mig: str
    partitions: str


def read_profiles(tables: Tables) -> tuple[Profile, ...]:
    """Reads the tables.

    Args:
        tables: one row per SKU (package totals, gigabytes per second, watts), per measurement (only `gemm-max` rows say
            something of a rate), per MIG profile and per partition mode.

    Returns:
        One profile per SKU in the order of the first table.

    Raises:
        ValueError: a cell is not what its column promises.
        KeyError: a column is missing.
    """
    achieved = _best_efficiencies(tables.achieved)
    parts = read_mig(tables.mig)
    for sku, modes in read_modes(tables.partitions).items():
        parts[sku] = parts.get(sku, ()) + modes
    return tuple(
        _profile(row, achieved, parts.get(row["sku"], ())) for row in csv.DictReader(tables.accelerators.splitlines())
    )


def _profile(
    row: Row, achieved: Mapping[tuple[str, PrecisionWord], float], partitions: tuple[Partition, ...]
) -> Profile:
    devices = int(row["devices_per_package"])
    sku = row["sku"]
    return Profile.model_validate(
        {
            **{field: row[column] or None for field, column in _TEXTS.items()},
            **{field: scaled(row[column]) for field, column in _WHOLE_NUMBERS.items()},
            **{field: split(row[column]) for field, column in _LISTS.items()},
            **{field: CLAIMS[row[column]] for field, column in _CLAIMS.items()},
            "sources": split(row["sources"]),
            "rates": Rates(**{name: share(row[column], devices) for name, column in RATE_COLUMNS.items()}),
            "precisions": _precisions(row),
            "achieved": tuple((word, achieved[sku, word]) for word in PRECISIONS if (sku, word) in achieved),
            "memory_mib": scaled(row["memory_gib"], _MIB_PER_GIB, devices),
            "package_memory_mib": scaled(row["memory_gib"], _MIB_PER_GIB),
            "bandwidth_mbps": scaled(row["memory_bandwidth_gbps"], _MBPS_PER_GBPS, devices),
            "interconnect_mbps": scaled(row["interconnect_gbps"], _MBPS_PER_GBPS),
            "pair_mbps": scaled(row["p2p_pair_gbps"], _MBPS_PER_GBPS),
            "interconnect_groups": tuple(map(_groups, split(row["interconnect_groups"]))),
            "tdp_mw": scaled(row["tdp_watts"], _MILLIWATTS_PER_WATT, devices),
            "partitions": partitions,
            "supports_mig": row["partitioning"] == "mig",
        }
    )


def _groups(cell: str) -> Groups:
    """One partition of a node's devices, written as `0,1|2,3`."""
    return tuple(tuple(map(int, group.split(","))) for group in cell.split("|"))


def _precisions(row: Row) -> Precisions:
    """The three lists of a row, a later one prevailing: `degraded` is a remark on some of the `native` ones."""
    supports: dict[str, Support] = {}
    orders: tuple[Support, ...] = ("native", "degraded", "unsupported")
    for support in orders:
        supports.update(dict.fromkeys(split(row[f"{support}_precisions"]), support))
    return Precisions.model_validate(supports)


def _best_efficiencies(achieved_csv: str) -> dict[tuple[str, PrecisionWord], float]:
    best: dict[tuple[str, PrecisionWord], float] = {}
    for row in csv.DictReader(achieved_csv.splitlines()):
        word = _MEASURED_AS.get(row["precision"])
        if row["metric"] == "gemm-max" and word is not None:
            key = (row["sku"], word)
            best[key] = max(best.get(key, 0.0), float(row["efficiency"]))
    return best
