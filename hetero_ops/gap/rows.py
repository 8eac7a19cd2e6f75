"""Rows of the accelerator tables, turned into profiles; the only place that knows the names of the columns."""

import csv
from collections.abc import Mapping
from fractions import Fraction

from hetero_ops.gap.profile import Precisions, Profile, Rates
from hetero_ops.gap.words import PRECISIONS, PrecisionWord, Support

Row = Mapping[str, str]

_MBPS_PER_GBPS = 1000
_MIB_PER_GIB = 1024
_MILLIWATTS_PER_WATT = 1000
_MEASURED_AS: dict[str, PrecisionWord] = {**{word: word for word in PRECISIONS}, "nvfp4": "fp4"}
_CLAIMS = {"yes": True, "no": False, "unknown": None}

_RATE_COLUMNS = {name: name + ("_tops" if name.startswith("int") else "_tflops") for name in Rates.model_fields}
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
    "max_per_node": "max_gpus_per_node",
    "scaleup_domain": "scaleup_domain_max",
    "max_partitions": "max_partitions",
}
_LISTS = {"gke_labels": "gke_accelerator_label", "pci_ids": "pci_ids", "weak_fields": "weak_fields"}


def read_profiles(accelerators_csv: str, achieved_csv: str) -> tuple[Profile, ...]:
    """Reads the two tables.

    Args:
        accelerators_csv: one row per SKU, package totals, gigabytes per second and watts.
        achieved_csv: one row per measurement; only `gemm-max` rows say something of a rate.

    Returns:
        One profile per SKU in the order of the table.

    Raises:
        ValueError: a cell is not what its column promises.
        KeyError: a column is missing.
    """
    achieved = _best_efficiencies(achieved_csv)
    return tuple(_profile(row, achieved) for row in csv.DictReader(accelerators_csv.splitlines()))


def _profile(row: Row, achieved: Mapping[tuple[str, PrecisionWord], float]) -> Profile:
    devices = int(row["devices_per_package"])
    sku = row["sku"]
    return Profile.model_validate(
        {
            **{field: row[column] or None for field, column in _TEXTS.items()},
            **{field: _scaled(row[column]) for field, column in _WHOLE_NUMBERS.items()},
            **{field: _split(row[column]) for field, column in _LISTS.items()},
            "sources": _split(row["sources"]),
            "rates": Rates(**{name: _rate(row[column], devices) for name, column in _RATE_COLUMNS.items()}),
            "precisions": _precisions(row),
            "achieved": tuple((word, achieved[sku, word]) for word in PRECISIONS if (sku, word) in achieved),
            "memory_mib": _scaled(row["memory_gib"], _MIB_PER_GIB, devices),
            "package_memory_mib": _scaled(row["memory_gib"], _MIB_PER_GIB),
            "bandwidth_mbps": _scaled(row["memory_bandwidth_gbps"], _MBPS_PER_GBPS, devices),
            "interconnect_mbps": _scaled(row["interconnect_gbps"], _MBPS_PER_GBPS),
            "pair_mbps": _scaled(row["p2p_pair_gbps"], _MBPS_PER_GBPS),
            "tdp_mw": _scaled(row["tdp_watts"], _MILLIWATTS_PER_WATT, devices),
            "is_confidential_capable": _CLAIMS[row["supports_confidential_compute"]],
            "supports_mps": _CLAIMS[row["supports_mps"]],
            "is_inventory_only": _CLAIMS[row["inventory_only"]],
        }
    )


def _scaled(cell: str, factor: int = 1, parts: int = 1) -> int | None:
    """A cell in our unit, to the nearest whole one; exact arithmetic, since cells are decimals such as `614.4`."""
    return round(Fraction(cell) * factor / parts) if cell else None


def _rate(cell: str, devices: int) -> float | None:
    return float(Fraction(cell) / devices) if cell else None


def _split(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(";") if part.strip())


def _precisions(row: Row) -> Precisions:
    """The three lists of a row, a later one prevailing: `degraded` is a remark on some of the `native` ones."""
    supports: dict[str, Support] = {}
    orders: tuple[Support, ...] = ("native", "degraded", "unsupported")
    for support in orders:
        supports.update(dict.fromkeys(_split(row[f"{support}_precisions"]), support))
    return Precisions.model_validate(supports)


def _best_efficiencies(achieved_csv: str) -> dict[tuple[str, PrecisionWord], float]:
    best: dict[tuple[str, PrecisionWord], float] = {}
    for row in csv.DictReader(achieved_csv.splitlines()):
        word = _MEASURED_AS.get(row["precision"])
        if row["metric"] == "gemm-max" and word is not None:
            key = (row["sku"], word)
            best[key] = max(best.get(key, 0.0), float(row["efficiency"]))
    return best
